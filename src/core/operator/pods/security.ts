/**
 * Builds what the pods of streams, of Jobs and of tests have in common: no rights, no token, and nothing that the Pod Security
 * level `restricted` refuses (https://kubernetes.io/docs/concepts/security/pod-security-standards/). Pure: no I/O, no clock.
 */

import { parseBytes } from '../../kube/quantity.ts';
import type { KubeObject, OwnerReference } from '../../kube/types.ts';
import { memoize } from '../../lib/memoize.ts';
import { trimEndOf } from '../../lib/trim.ts';
import type { ConfineMode } from '../../protocol/confine-modes.ts';
import { setting } from '../../protocol/environment.ts';
import type { MediaLimits } from '../../protocol/media-limits.ts';
import { pickUserLabels } from '../../resources/common/labels.ts';
import {
  ACCOUNT_LABEL,
  API_VERSION,
  COMPONENT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  STREAM_LABEL,
  UPLOAD_LABEL,
} from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { PodPlacement } from '../../resources/stream/template.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { NAMESPACE_PLACEHOLDER } from '../../settings/common.ts';

/** The operator's settings for the pods that it makes. */
export interface PodSettings {
  image: string;
  /** Of Jobs: the image with the programs that open strangers' files. */
  prepareImage: string;
  logLevel: string;
  /** Of Jobs: whether every pod of a stream plays renditions at a frame rate of their own. */
  ownRates?: boolean;
  /** May hold `{namespace}`: see `settingsIn`. */
  storageUrl: string;
  storageMountPath: string;
  /** Where the media is, for storage in a directory: a volume source, e.g. {"persistentVolumeClaim":{"claimName":"media"}}. */
  storageVolume: Record<string, unknown> | undefined;
  /** For storage in S3: the Secret with the keys accessKeyId and secretAccessKey. Without one the pod's identity counts. */
  storageSecret: string | undefined;
  /** For storage in S3: the same with keys that can only read, for streams. They get `storageSecret` without it. */
  storageReadSecret: string | undefined;
  /** Disk that a stream's cache of media from S3 may take. */
  cacheBytes: number;
  /** Where a Job keeps what it works on: a volume source with room for a source and what is made of it. */
  scratchVolume: Record<string, unknown>;
  allowPrivateLinks: boolean;
  /** Streams may be sent to private addresses. */
  allowPrivateDestinations: boolean;
  /** The largest source that is imported. */
  maxSourceBytes: number;
  /** Whether ffmpeg is confined by the kernel, in each pod: LOOPSTREAM_CONFINE. */
  confine: ConfineMode;
  /** Where the pods run that open strangers' files or connect to strangers' servers for a moment: Jobs and tests. */
  jobPlacement: PodPlacement;
  /** Pods of streams say where their metrics are, for a Prometheus that scrapes by annotations. */
  scrapeAnnotations: boolean;
  /** Where pods of streams push their reports: the operator's Service. Undefined where the operator asks for them. */
  reportsUrl: string | undefined;
  /** UID of the namespace kube-system; undefined where the operator may not read it, and then no record is kept of an Upload. */
  installation?: string | undefined;
  mediaLimits: MediaLimits;
  /** For the whole transfer of a link; one that brings less a second is given up. */
  fetchTimeoutSeconds: number;
  minFetchBytesPerSecond: number;
  /** The longest that a rendition may take. */
  maxPrepareSeconds: number;
  /** Accounts share the renditions of files with the same content. */
  shareRenditions: boolean;
}

const resolved = memoize((_: PodSettings) => new Map<string, PodSettings>());

/** The settings for the pods of one namespace: the same object each time, and `settings` itself where they are those of all. */
export function settingsIn(settings: PodSettings, namespace = ''): PodSettings {
  if (!settings.storageUrl.includes(NAMESPACE_PLACEHOLDER)) return settings;
  const found = resolved(settings).get(namespace) ?? {
    ...settings,
    storageUrl: settings.storageUrl.replaceAll(NAMESPACE_PLACEHOLDER, namespace),
  };
  resolved(settings).set(namespace, found);
  return found;
}

/** User and group of the image, also the group that volumes belong to. */
const ID = 10_001;
/** User and group of the containers that open strangers' files. */
export const DECODER_ID = 10_002;

export const POD_SECURITY = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: ID,
    runAsGroup: ID,
    fsGroup: ID,
    // The media volume may hold millions of files: their owner is not set again at each start.
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

export const CONTAINER_SECURITY = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
};

