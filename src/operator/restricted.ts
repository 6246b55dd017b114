/**
 * What the streamer's and the prepare Job's pods have in common: no rights, no token, and nothing that the Pod Security
 * level `restricted` refuses (https://kubernetes.io/docs/concepts/security/pod-security-standards/). Pure: no I/O, no clock.
 */
import type { LoopStream, Upload } from '../kube/resources.ts';
import type { OwnerReference } from '../kube/types.ts';
import { ACCOUNT_LABEL, API_VERSION, COMPONENT_LABEL, MANAGED_BY, MANAGED_BY_LABEL } from '../streams/names.ts';

/** What the operator's configuration says about the pods that it makes. */
export interface PodSettings {
  image: string;
  logLevel: string;
  storageUrl: string;
  storageMountPath: string;
  /** A Kubernetes volume source, e.g. {"persistentVolumeClaim":{"claimName":"media"}}. */
  storageVolume: Record<string, unknown>;
  allowPrivateLinks: boolean;
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

const TMP_PATH = '/tmp';

/** Every path is handed over by an environment variable, so that nothing in the container knows where it runs. */
export const commonEnv = (settings: PodSettings) => [
  { name: 'LOOPSTREAM_LOG_LEVEL', value: settings.logLevel },
  { name: 'LOOPSTREAM_STORAGE_URL', value: settings.storageUrl },
  { name: 'TMPDIR', value: TMP_PATH },
];

export const commonMounts = (settings: PodSettings, readOnly: boolean) => [
  { name: 'storage', mountPath: settings.storageMountPath, ...(readOnly && { readOnly }) },
  { name: 'tmp', mountPath: TMP_PATH },
];

export const commonVolumes = (settings: PodSettings) => [
  { name: 'storage', ...settings.storageVolume },
  { name: 'tmp', emptyDir: {} },
];

/** Labels of everything that the operator makes. The account goes along, so that what it uses can be told apart. */
export function labelsFor(
  owner: LoopStream | Upload | undefined,
  component: 'streamer' | 'prepare',
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
