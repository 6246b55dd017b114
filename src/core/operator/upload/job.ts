/** Builds the Jobs that fetch an upload and prepare its renditions, and reads their tasks. Pure: no I/O, no clock. */
import type { Job, JobSpec, JobStatus } from '../../kube/core.ts';
import type { KubeObject } from '../../kube/types.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import { type RecordsTask, readRecordsTask as readWrittenRecords } from '../../protocol/records.ts';
import { type PrepareTask, readTask as readWrittenTask } from '../../protocol/task.ts';
import {
  ACCOUNT_LABEL,
  GENERATION_ANNOTATION,
  importJobName,
  RETRY_ANNOTATION,
  renditionJobName,
  SWEEP_JOB,
  TASK_LABEL,
  UPLOAD_LABEL,
} from '../../resources/common/names.ts';
import { lacksPoster, posterKey } from '../../resources/upload/poster.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import {
  getTrackKind,
  importContent,
  incomingKey,
  incomingKeys,
  isAside,
  isRenditionKey,
  type MediaInfo,
  PREVIEW_PROFILE,
  PREVIEW_SECONDS,
  renditionKey,
  renditionScope,
  sourceKey,
  type TrackChoice,
} from '../../resources/upload/spec.ts';
import { variable } from '../../settings/settings.ts';
import { labelsFor, ownedBy, type PodSettings, settingsIn } from '../pods/security.ts';
import { buildJobPod, type Priority } from './job-pod.ts';

/** A task that answers for what it puts into storage. */
export type MakingTask = Exclude<PrepareTask, { action: 'sweep' | 'range' }>;
type RenditionTask = Extract<PrepareTask, { action: 'rendition' }>;
export type RangeTask = Extract<PrepareTask, { action: 'range' }>;
export type SweepTask = Extract<PrepareTask, { action: 'sweep' }>;

/** A Job as it is wanted: its name is the lock that keeps one task from being worked on twice. */
export interface WantedJob {
  name: string;
  task: MakingTask;
  /** Before the caps of the settings. */
  deadlineSeconds: number;
  /** A stream that was started waits for it. */
  urgent: boolean;
  /** The retry request that it serves (requested.ts). */
  retry?: string;
}

/** The Job of the helpers of a rendition as it is wanted. */
export interface WantedHelpers {
  name: string;
  task: RangeTask;
  /** Ranges of the rendition, which are the Job's completions. */
  ranges: number;
  /** Ranges that are not made yet. */
  left: number;
  /** Before the caps of the settings. */
  deadlineSeconds: number;
  /** A stream that was started waits for the rendition, or plays the part that is prepared. */
  urgent: boolean;
}

const RETRIES = 3;
/** Of one range. The Job that they help makes what they leave. */
const HELPER_RETRIES = 2;
/** How long a finished Job stays, for people to look at its log. Its result is in the Upload's status long before. */
const KEEP_SECONDS = 3600;
/** The time that a pod takes to begin and to end. */
const STARTUP_SECONDS = 300;
/** Millions of objects can be listed in this time. */
const SWEEP_SECONDS = 3600;
/** A rendition may take eight times its own length on a slow node, and half an hour to get going. */
const SECONDS_PER_SECOND = 8;
const RENDITION_BASE_SECONDS = 1800;

/** The source of an import: the link, or the pieces that a client has sent. */
function describeSource(upload: Upload, maxBytes: number | undefined, isArriving: boolean) {
  const { metadata, spec } = upload;
  const { source, maxDurationSeconds } = spec;
  const { url = '', sent } = source;
  const most = maxDurationSeconds === undefined ? {} : { maxDurationSeconds };
  if (sent?.sizeBytes !== undefined) {
    const object = { key: incomingKey(metadata.uid), sizeBytes: sent.sizeBytes, ...(isArriving && { isArriving }) };
    return { sent: { ...object, ...(sent.parts && { keys: incomingKeys(upload) }) }, ...most };
  }
  return { url, ...(maxBytes !== undefined && { maxBytes }), ...most };
}

