/**
 * Collects what an upload needs while it is decided: Jobs to make and to remove, warnings, the time to requeue. Pure: no I/O, no
 * clock.
 */

import type { Job, Pod } from '../../kube/core.ts';
import { UPLOAD_ERRORS, type UploadErrorCode } from '../../lib/codes/uploads.ts';
import type { PrepareProgress, PrepareResult } from '../../protocol/task.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { helpersJobName, importJobName } from '../../resources/common/names.ts';
import { readRetryRequest } from '../../resources/upload/requested.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import {
  findRendition,
  getTrackKind,
  isAside,
  isSameChoice,
  type MediaInfo,
  type RenditionStatus,
  type UploadStatus,
} from '../../resources/upload/spec.ts';
import type { UploadWarning } from '../../resources/upload/warnings.ts';
import type { ItemCard } from '../media/looks.ts';
import { isOwnedBy, isStray, type PodSettings } from '../pods/security.ts';
import { isOver, listTerminations } from '../pods/status.ts';
import {
  countLeft,
  getImportedKey,
  getPosterKey,
  type ImportTask,
  isJobFor,
  type RangeTask,
  readGeneration,
  readImportTask,
  readRanges,
  readRetry,
  readTask,
  renditionSeconds,
  type WantedHelpers,
  type WantedJob,
} from './job.ts';
import { raiseRequests } from './job-pod.ts';
import { readOutcome } from './job-result.ts';
import { boundPart, boundRanges, showPart } from './playable.ts';
import { isActive } from './progress.ts';
import { boundResult } from './result-bounds.ts';
import type { StorageGrant } from './storage-grant.ts';
import type { WantedLook } from './wanted-looks.ts';

export interface UploadObservation {
  /** Profiles that the streams which play this upload ask for. */
  profiles: readonly string[];
  /**
   * Profiles that only streams ask for which may not go on air: no Job begins for them, and one that runs goes on until
   * the time that is given here.
   */
  held: ReadonlyMap<string, Date | undefined>;
  /** Profiles that a started stream waits for. */
  urgent: ReadonlySet<string>;
  /** Profiles of the sounds that streams ask for which may go on air. */
  sounds: readonly string[];
  /** Profiles of slates that streams ask for which may go on air. */
  slates: readonly string[];
  /** Looks that streams ask for which may go on air, those that a stream waits for first. */
  looks: readonly WantedLook[];
  /** Cards that streams ask for which may go on air. */
  cards: readonly ItemCard[];
  /** Jobs in the upload's namespace by name, and their pods by the Job's UID. */
  jobs: ReadonlyMap<string, Job>;
  pods: ReadonlyMap<string, readonly Pod[]>;
  /** Jobs of other uploads that make the same renditions, by storage key. */
  sameWork: ReadonlyMap<string, Job>;
  /** The last answers of all these Jobs, by UID, as far as they could be asked. */
  progress: ReadonlyMap<string, PrepareProgress>;
  /** Storage key of a source with this hash that another upload of the same account has. */
  sameSource: (sha256: string) => string | undefined;
  /** Grants the import of a link its room (storage-grant.ts), when it is about to begin. */
  grant: () => StorageGrant;
  /** Whether the account may have more prepared media than it has. */
  hasPreparedRoom: () => boolean;
  /** How long a rendition stays that no stream asks for, in milliseconds. */
  keepUnusedMs: number;
  settings: Pick<PodSettings, 'shareRenditions' | 'maxSourceBytes' | 'mediaLimits'>;
  now: Date;
}

export interface UploadDecision {
  status: UploadStatus;
  create: WantedJob[];
  remove: Job[];
  /** Helpers of the Jobs that make renditions. */
  helpers: WantedHelpers[];
  /** Running pods that request less of the processors than what they make is now worth. */
  raise: Pod[];
  /** The import waits for room in its account. */
  waitsForRoom?: boolean;
  requeueAt?: Date;
}

export type UploadError = { code: UploadErrorCode; message: string };

/** How long an import may go on for a poster, in milliseconds: it takes less (prepare/job/poster-work.ts). */
const POSTER_MS = 60_000;

