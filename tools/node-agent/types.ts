/**
 * Declares the parts of core/v1 Pod that the node agent acts on. Other fields are ignored (limits, affinity,
 * securityContext: containers run as the agent's own user). Pure: no I/O, no clock.
 */
import type { ContainerStatus, Pod, PodStatus } from '../../src/kube/core.ts';

export interface KeySelector {
  name?: string;
  key: string;
  optional?: boolean;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { fieldPath: string };
    secretKeyRef?: KeySelector;
    configMapKeyRef?: KeySelector;
    [other: string]: unknown;
  };
}

export interface EnvFromSource {
  prefix?: string;
  secretRef?: { name?: string; optional?: boolean };
  configMapRef?: { name?: string; optional?: boolean };
}

/** A probe as the API server stores it: every default is filled in there, and again here for tests. */
export interface Probe {
  httpGet?: {
    path?: string;
    port: number | string;
    host?: string;
    scheme?: string;
    httpHeaders?: { name: string; value: string }[];
  };
  tcpSocket?: { port: number | string; host?: string };
  exec?: { command?: string[] };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
}

export interface Container {
  name: string;
  image: string;
  imagePullPolicy?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  ports?: { name?: string; containerPort: number }[];
  volumeMounts?: VolumeMount[];
  resources?: ContainerResources;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  startupProbe?: Probe;
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  /** For init containers alone: one that is always started again is a sidecar, which runs beside the main ones. */
  restartPolicy?: 'Always';
}

export interface ContainerResources {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

interface KeyedSource {
  items?: KeyToPath[];
  optional?: boolean;
}

export interface DownwardItem {
  path: string;
  fieldRef?: { fieldPath: string };
  mode?: number;
}

/** A token of the pod's service account, which the API server puts into every pod that does not refuse it. */
export interface TokenItem {
  path: string;
  audience?: string;
  expirationSeconds?: number;
}

export interface ProjectedSource {
  secret?: KeyedSource & { name?: string };
  configMap?: KeyedSource & { name?: string };
  downwardAPI?: { items?: DownwardItem[] };
  serviceAccountToken?: TokenItem;
  [other: string]: unknown;
}

export interface HostPath {
  path: string;
  type?: string;
}

export interface Volume {
  name: string;
  emptyDir?: object;
  hostPath?: HostPath;
  persistentVolumeClaim?: { claimName: string };
  secret?: KeyedSource & { secretName?: string; defaultMode?: number };
  configMap?: KeyedSource & { name?: string; defaultMode?: number };
  downwardAPI?: { items?: DownwardItem[]; defaultMode?: number };
  projected?: { sources?: ProjectedSource[]; defaultMode?: number };
  [other: string]: unknown;
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export interface NodePodSpec {
  nodeName?: string;
  restartPolicy?: RestartPolicy;
  hostNetwork?: boolean;
  hostname?: string;
  serviceAccountName?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
}

/** The spec of a pod that was read from the API server, which has checked and defaulted it. */
export const getSpec = (pod: Pod): NodePodSpec => pod.spec as unknown as NodePodSpec;

export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

export const podKey = (pod: Pod): string => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;

export type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;
export type PodCondition = NonNullable<PodStatus['conditions']>[number];

/** A Secret or ConfigMap of the pod's namespace. */
export interface SourceName {
  kind: 'Secret' | 'ConfigMap';
  name: string;
}

/** Writes an Event about a pod; counting and rate are the recorder's concern. */
export type EmitPodEvent = (pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string) => void;