interface ImportOptions {
  /** The most that a link may bring, where that is less than its own limit. */
  granted?: number | undefined;
  /** The profile that a stream waits for already. */
  profile?: string | undefined;
  /** All accounts share what is made. */
  shared?: boolean;
  /** The client may still be sending. */
  isArriving?: boolean;
  /** The task of a Job that has begun. It keeps its tracks: a transfer is worth more than the rendition beside it. */
  begun?: ImportTask | undefined;
}

const chosenTracks = ({ tracks }: { tracks?: TrackChoice }) => (tracks ? { tracks } : {});

export const wantImport = (
  upload: Upload,
  urgent = false,
  { granted = upload.spec.maxSizeBytes, profile, shared = false, isArriving = false, begun }: ImportOptions = {},
): WantedJob => ({
  name: importJobName(upload.metadata.name),
  task: {
    action: 'import',
    ...describeSource(upload, granted, isArriving),
    type: upload.spec.track,
    sourceKey: sourceKey(upload.metadata.uid),
    renditions: { content: importContent(upload.metadata.uid), ...(!shared && { scope: findScope(upload) }) },
    ...(profile !== undefined && { profile }),
    ...chosenTracks(begun ?? upload.spec),
  },
  deadlineSeconds: Number.POSITIVE_INFINITY,
  urgent,
});

const limitSeconds = ({ durationSeconds }: MediaInfo, profile: string): number =>
  profile === PREVIEW_PROFILE ? Math.min(durationSeconds, PREVIEW_SECONDS) : durationSeconds;

const findScope = ({ metadata: { namespace = '', labels } }: Upload): string =>
  renditionScope(namespace, labels?.[ACCOUNT_LABEL]);

export type ImportTask = Extract<MakingTask, { action: 'import' }>;

/** Storage key of the poster that a task makes; undefined where it makes none. */
export function getPosterKey(task: MakingTask): string | undefined {
  if (task.action === 'rendition') return task.posterKey;
  const { type, renditions, tracks } = task;
  return renditions && posterKey(renditions.content, type, renditions.scope, tracks);
}

/** Storage key of the rendition that an import makes in `profile`; undefined where it can make none. */
export const getImportedKey = ({ type, renditions, tracks }: ImportTask, profile: string): string | undefined =>
  renditions && renditionKey(renditions.content, type, profile, renditions.scope, tracks);

/** The task of an upload's import, where its Job has begun. */
export function readImportTask(upload: Upload, jobs: ReadonlyMap<string, Job>): ImportTask | undefined {
  const job = jobs.get(importJobName(upload.metadata.name));
  const task = job && readTask(job);
  return task?.action === 'import' ? task : undefined;
}

/** `from`: storage key of the source. `shared`: all accounts share what is made. */
export const wantRendition = (
  upload: Upload,
  media: MediaInfo,
  profile: string,
  urgent = false,
  from = upload.status?.sourceKey ?? sourceKey(upload.metadata.uid),
  shared = false,
): WantedJob => {
  const { track: type, tracks } = upload.spec;
  const scope = shared ? undefined : findScope(upload);
  return {
    name: renditionJobName(upload.metadata.name, profile),
    task: {
      action: 'rendition',
      type: getTrackKind(type),
      sourceKey: from,
      sizeBytes: media.sizeBytes,
      profile,
      renditionKey: renditionKey(media.sha256, type, profile, scope, tracks),
      ...(lacksPoster(upload) && !isAside(profile) && { posterKey: posterKey(media.sha256, type, scope, tracks) }),
      ...chosenTracks(upload.spec),
    },
    deadlineSeconds: renditionSeconds(media, profile),
    urgent,
  };
};