/** Empty when the pod begins; it outlives a container. */
export const TMP_PATH = '/tmp';
const MIB = 2 ** 20;
/** A record of sessions and what programs keep for a moment. */
const TMP_BYTES = 64 * MIB;
/** For the logs of a container: a kubelet keeps five of 10 MiB by default. */
const LOG_BYTES = 256 * MIB;
/** kubelet makes this file and reads it when the container has ended; it is no part of any volume. */
export const RESULT_FILE = '/dev/termination-log';
const CREDENTIALS_PATH = '/etc/loopstream/storage';
const CACHE_PATH = '/var/cache/loopstream';
/** Kubernetes ends a pod whose volume has outgrown its limit, and file systems need room beside the files. */
const CACHE_MARGIN_BYTES = 128 * MIB;

export const isDirectory = ({ storageUrl }: PodSettings): boolean => storageUrl.startsWith('file:');
/** Parts of a list that are there only under a condition. */
const when = <T>(condition: boolean, ...parts: T[]): T[] => (condition ? parts : []);

/** The parts of a pod's storage. A pod with other parts has to be replaced. */
export const storageParts = (settings: PodSettings): unknown[] => {
  const { storageUrl, storageMountPath, storageVolume, storageSecret, storageReadSecret } = settings;
  return isDirectory(settings)
    ? [storageUrl, storageMountPath, storageVolume]
    : [storageUrl, storageSecret, ...when(storageReadSecret !== undefined, storageReadSecret)];
};

/**
 * The use that a container makes of the media. `all` mounts the whole directory. A list names what is mounted of it: keys of
 * objects, or the first segments of keys, which must be there already, since a kubelet would make them as root.
 */
export type StorageUse = 'all' | readonly StoragePart[];
export interface StoragePart {
  key: string;
  readOnly: boolean;
}

/** Everything that is played lies below this. */
export const PLAYED: StorageUse = [{ key: 'renditions', readOnly: true }];

const findStorageSecret = ({ storageSecret, storageReadSecret }: PodSettings, reads: boolean): string | undefined =>
  reads ? (storageReadSecret ?? storageSecret) : storageSecret;
const hasSecret = (settings: PodSettings) => !isDirectory(settings) && findStorageSecret(settings, true) !== undefined;

/** For each container that starts ffmpeg. */
export const confineEnv = ({ confine }: PodSettings) => setting('CONFINE', confine);

/** For the pods that publish. */
export const destinationEnv = ({ allowPrivateDestinations }: PodSettings) => [
  setting('ALLOW_PRIVATE_DESTINATIONS', String(allowPrivateDestinations)),
];

/** Every path is handed over by an environment variable, so that nothing in the container knows where it runs. */
export const commonEnv = (settings: PodSettings) => [
  setting('LOG_LEVEL', settings.logLevel),
  setting('STORAGE_URL', settings.storageUrl),
  // Credentials are files: an environment can be read in the process list, and goes on to every child.
  ...when(hasSecret(settings), setting('STORAGE_CREDENTIALS_DIR', CREDENTIALS_PATH)),
];

const withoutSlash = (path: string): string => trimEndOf(path, '/');

/** The mounts of the media directory; none for media in S3. */
export function storageMounts(settings: PodSettings, use: StorageUse) {
  if (!isDirectory(settings)) return [];
  const { storageUrl, storageMountPath } = settings;
  const whole = withoutSlash(storageMountPath);
  const root = withoutSlash(decodeURIComponent(new URL(storageUrl).pathname));
  const below = root.slice(whole.length + 1);
  // A directory that is not below the mount is none of the volume's.
  const isBelow = root === whole || root.startsWith(`${whole}/`);
  if (use === 'all' || !isBelow) return [{ name: 'storage', mountPath: storageMountPath }];
  return use.map(({ key, readOnly }) => ({
    name: 'storage',
    mountPath: `${root}/${key}`,
    subPath: below === '' ? key : `${below}/${key}`,
    ...(readOnly && { readOnly }),
  }));
}

export const commonMounts = (settings: PodSettings, use: StorageUse) => [
  ...storageMounts(settings, use),
  ...when(hasSecret(settings), { name: 'storage-credentials', mountPath: CREDENTIALS_PATH, readOnly: true }),
  { name: 'tmp', mountPath: TMP_PATH },
];

/** A directory of the node that is empty when the pod begins, with a limit: Kubernetes ends a pod that outgrows it. */
export const emptyDir = (sizeBytes: number) => ({ emptyDir: { sizeLimit: String(sizeBytes) } });
export const TMP_VOLUME = emptyDir(TMP_BYTES);

/** `tmp`: the volume source for temporary files. `reads`: the pod only reads media. */
export const commonVolumes = (settings: PodSettings, tmp: Record<string, unknown>, reads: boolean) => [
  ...when(isDirectory(settings), { name: 'storage', ...settings.storageVolume }),
  ...when(hasSecret(settings), {
    name: 'storage-credentials',
    secret: {
      secretName: findStorageSecret(settings, reads),
      defaultMode: 0o440,
      items: ['accessKeyId', 'secretAccessKey'].map((key) => ({ key, path: key })),
    },
  }),
  { name: 'tmp', ...tmp },
];

