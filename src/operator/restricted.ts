/**
 * What the pods of streams, of Jobs and of tests have in common: no rights, no token, and nothing that the Pod Security
 * level `restricted` refuses (https://kubernetes.io/docs/concepts/security/pod-security-standards/). Pure: no I/O, no clock.
 */
import type { Destination, LoopStream, Upload } from '../kube/resources.ts';
import type { OwnerReference } from '../kube/types.ts';
import { ACCOUNT_LABEL, API_VERSION, COMPONENT_LABEL, MANAGED_BY, MANAGED_BY_LABEL } from '../streams/names.ts';

/** What the operator's configuration says about the pods that it makes. */
export interface PodSettings {
  image: string;
  logLevel: string;
  storageUrl: string;
  storageMountPath: string;
  /** Where the media is, for storage in a directory: a volume source, e.g. {"persistentVolumeClaim":{"claimName":"media"}}. */
  storageVolume: Record<string, unknown> | undefined;
  /** For storage in S3: the Secret with the keys accessKeyId and secretAccessKey. Without one the pod's identity counts. */
  storageSecret: string | undefined;
  /** Disk that a stream's cache of media from S3 may take. */
  cacheBytes: number;
  /** Where a Job keeps what it works on: a volume source with room for a source and what is made of it. */
  scratchVolume: Record<string, unknown>;
  allowPrivateLinks: boolean;
  /** The largest source that is imported. */
  maxSourceBytes: number;
}

/** User and group of the image, also the group that volumes belong to. */
const ID = 10_001;

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
/** kubelet makes this file and reads it when the container has ended; it is no part of any volume. */
export const RESULT_FILE = '/dev/termination-log';
const CREDENTIALS_PATH = '/etc/loopstream/storage';
const CACHE_PATH = '/var/cache/loopstream';
/** Kubernetes ends a pod whose volume has outgrown its limit, and file systems need room beside the files. */
const CACHE_MARGIN_BYTES = 128 * 2 ** 20;

const isDirectory = ({ storageUrl }: PodSettings): boolean => storageUrl.startsWith('file:');
/** Parts of a list that are there only under a condition. */
const when = <T>(condition: boolean, ...parts: T[]): T[] => (condition ? parts : []);

/** What a pod's storage is: a pod that was given another one has to be replaced. */
export const storageParts = (settings: PodSettings): unknown[] => {
  const { storageUrl, storageMountPath, storageVolume, storageSecret } = settings;
  return isDirectory(settings) ? [storageUrl, storageMountPath, storageVolume] : [storageUrl, storageSecret];
};

const hasSecret = (settings: PodSettings) => !isDirectory(settings) && settings.storageSecret !== undefined;

/** Every path is handed over by an environment variable, so that nothing in the container knows where it runs. */
export const commonEnv = (settings: PodSettings) => [
  { name: 'LOOPSTREAM_LOG_LEVEL', value: settings.logLevel },
  { name: 'LOOPSTREAM_STORAGE_URL', value: settings.storageUrl },
  // Credentials are files: an environment can be read in the process list, and goes on to every child.
  ...when(hasSecret(settings), { name: 'LOOPSTREAM_STORAGE_CREDENTIALS_DIR', value: CREDENTIALS_PATH }),
  { name: 'TMPDIR', value: TMP_PATH },
];

export const commonMounts = (settings: PodSettings, readOnly: boolean) => [
  ...when(isDirectory(settings), {
    name: 'storage',
    mountPath: settings.storageMountPath,
    ...(readOnly && { readOnly }),
  }),
  ...when(hasSecret(settings), { name: 'storage-credentials', mountPath: CREDENTIALS_PATH, readOnly: true }),
  { name: 'tmp', mountPath: TMP_PATH },
];

/** `tmp`: the volume source for temporary files. */
export const commonVolumes = (settings: PodSettings, tmp: Record<string, unknown> = { emptyDir: {} }) => [
  ...when(isDirectory(settings), { name: 'storage', ...settings.storageVolume }),
  ...when(hasSecret(settings), {
    name: 'storage-credentials',
    secret: {
      secretName: settings.storageSecret,
      defaultMode: 0o440,
      items: ['accessKeyId', 'secretAccessKey'].map((key) => ({ key, path: key })),
    },
  }),
  { name: 'tmp', ...tmp },
];

/** The cache of a pod that reads media from elsewhere; it outlives the container, not the pod. */
export const cacheEnv = (settings: PodSettings) =>
  when(
    !isDirectory(settings),
    { name: 'LOOPSTREAM_CACHE_DIR', value: CACHE_PATH },
    { name: 'LOOPSTREAM_CACHE_BYTES', value: String(settings.cacheBytes) },
  );
export const cacheMounts = (settings: PodSettings) =>
  when(!isDirectory(settings), { name: 'cache', mountPath: CACHE_PATH });
export const cacheVolumes = (settings: PodSettings) =>
  when(!isDirectory(settings), {
    name: 'cache',
    emptyDir: { sizeLimit: String(settings.cacheBytes + CACHE_MARGIN_BYTES) },
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
  };
}

/** The owner: Kubernetes' garbage collector removes what it owns, and no other controller takes it over. */
export const ownedBy = (kind: 'LoopStream' | 'Upload', owner: LoopStream | Upload): OwnerReference[] => [
  {
    apiVersion: API_VERSION,
    kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  },
];

export const isOwnedBy = (
  object: { metadata: { ownerReferences?: OwnerReference[] } },
  owner: { metadata: { uid: string } },
): boolean => object.metadata.ownerReferences?.some((ref) => ref.controller && ref.uid === owner.metadata.uid) ?? false;
