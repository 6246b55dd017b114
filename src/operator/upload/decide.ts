/**
 * Decides what an upload needs: (upload, observation) → status and the Jobs to make or to remove. An upload is imported once; a
 * failure is final until its spec is edited. Pure: no I/O, no clock.
 */

import type { Job, Pod } from '../../kube/core.ts';
import { kubeTime } from '../../lib/clock.ts';
import type { PrepareProgress, PrepareResult } from '../../media/prepare/job/task.ts';
import { importJobName, renditionJobName } from '../../resources/common/names.ts';
import { getPreviewExpiry, getPreviewState, readRetryRequest } from '../../resources/upload/requested.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import {
  findRendition,
  isArriving,
  type MediaInfo,
  PREVIEW_PROFILE,
  type RenditionStatus,
  sourceKey,
  type UPLOAD_ERRORS,
  type UploadState,
  type UploadStatus,
  type UploadWaiting,
} from '../../resources/upload/spec.ts';
import { mergeWarnings, type UploadWarning } from '../../resources/upload/warnings.ts';
import { isOwnedBy, type PodSettings } from '../pods/security.ts';
import { listTerminations } from '../pods/status.ts';
import { buildConditions, toPascalCase, type Verdict } from '../runtime/controller.ts';
import {
  getImportedKey,
  getWorkKey,
  type ImportTask,
  isJobFor,
  keepRenditionKey,
  readGeneration,
  readImportTask,
  readRetry,
  readTask,
  type WantedJob,
  wantImport,
  wantRendition,
} from './job.ts';
import { readOutcome } from './job-result.ts';
import { describeWait, explainGivenUp, isWaiting, planWait } from './outage.ts';
import { boundPart, showPart } from './playable.ts';
import { computeProgress, isActive } from './progress.ts';
import { boundResult } from './result-bounds.ts';
import { decideGrant, type Grant, noPreparedRoom, noRoom, ROOM_MS } from './storage-grant.ts';

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
  grant: () => Grant;
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
  /** The import waits for room in its account. */
  waitsForRoom?: boolean;
  requeueAt?: Date;
}

type UploadError = { code: keyof typeof UPLOAD_ERRORS; message: string };

/** Collects the changes that the parts of an upload need. */
class Plan {
  readonly create: WantedJob[] = [];
  readonly remove: Job[] = [];
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

  /** Removes a Job that has said what it had to say. */
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
      if (task && task.action !== 'sweep' && this.#isRunning(job)) this.remove.push(job);
    }
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
    const limit = Math.min(settings.mediaLimits.durationSeconds, task.maxDurationSeconds ?? Number.POSITIVE_INFINITY);
    const part = boundPart(report?.prepared, media?.durationSeconds ?? limit);
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