/** The Job of a rendition with the layers of a look in its pictures, or that of a card. */
export const addDrawing = (
  { task, ...wanted }: WantedJob,
  drawing: Pick<RenditionTask, 'look' | 'card'>,
): WantedJob => ({
  ...wanted,
  task: task.action === 'rendition' ? { ...task, ...drawing } : task,
});

/** How long a rendition may take on a slow node. */
export const renditionSeconds = (media: MediaInfo, profile: string): number =>
  RENDITION_BASE_SECONDS + Math.ceil(limitSeconds(media, profile) * SECONDS_PER_SECOND);

/**
 * An import may take the time of its transfer and that of reading the source to its end, both of which the Job keeps itself. A
 * link's transfer is over when the largest source has come at the lowest rate. Its rendition has the time of a Job of its own.
 */
function importSeconds(task: ImportTask, settings: PodSettings): number {
  const { fetchTimeoutSeconds, minFetchBytesPerSecond, maxSourceBytes, mediaLimits } = settings;
  const bytes = 'url' in task ? Math.min(task.maxBytes ?? maxSourceBytes, maxSourceBytes) : Number.POSITIVE_INFINITY;
  const transfer = Math.min(fetchTimeoutSeconds, Math.ceil(bytes / minFetchBytesPerSecond));
  return STARTUP_SECONDS + transfer + mediaLimits.probeSeconds + settings.maxPrepareSeconds;
}

/** How long a Job may take: never longer than the settings allow, whatever its media claims. */
const deadlineSeconds = ({ task, deadlineSeconds: wished }: WantedJob, settings: PodSettings): number =>
  task.action === 'import' ? importSeconds(task, settings) : Math.min(wished, settings.maxPrepareSeconds);

type BuiltJob = KubeObject<JobSpec, JobStatus>;

/** For whom a Job works. */
export const findPriority = ({ task, urgent }: WantedJob): Priority =>
  urgent ? 'awaited' : task.action === 'rendition' && task.profile === PREVIEW_PROFILE ? 'preview' : 'background';

/** Metadata of a Job of an upload. */
const buildMetadata = (upload: Upload, name: string, retry?: string) => ({
  name,
  ...(upload.metadata.namespace !== undefined && { namespace: upload.metadata.namespace }),
  labels: { ...labelsFor(upload, 'prepare'), [UPLOAD_LABEL]: upload.metadata.name },
  annotations: {
    [GENERATION_ANNOTATION]: String(upload.metadata.generation ?? 0),
    ...(retry !== undefined && { [RETRY_ANNOTATION]: retry }),
  },
  ownerReferences: ownedBy('Upload', upload),
});

/** `records`: the Upload as its record names it, for an import. */
export function buildJob(upload: Upload, wantedJob: WantedJob, settings: PodSettings, records?: RecordsTask): BuiltJob {
  const { name, task, retry } = wantedJob;
  const metadata = buildMetadata(upload, name, retry);
  const pod = buildJobPod(task, settingsIn(settings, metadata.namespace), findPriority(wantedJob), records);
  const spec = jobSpec(task, deadlineSeconds(wantedJob, settings), metadata.labels, pod);
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { ...spec, backoffLimit: RETRIES } };
}

/**
 * Builds the Job of a rendition's helpers. Its pods begin in the order of their ranges, so that what is played next comes first. A
 * range that fails for good leaves the others alone, and `pods` may change while the Job runs.
 */
export function buildHelpersJob(upload: Upload, helpers: WantedHelpers, pods: number, settings: PodSettings): BuiltJob {
  const { name, task, ranges, deadlineSeconds } = helpers;
  const metadata = buildMetadata(upload, name);
  const pod = buildJobPod(task, settingsIn(settings, metadata.namespace), 'helper');
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: {
      ...jobSpec(task, Math.min(deadlineSeconds, settings.maxPrepareSeconds), metadata.labels, pod),
      completionMode: 'Indexed',
      completions: ranges,
      parallelism: pods,
      backoffLimitPerIndex: HELPER_RETRIES,
    },
  };
}

