/** Reads the operator's settings. Pure: no I/O, no clock. */
import { Value } from 'typebox/value';
import type { Watched } from '../../kube/namespace-watch.ts';
import { confineMode, fetchLimits } from '../../protocol/environment.ts';
import { mediaLimits } from '../../protocol/media-limits.ts';
import { PodPlacement } from '../../resources/stream/template.ts';
import { common, kube, maxPreparedBytes, maxSourceBytes, NAMESPACE_PLACEHOLDER } from '../../settings/common.ts';
import { ConfigError, type Env, reader } from '../../settings/settings.ts';

/** Room for the largest source and a rendition of it. */
const SCRATCH_BYTES = '64Gi';

/** A volume source as the operator of the service gives it; an emptyDir without a limit gets one. */
function scratchVolume(env: Env): Record<string, unknown> {
  if (reader(env).optional('SCRATCH_VOLUME') === undefined) return { emptyDir: { sizeLimit: SCRATCH_BYTES } };
  const volume = reader(env).json<{ emptyDir?: object }>('SCRATCH_VOLUME');
  return volume.emptyDir ? { ...volume, emptyDir: { sizeLimit: SCRATCH_BYTES, ...volume.emptyDir } } : volume;
}

/** Where pods may run, as a stream's `template` says it. */
function jobPlacement(env: Env): PodPlacement {
  if (reader(env).optional('JOB_PLACEMENT') === undefined) return {};
  const placement = reader(env).json<unknown>('JOB_PLACEMENT');
  if (Value.Check(PodPlacement, placement)) return placement;
  throw new ConfigError(
    `LOOPSTREAM_JOB_PLACEMENT must be a JSON object with ${Object.keys(PodPlacement.properties).join(', ')}, as in a pod.`,
  );
}

/**
 * How several operators agree on the one that leads, with client-go's names and values, in milliseconds. A renewal must fit into the
 * deadline several times, and the deadline into the duration.
 */
interface LeaderElection {
  readonly durationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}