/** Collects the changes that the parts of an upload need. */
export class UploadPlan {
  readonly create: WantedJob[] = [];
  readonly remove: Job[] = [];
  readonly helpers: WantedHelpers[] = [];
  readonly raise: Pod[] = [];
  requeueAt: Date | undefined;
  /** Warnings that Jobs have just reported. */
  readonly warnings: UploadWarning[] = [];
  /** Names of the Jobs that somebody wants. */
  readonly #wanted = new Set<string>();
  waitsForRoom = false;
  /** The retry request that is served. */
  readonly retry: string | undefined;
  readonly #upload: Upload;
  readonly #observed: UploadObservation;

  constructor(upload: Upload, observed: UploadObservation) {
    this.#upload = upload;
    this.#observed = observed;
    this.retry = readRetryRequest(upload, observed.now);
  }

  /** Removes a Job whose result is no longer needed. */
  clear(name: string): void {
    const job = this.#observed.jobs.get(name);
    if (job && !job.metadata.deletionTimestamp && isOwnedBy(job, this.#upload)) this.remove.push(job);
  }

  requeue(at: Date): void {
    if (!this.requeueAt || at < this.requeueAt) this.requeueAt = at;
  }

  /** How far a wanted Job is, as far as it could be asked. */
  progress(name: string): PrepareProgress | undefined {
    return this.#observed.progress.get(this.#observed.jobs.get(name)?.metadata.uid ?? '');
  }

  /** How much of a rendition the import's Job has made, from 0 to 1. */
  importedPart(profile: string): number | undefined {
    const report = this.progress(importJobName(this.#upload.metadata.name));
    const part = report?.profile === profile ? report.prepared : undefined;
    return part && Math.min(1, part.seconds / part.totalSeconds);
  }

  /** Whether a Job works on what is wanted, or has done so. Such a Job may go on although no new one begins. */
  goesOn(name: string, until: Date | undefined): boolean {
    const job = this.#observed.jobs.get(name);
    if (!job || !isOwnedBy(job, this.#upload)) return false;
    if (!this.#isRunning(job)) return true;
    if (until === undefined || until <= this.#observed.now) return false;
    this.requeue(until);
    return true;
  }

  #isRunning(job: Job): boolean {
    const pods = this.#observed.pods.get(job.metadata.uid) ?? [];
    return isActive(job) && readOutcome(job, pods, this.#observed.now).kind === 'running';
  }

  /** Removes the Jobs that run for renditions which nobody wants any more. An import has nothing else to do once there is media. */
  removeUnwanted(): void {
    for (const job of this.#observed.jobs.values()) {
      if (this.#wanted.has(job.metadata.name) || !isOwnedBy(job, this.#upload)) continue;
      const task = readTask(job);
      if (!task || task.action === 'sweep') continue;
      // Helpers leave no result that somebody still has to read.
      const isWorking = task.action === 'range' ? !job.metadata.deletionTimestamp : this.#isRunning(job);
      if (isWorking && !this.#isMakingPoster(job)) this.remove.push(job);
    }
  }

  /** Whether an import still makes the poster. Its word counts for a moment after the import. */
  #isMakingPoster({ metadata }: Job): boolean {
    const { progress, now } = this.#observed;
    if (progress.get(metadata.uid)?.makesPoster !== true) return false;
    const imported = findCondition(this.#upload.status?.conditions, 'Imported');
    if (imported?.status !== 'True') return true;
    const until = new Date(Date.parse(imported.lastTransitionTime) + POSTER_MS);
    if (!(until > now)) return false;
    this.requeue(until);
    return true;
  }

  /** The storage key of a poster that a Job has made. */
  findMadePoster(): string | undefined {
    for (const job of this.#observed.jobs.values()) {
      const task = isOwnedBy(job, this.#upload) ? readTask(job) : undefined;
      if (task?.action !== 'import' && task?.action !== 'rendition') continue;
      const outcome = readOutcome(job, this.#observed.pods.get(job.metadata.uid) ?? [], this.#observed.now);
      const result = outcome.kind === 'done' ? boundResult(outcome.result, task, this.#observed.settings) : undefined;
      if (result && 'poster' in result && result.poster === true) return getPosterKey(task);
    }
    return undefined;
  }

  /**
   * Asks for helpers of the Job that makes a rendition once its first chunk is made, since on a busy node they would delay that; and keeps
   * them for as long as that Job is there. Nobody reads their results: their Job may end as it likes.
   */
  help(lead: string, task: RangeTask, media: MediaInfo): void {
    const { jobs, urgent } = this.#observed;
    const { profile } = task;
    const leader = jobs.get(lead);
    if (isAside(profile) || !leader || !isActive(leader) || !isOwnedBy(leader, this.#upload)) return;
    const name = helpersJobName(this.#upload.metadata.uid, profile);
    const job = jobs.get(name);
    if (job && !isJobFor(job, { task })) return;
    this.#wanted.add(name);
    if (job && !isActive(job)) return;
    const ranges = job ? readRanges(job) : boundRanges(this.progress(lead), media.durationSeconds);
    if (ranges === undefined) return;
    this.helpers.push({
      name,
      task,
      ranges,
      left: job ? countLeft(job) : ranges,
      deadlineSeconds: renditionSeconds(media, profile),
      urgent: urgent.has(profile) || findRendition(this.#upload, profile)?.playable === true,
    });
  }

  /** The part of an upload's rendition that stays while no Job goes on with it: what a client has sent does not change, so the next one keeps it. */
  keepPart(profile: string): RenditionStatus | undefined {
    const shown = findRendition(this.#upload, profile);
    if (!this.#upload.spec.source.sent || shown?.state !== 'pending' || shown.key === undefined) return undefined;
    const { now } = this.#observed;
    return {
      profile,
      state: 'pending',
      ...showPart({ shown, part: undefined, isWorkedOn: false, key: shown.key, now }),
    };
  }

  /**
   * Whether the import has begun while the client was sending, and has not failed. A failure so early may be the client's, or pass, so another
   * Job tries it again and says why.
   */
  hasBegunEarly(): boolean {
    const { jobs, pods, now } = this.#observed;
    const job = jobs.get(importJobName(this.#upload.metadata.name));
    const task = readImportTask(this.#upload, jobs);
    if (!job || !task || !('sent' in task) || task.sent.isArriving !== true) return false;
    const outcome = readOutcome(job, pods.get(job.metadata.uid) ?? [], now);
    return outcome.kind !== 'done' || outcome.result.action !== 'failed';
  }

  /** The result of an import whose Job has stored the source and still makes a rendition. */
  foundBy(wantedJob: WantedJob): Found | undefined {
    const { imported } = this.progress(wantedJob.name) ?? {};
    if (!imported) return undefined;
    const result = boundResult({ action: 'import', ...imported }, wantedJob.task, this.#observed.settings);
    if (result.action !== 'import') return undefined;
    this.warnings.push(...(result.warnings ?? []));
    return result;
  }

  /**
   * The rendition that the Job of the import makes: as it stands, or complete. Undefined where that Job does not make it, or could
   * not. One that failed on the way begins again with the import, so another Job is better once the upload has been imported.
   */
  madeByImport(profile: string, media: MediaInfo | undefined): RenditionStatus | undefined {
    const { jobs, pods, settings, now } = this.#observed;
    const job = jobs.get(importJobName(this.#upload.metadata.name));
    const task = readImportTask(this.#upload, jobs);
    const key = task && getImportedKey(task, profile);
    // Other tracks have been chosen since it began.
    if (!isSameChoice(this.#upload.spec.track, task?.tracks, this.#upload.spec.tracks)) return undefined;
    if (!job || !task || key === undefined || !isOwnedBy(job, this.#upload)) return undefined;
    const { metadata } = job;
    const own = pods.get(metadata.uid) ?? [];
    const outcome = readOutcome(job, own, now);
    if (outcome.kind === 'done') return this.#madeWith(boundResult(outcome.result, task, settings), profile, key);
    const hasFailed = own.flatMap(listTerminations).length > 0;
    if (outcome.kind === 'lost' || metadata.deletionTimestamp || (media && hasFailed)) return undefined;
    const report = this.progress(metadata.name);
    const shown = findPending(findRendition(this.#upload, profile), key);
    if (!this.#isMaking(report, task, profile, shown, media)) return undefined;
    this.#wanted.add(metadata.name);
    if (this.#observed.urgent.has(profile)) this.#raisePods(job);
    const limit = Math.min(settings.mediaLimits.durationSeconds, task.maxDurationSeconds ?? Number.POSITIVE_INFINITY);
    const part = boundPart(report?.prepared, media?.durationSeconds ?? limit);
    const { type, sourceKey } = task;
    if (media)
      this.help(
        metadata.name,
        { action: 'range', type: getTrackKind(type), sourceKey, profile, renditionKey: key },
        media,
      );
    return { profile, state: 'pending', ...showPart({ shown, part, isWorkedOn: true, key, now }) };
  }

  /** Whether the import's Job makes the rendition of a profile. Until it can be asked, one that goes on after the import makes what is wanted. */
  #isMaking(
    report: PrepareProgress | undefined,
    task: ImportTask,
    profile: string,
    shown: RenditionStatus | undefined,
    media: MediaInfo | undefined,
  ): boolean {
    if (report) return (report.profile ?? task.profile) === profile;
    return media !== undefined || task.profile === profile || shown?.key !== undefined;
  }

  #madeWith(result: PrepareResult, profile: string, key: string): RenditionStatus | undefined {
    if (result.action !== 'import' || result.rendition?.profile !== profile) return undefined;
    this.warnings.push(...(result.warnings ?? []));
    return complete(profile, key, result.rendition);
  }

  /** Whether a stream waits to go on air with what a Job makes. One that is on air with its beginning waited for that before. */
  #isAwaited({ task }: WantedJob): boolean {
    const { urgent } = this.#observed;
    return task.action === 'import' ? urgent.size > 0 : task.action === 'rendition' && urgent.has(task.profile);
  }

  /** Somebody waits for what a Job makes which began in the background. */
  #raisePods({ metadata }: Job): void {
    for (const pod of this.#observed.pods.get(metadata.uid) ?? [])
      if (!pod.metadata.deletionTimestamp && !isOver(pod) && raiseRequests(pod)) this.raise.push(pod);
  }

  /** The result of a wanted Job; undefined while it is worked on, or has to be (again). */
  follow(wantedJob: WantedJob) {
    this.#wanted.add(wantedJob.name);
    const job = this.#observed.jobs.get(wantedJob.name);
    if (!job) {
      this.create.push({ ...wantedJob, ...(this.retry !== undefined && { retry: this.retry }) });
      return undefined;
    }
    // A Job that is going is waited for. The garbage collector does not take one that a backup tool restored without its owner.
    if (job.metadata.deletionTimestamp) return undefined;
    if (isStray(job, 'prepare', this.#upload)) this.remove.push(job);
    if (!isOwnedBy(job, this.#upload)) return undefined;
    const outcome = readOutcome(job, this.#observed.pods.get(job.metadata.uid) ?? [], this.#observed.now);
    if (outcome.kind === 'running' && isJobFor(job, wantedJob)) {
      if (this.#isAwaited(wantedJob)) this.#raisePods(job);
      this.requeueAt = outcome.requeueAt ?? this.requeueAt;
      return undefined;
    }
    const result =
      outcome.kind === 'done' && isJobFor(job, wantedJob)
        ? boundResult(outcome.result, wantedJob.task, this.#observed.settings)
        : undefined;
    const isEarlier = readGeneration(job) < (this.#upload.metadata.generation ?? 0) || readRetry(job) !== this.retry;
    const again = result?.action === 'failed' && isEarlier;
    if (again || !result) {
      this.remove.push(job);
      return undefined;
    }
    // While the client still sends, nobody takes the result: a Job that went would be made anew.
    if (outcome.kind === 'done' && outcome.givenUp && !isEarlyImport(wantedJob)) this.remove.push(job);
    if ('warnings' in result) this.warnings.push(...(result.warnings ?? []));
    return result;
  }
}

/** Whether a Job imports what a client still sends. */
const isEarlyImport = ({ task }: WantedJob): boolean =>
  task.action === 'import' && 'sent' in task && task.sent.isArriving === true;

/** A rendition that a Job has made, under the key that it was given. */
export const complete = (
  profile: string,
  key: string,
  { durationSeconds = 0, bitrateKbps = 0, loudness }: RenditionStatus,
): RenditionStatus => ({
  profile,
  state: 'ready',
  key,
  durationSeconds,
  bitrateKbps,
  ...(loudness && { loudness }),
});

type Found = Extract<PrepareResult, { action: 'import' }>;

/** The unfinished rendition in the status, where it is the one with this storage key. */
export const findPending = (current: RenditionStatus | undefined, key: string): RenditionStatus | undefined =>
  current?.state === 'pending' && (current.key ?? key) === key ? current : undefined;

export const unexpected: UploadError = {
  code: 'prepare_failed',
  message: `${UPLOAD_ERRORS.prepare_failed.meaning} The Job returned an unexpected result.`,
};