/** The Job that clears away; it belongs to no upload. */
export function buildSweepJob(
  task: SweepTask,
  settings: PodSettings,
  records?: RecordsTask,
): KubeObject<Record<string, unknown>, JobStatus> {
  const labels = labelsFor(undefined, 'prepare');
  const metadata = { name: SWEEP_JOB, labels };
  const spec = jobSpec(task, SWEEP_SECONDS, labels, buildJobPod(task, settings, 'background', records));
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { ...spec, backoffLimit: RETRIES } };
}

const jobSpec = (
  task: PrepareTask,
  deadlineSeconds: number,
  labels: Record<string, string>,
  { annotations, spec }: ReturnType<typeof buildJobPod>,
) => ({
  activeDeadlineSeconds: deadlineSeconds,
  // A successor starts only when its predecessor has ended: both would write the same object.
  podReplacementPolicy: 'Failed',
  // A drained node is no failure of the media.
  podFailurePolicy: {
    rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
  },
  ttlSecondsAfterFinished: KEEP_SECONDS,
  template: { metadata: { labels: { ...labels, [TASK_LABEL]: task.action }, annotations }, spec },
});

/** A variable in the environment of a Job, which is JSON. */
function readVariable(job: Job, name: 'TASK' | 'RECORDS'): unknown {
  const value = job.spec.template?.spec?.containers?.[0]?.env?.find((entry) => entry.name === variable(name))?.value;
  try {
    return value === undefined ? undefined : JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The task that a Job was made for, as its environment has it. */
const writtenTask = (job: Job): unknown => readVariable(job, 'TASK');

/** Reads the records part of a Job's environment. */
export function readRecordsTask(job: Job): RecordsTask | undefined {
  const records = readVariable(job, 'RECORDS');
  const read = readWrittenRecords(records);
  return read.ok ? read.message : undefined;
}

/** The task that a Job was made for; undefined when it cannot be read. */
export function readTask(job: Job): PrepareTask | undefined {
  const read = readWrittenTask(writtenTask(job));
  return read.ok ? read.message : undefined;
}

/** The ranges of a Job of helpers. */
export const readRanges = ({ spec }: Job): number => Number(spec.completions);
/** How many of them are not made yet. */
export const countLeft = (job: Job): number => Math.max(0, readRanges(job) - (job.status?.succeeded ?? 0));

/** Whether the pods of a Job only help another one. */
export const isHelpersJob = ({ spec }: Job): boolean => spec.completionMode === 'Indexed';

/** Storage key of what a task makes: two Jobs with the same one would do the same work. */
export const getWorkKey = (task: MakingTask): string => (task.action === 'import' ? task.sourceKey : task.renditionKey);

/** Whether a Job works for what is wanted now. */
export const isJobFor = (job: Job, { task }: { task: PrepareTask }): boolean => isSameJson(writtenTask(job), task);

/** The wanted Job with the storage keys that its Job was given: a Job that began under another setting, or release, goes on. */
export function keepStorageKeys(
  wantedJob: WantedJob,
  job: Job | undefined,
  content: { uid: string; sha256: string },
): WantedJob {
  const [begun, { task }] = [job && readTask(job), wantedJob];
  if (begun?.action !== 'rendition' || task.action !== 'rendition') return wantedJob;
  if (!isRenditionKey(begun.renditionKey, content, task)) return wantedJob;
  const { posterKey: _, ...rest } = task;
  const keys = {
    renditionKey: begun.renditionKey,
    ...(begun.posterKey !== undefined && { posterKey: begun.posterKey }),
  };
  return { ...wantedJob, task: { ...rest, ...keys } };
}

/** The generation of the Upload that a Job was made for. */
export const readGeneration = (job: Job): number => Number(job.metadata.annotations?.[GENERATION_ANNOTATION] ?? 0);

/** The retry request that a Job was created for. */
export const readRetry = (job: Job): string | undefined => job.metadata.annotations?.[RETRY_ANNOTATION];
