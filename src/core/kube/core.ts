/** Declares the kinds of Kubernetes itself that loopstream reads and writes. Pure: no I/O, no clock. */
import type {
  CoreV1Event,
  V1Container,
  V1ContainerStatus,
  V1JobSpec,
  V1JobStatus,
  V1LeaseSpec,
  V1NodeSpec,
  V1NodeStatus,
  V1PodSpec,
  V1PodStatus,
  V1Taint,
  V1Toleration,
} from '@kubernetes/client-node';
import type { KubeObject, Resource, Stored } from './types.ts';

const core = <T extends KubeObject>(kind: string, plural: string, namespaced = true): Resource<T> => ({
  group: '',
  version: 'v1',
  kind,
  plural,
  namespaced,
});

/** An object of client-node as the API server sends it: its times are texts. */
type Json<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Field in keyof T]: Json<T[Field]> }
      : T;

/** Only the fields `Kept` are sure to be there: our caches keep parts of objects. */
type Parts<T, Kept extends keyof T = never> = Json<Partial<T> & Pick<T, Kept>>;

export type ContainerStatus = Parts<V1ContainerStatus, 'name' | 'ready' | 'restartCount'>;
export type PodStatus = Omit<Json<V1PodStatus>, 'containerStatuses' | 'initContainerStatuses'> & {
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
};
export type PodSpec = Parts<V1PodSpec>;
export type Pod = Stored<KubeObject<PodSpec, PodStatus>>;
export type JobSpec = Parts<V1JobSpec>;
export type JobStatus = Json<V1JobStatus>;
export type Job = Stored<KubeObject<JobSpec, JobStatus>>;
export type Container = Json<V1Container>;
export type Toleration = Json<V1Toleration>;
export type Taint = Json<V1Taint>;
export type LeaseSpec = Json<V1LeaseSpec>;
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
export type NodeSpec = Json<V1NodeSpec>;
export type NodeStatus = Json<V1NodeStatus>;
export type Node = Stored<KubeObject<NodeSpec, NodeStatus>>;
export const NODES = core<KubeObject<NodeSpec, NodeStatus>>('Node', 'nodes', false);
export const JOBS: Resource<KubeObject<JobSpec, JobStatus>> = {
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
export const LEASES: Resource<KubeObject<LeaseSpec>> = {
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

/** It has no spec and no status. */
export type KubeEvent = KubeObject<never> & Json<Omit<CoreV1Event, keyof KubeObject>>;
export const EVENTS = core<KubeEvent>('Event', 'events');