interface Resources {
  requests?: Record<string, string | number>;
  limits?: Record<string, string | number>;
}

/** Bytes that the emptyDirs among these volumes may take on the node's disk; a tmpfs counts as memory. */
const emptyDirBytes = (volumes: readonly object[]): number =>
  (volumes as { emptyDir?: { sizeLimit?: string; medium?: string } }[]).reduce(
    (sum, volume) => sum + (volume.emptyDir?.medium ? 0 : (parseBytes(volume.emptyDir?.sizeLimit) ?? 0)),
    0,
  );

/**
 * Adds the limit of local disk: logs, and the emptyDirs of `volumes`, since Kubernetes holds the sum of a pod's limits
 * against all that the pod has on the node. A request is named, because the limit would count as one where none is.
 */
export const withDisk = (resources: Resources, volumes: readonly object[] = []) => ({
  ...resources,
  requests: { 'ephemeral-storage': '0', ...resources.requests },
  limits: { 'ephemeral-storage': String(LOG_BYTES + emptyDirBytes(volumes)), ...resources.limits },
});

/** The part of a pod's spec that says where it may run. */
export const placement = ({
  nodeSelector,
  tolerations,
  affinity,
  runtimeClassName,
  priorityClassName,
}: PodPlacement) => ({
  ...(nodeSelector && { nodeSelector }),
  ...(tolerations && { tolerations }),
  ...(affinity && { affinity }),
  ...(runtimeClassName !== undefined && { runtimeClassName }),
  ...(priorityClassName !== undefined && { priorityClassName }),
});

/** The cache of a pod that reads media from elsewhere; it outlives the container, not the pod. */
export const cacheEnv = (settings: PodSettings) =>
  when(!isDirectory(settings), setting('CACHE_DIR', CACHE_PATH), setting('CACHE_BYTES', String(settings.cacheBytes)));
export const cacheMounts = (settings: PodSettings) =>
  when(!isDirectory(settings), { name: 'cache', mountPath: CACHE_PATH });
export const cacheVolumes = (settings: PodSettings) =>
  when(!isDirectory(settings), {
    name: 'cache',
    ...emptyDir(settings.cacheBytes + CACHE_MARGIN_BYTES),
  });

/** Labels of everything that the operator makes. The account goes along, so that what it uses can be told apart. */
export function labelsFor(
  owner: LoopStream | Upload | Destination | undefined,
  component: 'streamer' | 'prepare' | 'probe',
): Record<string, string> {
  const account = owner?.metadata.labels?.[ACCOUNT_LABEL];
  return {
    'app.kubernetes.io/name': 'loopstream',
    [MANAGED_BY_LABEL]: MANAGED_BY,
    [COMPONENT_LABEL]: component,
    ...(account !== undefined && { [ACCOUNT_LABEL]: account }),
    ...(owner && pickUserLabels(owner)),
  };
}

/**
 * The owner: Kubernetes' garbage collector removes what it owns, and no other controller takes it over. It does not block the deletion of
 * its owner: for that, kube-apiserver asks what the kind may do, and knows a new kind some ten seconds late. Finalizers hold back what is
 * to be held back.
 */
export const ownedBy = (kind: 'LoopStream' | 'Upload', owner: LoopStream | Upload): OwnerReference[] => [
  {
    apiVersion: API_VERSION,
    kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
  },
];

export const isOwnedBy = (
  object: { metadata: { ownerReferences?: OwnerReference[] } },
  owner: { metadata: { uid: string } },
): boolean => object.metadata.ownerReferences?.some((ref) => ref.controller && ref.uid === owner.metadata.uid) ?? false;

const OWNER_LABEL = { streamer: STREAM_LABEL, prepare: UPLOAD_LABEL };

/**
 * Whether an operator made an object with this owner's name for an earlier owner: a backup tool restores it without its owner, or with one
 * that has another UID. An object without all of our labels is somebody else's.
 */
export function isStray(
  { metadata }: Pick<KubeObject, 'metadata'>,
  component: keyof typeof OWNER_LABEL,
  owner: { metadata: { name: string; uid: string } },
): boolean {
  const { labels = {} } = metadata;
  return (
    labels[MANAGED_BY_LABEL] === MANAGED_BY &&
    labels[COMPONENT_LABEL] === component &&
    labels[OWNER_LABEL[component]] === owner.metadata.name &&
    !isOwnedBy({ metadata }, owner)
  );
}