  /** The result of a wanted Job; undefined while it is worked on, or has to be (again). */
  follow(wantedJob: WantedJob) {
    this.#wanted.add(wantedJob.name);
    const job = this.#observed.jobs.get(wantedJob.name);
    if (!job) {
      this.create.push({ ...wantedJob, ...(this.retry !== undefined && { retry: this.retry }) });
      return undefined;
    }
    // A Job that is going, or that an upload of the same name left behind, is waited for: the garbage collector takes it.
    if (job.metadata.deletionTimestamp || !isOwnedBy(job, this.#upload)) return undefined;
    const outcome = readOutcome(job, this.#observed.pods.get(job.metadata.uid) ?? [], this.#observed.now);
    if (outcome.kind === 'running' && isJobFor(job, wantedJob)) {
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
    if ('warnings' in result) this.warnings.push(...(result.warnings ?? []));
    return result;
  }
}

/** A rendition that a Job has made, under the key that it was given. */
const complete = (
  profile: string,
  key: string,
  { durationSeconds = 0, bitrateKbps = 0 }: RenditionStatus,
): RenditionStatus => ({ profile, state: 'ready', key, durationSeconds, bitrateKbps });

type Found = Extract<PrepareResult, { action: 'import' }>;

/** The unfinished rendition in the status, where it is the one with this storage key. */
const findPending = (current: RenditionStatus | undefined, key: string): RenditionStatus | undefined =>
  current?.state === 'pending' && (current.key ?? key) === key ? current : undefined;

/** The profile that the import's Job is made with: one that a stream waits for already. */
function chooseProfile(upload: Upload, observed: UploadObservation): string | undefined {
  const begun = readImportTask(upload, observed.jobs);
  if (begun) return begun.profile;
  return observed.hasPreparedRoom() ? [...observed.urgent].sort()[0] : undefined;
}

/** Where the source is. Once imported, one that another upload of the account has already is kept once: the older copy. */
const keptSource = ({ metadata, status }: Upload, { sha256 }: MediaInfo, { sameSource }: UploadObservation): string =>
  status?.sourceKey ?? sameSource(sha256) ?? sourceKey(metadata.uid);

const unexpected: UploadError = {
  code: 'prepare_failed',
  message: 'Preparing the file failed: the Job returned an unexpected result. Import the file again.',
};

/**
 * Imports what a client still sends, where a stream waits for it: the Job is then done when the last byte is there, and a stream may play what
 * it prepares on the way. Without such a stream the Job would hold a place for nothing. A client that pauses ends it, and when more has come it
 * begins again.
 */
function importArriving(upload: Upload, observed: UploadObservation, plan: Plan): void {
  const { sizeBytes, receivedBytes = 0, isPart = false } = upload.spec.source.sent ?? {};
  const profile = chooseProfile(upload, observed);
  if (sizeBytes === undefined || receivedBytes === 0 || isPart || observed.urgent.size === 0 || !profile) return;
  plan.follow(wantImport(upload, true, { profile, shared: observed.settings.shareRenditions, isArriving: true }));
}

/** The media of an upload, what keeps it from being had, or neither while it is fetched. */
function imported(
  upload: Upload,
  observed: UploadObservation,
  plan: Plan,
  edited: boolean,
): { media?: MediaInfo; error?: UploadError; waiting?: UploadWaiting } {
  const { media, error } = upload.status ?? {};
  if (media) return { media };
  if (isArriving(upload.spec)) {
    importArriving(upload, observed, plan);
    return {};
  }
  if (error && !edited) return { error };
  const waiting = edited ? undefined : upload.status?.waiting;
  if (isWaiting(waiting, observed.now)) {
    plan.clear(importJobName(upload.metadata.name));
    plan.requeue(new Date(waiting.nextTryAt));
    return { waiting };
  }
  const goesOn = waiting ? { waiting } : {};
  const grant = decideGrant(upload, observed);
  if (grant === 'full') return { error: noRoom };
  if (grant === 'wait') {
    plan.waitsForRoom = true;
    plan.requeue(new Date(observed.now.getTime() + ROOM_MS));
    return goesOn;
  }
  const { shareRenditions: shared } = observed.settings;
  const profile = chooseProfile(upload, observed);
  const wantedJob = wantImport(upload, observed.urgent.size > 0, {
    granted: grant.maxBytes,
    profile,
    shared,
    isArriving: plan.hasBegunEarly(),
  });
  const result = plan.follow(wantedJob) ?? plan.foundBy(wantedJob);
  if (!result) return goesOn;
  if (result.action === 'import') return { media: result.media };
  if (result.action !== 'failed') return { error: unexpected };
  const next = planWait(waiting, result, observed.now);
  if (!next) return { error: waiting ? { ...result.error, message: explainGivenUp(result, waiting) } : result.error };
  plan.clear(importJobName(upload.metadata.name));
  plan.requeue(new Date(next.nextTryAt));
  return { waiting: next };
}

/** One rendition that is wanted; undefined while it is not made since no stream that wants it may go on air. */
function rendition(
  upload: Upload,
  media: MediaInfo,
  profile: string,
  observed: UploadObservation,
  plan: Plan,
  edited: boolean,
): RenditionStatus | undefined {
  const current = findRendition(upload, profile);
  const hadNoRoom = current?.error?.message === noPreparedRoom.message;
  if (current?.state === 'ready' || (current?.state === 'failed' && !edited && !hadNoRoom)) {
    const { unwantedSince: _, ...wanted } = current;
    return wanted;
  }
  const { urgent, jobs, settings } = observed;
  const isHeld = (name: string) => observed.held.has(profile) && !plan.goesOn(name, observed.held.get(profile));
  const made = isHeld(importJobName(upload.metadata.name)) ? undefined : plan.madeByImport(profile, media);
  if (made) return made;
  const from = keptSource(upload, media, observed);
  // A stream may be on air with the part that is prepared, and waits for the rest.
  const isUrgent = urgent.has(profile) || current?.playable === true;
  const wanted = wantRendition(upload, media, profile, isUrgent, from, settings.shareRenditions);
  const content = { uid: upload.metadata.uid, sha256: media.sha256 };
  const wantedJob = keepRenditionKey(wanted, jobs.get(wanted.name), content);
  if (isHeld(wantedJob.name)) return undefined;
  if (!observed.jobs.has(wantedJob.name) && !observed.hasPreparedRoom()) {
    plan.requeue(new Date(observed.now.getTime() + ROOM_MS));
    return { profile, state: 'failed', error: noPreparedRoom };
  }
  const result = plan.follow(wantedJob);
  if (!result) return pending(wantedJob, profile, current, media, observed);
  if (result.action === 'rendition' && wantedJob.task.action === 'rendition') {
    return complete(profile, wantedJob.task.renditionKey, result.rendition);
  }
  return { profile, state: 'failed', error: result.action === 'failed' ? result.error : unexpected };
}

/** A rendition that is not complete. Streams may play its beginning; a preview is too short for that. */
function pending(
  { name, task }: WantedJob,
  profile: string,
  current: RenditionStatus | undefined,
  media: MediaInfo,
  { jobs, sameWork, progress, now }: UploadObservation,
): RenditionStatus {
  if (profile === PREVIEW_PROFILE) return { profile, state: 'pending' };
  const key = getWorkKey(task);
  const job = jobs.get(name) ?? sameWork.get(key);
  const part = boundPart(job && progress.get(job.metadata.uid)?.prepared, media.durationSeconds);
  const shown = findPending(current, key);
  return { profile, state: 'pending', ...showPart({ shown, part, isWorkedOn: job !== undefined, key, now }) };
}

/** Keeps a rendition that no stream asks for, with the time since when; drops it once that is too long ago. */
function keepUnwanted(made: RenditionStatus, { now, keepUnusedMs }: UploadObservation, plan: Plan): RenditionStatus[] {
  if (!Number.isFinite(keepUnusedMs)) return [made];
  const unwantedSince = made.unwantedSince ?? kubeTime(now);
  const until = new Date(Date.parse(unwantedSince) + keepUnusedMs);
  if (until <= now) return [];
  plan.requeue(until);
  return [{ ...made, unwantedSince }];
}

/**
 * The preview that a person asked for, where no rendition can be shown yet. Streams do not wait for it, so it does not count for
 * whether the upload is prepared.
 */
function preview(upload: Upload, media: MediaInfo, observed: UploadObservation, plan: Plan): RenditionStatus[] {
  const until = getPreviewExpiry(upload, observed.now);
  if (!until || getPreviewState(upload) === 'ready') return [];
  plan.requeue(until);
  const shown = rendition(upload, media, PREVIEW_PROFILE, observed, plan, false);
  return shown ? [shown] : [];
}

/** Everything that has been made, wanted or not, and the state of everything that is wanted. */
function renditions(upload: Upload, media: MediaInfo, observed: UploadObservation, plan: Plan, edited: boolean) {
  const wanted = [...observed.profiles]
    .sort()
    .flatMap((profile) => rendition(upload, media, profile, observed, plan, edited) ?? []);
  const held = observed.profiles.filter((profile) => !wanted.some((one) => one.profile === profile)).sort();
  const shown = preview(upload, media, observed, plan);
  const now = [...observed.profiles, ...shown.map(({ profile }) => profile)];
  const keptRenditions = (upload.status?.renditions ?? [])
    .filter(
      ({ profile, state }) =>
        state === 'ready' && !now.includes(profile) && findRendition(upload, profile) !== undefined,
    )
    .flatMap((made) => keepUnwanted(made, observed, plan));
  plan.removeUnwanted();
  return {
    wanted,
    held,
    all: [...wanted, ...shown, ...keptRenditions].sort((a, b) => a.profile.localeCompare(b.profile)),
  };
}

/** The renditions of an upload that is still being imported, as far as something of them is prepared. */
function listArriving({ profiles }: UploadObservation, plan: Plan): RenditionStatus[] {
  const shown = (profile: string) => {
    const made = plan.madeByImport(profile, undefined);
    return made?.state === 'pending' ? made : plan.keepPart(profile);
  };
  return profiles
    .flatMap((profile) => shown(profile) ?? [])
    .filter(({ preparedSeconds }) => preparedSeconds !== undefined);
}

function verdicts(
  { spec }: Upload,
  media: MediaInfo | undefined,
  error: UploadError | undefined,
  wanted: RenditionStatus[],
  held: readonly string[],
  away: UploadWaiting | undefined,
): Verdict[] {
  const buildVerdict = (type: string, status: Verdict['status'], reason: string, message: string): Verdict => ({
    type,
    status,
    reason,
    message,
  });
  if (!media) {
    const doing = isArriving(spec)
      ? ['Receiving', 'A client is sending the file.']
      : away
        ? ['WaitingForLink', describeWait(away)]
        : ['Importing', 'The file is being imported.'];
    const [reason = '', message = ''] = error ? [toPascalCase(error.code), error.message] : doing;
    return [buildVerdict('Imported', 'False', reason, message), buildVerdict('Prepared', 'False', reason, message)];
  }
  const fine = buildVerdict('Imported', 'True', 'Imported', 'The file has been imported.');
  if (error) return [fine, buildVerdict('Prepared', 'False', toPascalCase(error.code), error.message)];
  const ready = wanted.filter(({ state }) => state === 'ready').map(({ profile }) => profile);
  if (ready.length === wanted.length && held.length > 0) {
    const message = `The upload will be prepared for ${held.join(', ')} when a stream that plays it may go on air.`;
    return [fine, buildVerdict('Prepared', 'False', 'OnHold', message)];
  }
  if (wanted.length === 0)
    return [fine, buildVerdict('Prepared', 'True', 'NothingWanted', 'No stream plays this upload.')];
  if (ready.length < wanted.length) {
    const missing = wanted.filter(({ state }) => state === 'pending').map(({ profile }) => profile);
    return [
      fine,
      buildVerdict('Prepared', 'False', 'Preparing', `The upload is being prepared for ${missing.join(', ')}.`),
    ];
  }
  return [fine, buildVerdict('Prepared', 'True', 'Prepared', `The upload is prepared for ${ready.join(', ')}.`)];
}

/** 0 to 1 of what is done in this state; `shown` is what the status says while the state stays. */
function progress(upload: Upload, state: UploadState, wanted: RenditionStatus[], plan: Plan): number {
  const { name } = upload.metadata;
  const shown = upload.status?.state === state ? upload.status.progress : undefined;
  if (state === 'ready') return 1;
  if (state === 'failed') return 0;
  const { sent } = upload.spec.source;
  if (state === 'importing') {
    // A file that a client sends comes in two steps: to us, and out of the pieces.
    const received = sent ? [sent.receivedBytes / (sent.sizeBytes ?? Number.POSITIVE_INFINITY)] : [];
    return computeProgress([...received, plan.progress(importJobName(name))?.progress], shown);
  }
  const parts = wanted.map(({ profile, state }) =>
    state === 'pending' ? (plan.progress(renditionJobName(name, profile))?.progress ?? plan.importedPart(profile)) : 1,
  );
  return computeProgress(parts, shown);
}

export function decideUpload(upload: Upload, observed: UploadObservation): UploadDecision {
  const { generation } = upload.metadata;
  const plan = new Plan(upload, observed);
  const { retry } = plan;
  const edited = (upload.status?.observedGeneration ?? 0) < (generation ?? 0) || retry !== upload.status?.retried;
  const { media, error: importError, waiting } = imported(upload, observed, plan, edited);
  const { wanted, held, all } = media
    ? renditions(upload, media, observed, plan, edited)
    : { wanted: [], held: [], all: importError ? [] : listArriving(observed, plan) };
  const pending = wanted.some(({ state }) => state === 'pending');
  const error = importError ?? wanted.find(({ state }) => state === 'failed')?.error;
  const state: UploadState = pending ? 'preparing' : error ? 'failed' : media ? 'ready' : 'importing';
  const warnings = mergeWarnings(upload.status?.warnings, plan.warnings);
  const status: UploadStatus = {
    ...(generation !== undefined && { observedGeneration: generation }),
    state,
    progress: progress(upload, state, wanted, plan),
    ...(media && { sourceKey: keptSource(upload, media, observed), media }),
    ...(all.length > 0 && { renditions: all }),
    ...(media && warnings.length > 0 && { warnings }),
    ...(error && { error }),
    ...(waiting && { waiting }),
    ...(retry !== undefined && { retried: retry }),
    conditions: buildConditions(
      verdicts(upload, media, error, wanted, held, isWaiting(waiting, observed.now) ? waiting : undefined),
      upload.status?.conditions,
      generation,
      observed.now,
    ),
  };
  const { create, remove, waitsForRoom, requeueAt } = plan;
  return { status, create, remove, ...(waitsForRoom && { waitsForRoom }), ...(requeueAt && { requeueAt }) };
}

/** The status of an upload while some of its Jobs wait for their turn; by the names of those Jobs. */
export function addWaitingStates(upload: Upload, status: UploadStatus, queued: ReadonlySet<string>): UploadStatus {
  if (queued.size === 0) return status;
  const { name } = upload.metadata;
  const message = (type: string): string | undefined => {
    if (status.state === 'importing') return 'The import waits for other imports to end.';
    if (type !== 'Prepared') return undefined;
    const pending = (status.renditions ?? [])
      .filter(({ state, profile }) => state === 'pending' && profile !== PREVIEW_PROFILE)
      .map(({ profile }) => profile);
    const waits = pending.filter((profile) => queued.has(renditionJobName(name, profile)));
    const made = pending.filter((profile) => !waits.includes(profile));
    const waiting = `${waits.join(', ')} ${waits.length === 1 ? 'waits' : 'wait'} for other preparations to end.`;
    return made.length === 0 ? waiting : `The upload is being prepared for ${made.join(', ')}; ${waiting}`;
  };
  const conditions = status.conditions?.map((condition) => {
    const text = ['Importing', 'Preparing'].includes(condition.reason) ? message(condition.type) : undefined;
    return text === undefined ? condition : { ...condition, reason: 'Queued', message: text };
  });
  return { ...status, ...(conditions && { conditions }) };
}