export const LEADER_ELECTION: LeaderElection = { durationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

const ALL = '*';

/** The watched namespaces, and the one with the Lease: where several are watched, none of them may take it along. */
export function watch(env: Env): { watched: Watched; leaseNamespace: string } {
  const { namespace } = kube(env);
  const names = [...new Set(reader(env).list('WATCH_NAMESPACES'))];
  if (names.length === 0) return { watched: [namespace], leaseNamespace: namespace };
  if (names.length > 1 && names.includes(ALL))
    throw new ConfigError('LOOPSTREAM_WATCH_NAMESPACES must be names of namespaces, or * alone.');
  return {
    watched: names.includes(ALL) ? 'all' : names,
    leaseNamespace: reader(env).optional('OPERATOR_NAMESPACE') ?? namespace,
  };
}

/** Whether media of all namespaces is in the same place. A claim is found in the namespace of the pod that mounts it. */
const isStorageShared = (storageUrl: string, volume: Record<string, unknown> | undefined): boolean =>
  !storageUrl.includes(NAMESPACE_PLACEHOLDER) &&
  !(volume && ('persistentVolumeClaim' in volume || 'emptyDir' in volume));

/** The operator. Volumes are Kubernetes volume sources, e.g. {"persistentVolumeClaim":{"claimName":"media"}}. */
export const operatorConfig = (env: Env) => {
  const { text, optional, integer, flag, json } = reader(env);
  const storageUrl = text('STORAGE_URL', 'file:///media');
  const storageVolume = storageUrl.startsWith('file:') ? json<Record<string, unknown>>('STORAGE_VOLUME') : undefined;
  const { watched, leaseNamespace } = watch(env);
  const sweep = flag('SWEEP');
  const hasSeveral = watched === 'all' || watched.length > 1;
  if (sweep && hasSeveral && isStorageShared(storageUrl, storageVolume))
    throw new ConfigError(
      'LOOPSTREAM_STORAGE_URL is the same for several namespaces, so a sweep of one would delete the media of the others. Write {namespace} into it, or set LOOPSTREAM_SWEEP=false.',
    );
  return Object.freeze({
    ...common(env),
    ...kube(env),
    watched,
    leaseNamespace,
    image: text('IMAGE'),
    prepareImage: text('PREPARE_IMAGE', text('IMAGE')),
    /** Where it runs itself: when that namespace is deleted with it, nobody serves its finalizers any more. */
    operatorNamespace: optional('OPERATOR_NAMESPACE'),
    /** Over how many seconds the streams on air are given another image, so that not all of them are at once. */
    rolloutSeconds: integer('ROLLOUT_SECONDS'),
    storageUrl,
    storageMountPath: text('STORAGE_MOUNT_PATH'),
    storageVolume,
    storageSecret: optional('STORAGE_SECRET'),
    /** Keys that can only read, for streams. */
    storageReadSecret: optional('STORAGE_READ_SECRET'),
    cacheBytes: integer('CACHE_BYTES'),
    scratchVolume: scratchVolume(env),
    /** Where Jobs and tests of destinations run: runtimeClassName, nodeSelector, tolerations, affinity, priorityClassName. */
    jobPlacement: jobPlacement(env),
    confine: confineMode(env),
    scrapeAnnotations: flag('SCRAPE_ANNOTATIONS'),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    maxSourceBytes: maxSourceBytes(env),
    mediaLimits: mediaLimits(env),
    ...fetchLimits(env),
    /** The longest that a rendition may take. */
    maxPrepareSeconds: integer('MAX_PREPARE_SECONDS'),
    /** Let accounts share the renditions of files with the same content: saves work, and tells by its time who has a file. */
    shareRenditions: flag('SHARE_RENDITIONS'),
    maxPreparedBytes: maxPreparedBytes(env),
    workers: integer('WORKERS'),
    /** undefined: no election, this process leads, and must be the only one. */
    leaderElection: flag('LEADER_ELECTION') ? LEADER_ELECTION : undefined,
    /** Jobs that import media at the same time; an account has at most half of them. */
    importConcurrency: integer('IMPORT_CONCURRENCY'),
    /** Jobs that make renditions at the same time; an account has at most half of them. */
    prepareConcurrency: integer('PREPARE_CONCURRENCY'),
    /** Pods that make one rendition at the same time: that of its Job, and its helpers. */
    preparePods: integer('PREPARE_PODS'),
    /** Somebody counts what streams use: their sessions are kept until they are acknowledged. */
    metered: flag('METERED'),
    /** The namespaces of which that is so; empty for all. */
    meteredNamespaces: reader(env).list('METERED_NAMESPACES'),
    /** Clear away media that nothing refers to. The storage must then belong to this namespace alone. */
    sweep,
    /** How long media is kept when nothing refers to it any more. */
    sweepGraceHours: integer('SWEEP_GRACE_HOURS'),
    /** How long a rendition is kept in a profile that no stream asks for; 0 is for ever. */
    keepUnusedDays: integer('KEEP_UNUSED_DAYS'),
    /** undefined: this process converts nothing. */
    /** Where pods of streams push their reports; undefined: each is asked. */
    reportsUrl: optional('REPORTS_URL'),
    reportsHost: text('REPORTS_HOST'),
    reportsPort: integer('REPORTS_PORT'),
    opsHost: text('OPS_HOST'),
    opsPort: integer('OPS_PORT', 'operator'),
  });
};
export type OperatorConfig = ReturnType<typeof operatorConfig>;

/** Returns a test of whether somebody counts what the streams of a namespace use. */
export const findMetered =
  ({ metered, meteredNamespaces }: Pick<OperatorConfig, 'metered' | 'meteredNamespaces'>) =>
  (namespace: string): boolean =>
    metered && (meteredNamespaces.length === 0 || meteredNamespaces.includes(namespace));
