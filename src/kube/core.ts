/** Declares the kinds of Kubernetes itself that loopstream reads and writes. Pure: no I/O, no clock. */
import type { KubeObject, Resource, Stored } from './types.ts';

const core = <T extends KubeObject>(kind: string, plural: string, namespaced = true): Resource<T> => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  image?: string;
  imageID?: string;
  started?: boolean;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: {
      exitCode: number;
      signal?: number;
      reason?: string;
      message?: string;
      startedAt?: string;
      finishedAt?: string;
    };
  };
  lastState?: ContainerStatus['state'];
}

export interface PodStatus {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  reason?: string;
  message?: string;
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  startTime?: string;
  conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

/** Pod and Job specs are built by pure builders and read back only in parts, so their types name those parts. */
export type PodSpec = Record<string, unknown> & { nodeName?: string; restartPolicy?: string };
export type Pod = Stored<KubeObject<PodSpec, PodStatus>>;
export interface JobStatus {
  active?: number;
  succeeded?: number;
  failed?: number;
  startTime?: string;
  completionTime?: string;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}
export type Job = Stored<KubeObject<Record<string, unknown>, JobStatus>>;
/** Secrets have no spec; `data` is base64. */
export type Secret = KubeObject<never> & {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
};

/** A ConfigMap has no spec. */
export type ConfigMap = KubeObject<never> & { data?: Record<string, string> };

export const PODS = core<KubeObject<PodSpec, PodStatus>>('Pod', 'pods');
export const SECRETS = core<Secret>('Secret', 'secrets');
export const CONFIG_MAPS = core<ConfigMap>('ConfigMap', 'configmaps');
export const NAMESPACES = core<KubeObject>('Namespace', 'namespaces', false);
export interface NodeSpec {
  unschedulable?: boolean;
  taints?: { key: string; value?: string; effect: string }[];
}
export type NodeStatus = Record<string, unknown> & {
  allocatable?: Record<string, string>;
  conditions?: { type: string; status: string; [field: string]: unknown }[];
};
export type Node = Stored<KubeObject<NodeSpec, NodeStatus>>;
export const NODES = core<KubeObject<NodeSpec, NodeStatus>>('Node', 'nodes', false);
export const JOBS: Resource<KubeObject<Record<string, unknown>, JobStatus>> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};
export const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** apps/v1: an immutable copy of `data`, numbered by `revision`. It has no spec. */
export type ControllerRevision = KubeObject<never> & { data: unknown; revision: number };
export const CONTROLLER_REVISIONS: Resource<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
};

/** core/v1 Event: no spec and no status; the fields that our recorder writes. */
export type KubeEvent = KubeObject<never> & {
  involvedObject: {
    apiVersion?: string;
    kind?: string;
    namespace?: string;
    name?: string;
    uid?: string;
    resourceVersion?: string;
  };
  type?: string;
  reason?: string;
  action?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string;
  lastTimestamp?: string;
  source?: { component?: string };
  reportingComponent?: string;
};
export const EVENTS = core<KubeEvent>('Event', 'events');
