/**
 * Declares the parts of core/v1 Pod that the node agent acts on. Other fields are ignored (limits, affinity,
 * securityContext: containers run as the agent's own user). Pure: no I/O, no clock.
 */
import type { Container as AnyContainer, ContainerStatus, Pod, PodSpec, PodStatus } from '../../src/core/kube/core.ts';

export type Container = AnyContainer & { image: string };
export type EnvVar = NonNullable<Container['env']>[number];
export type Probe = NonNullable<Container['readinessProbe']>;
export type ContainerResources = NonNullable<Container['resources']>;
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type HostPath = NonNullable<Volume['hostPath']>;
export type KeyToPath = NonNullable<NonNullable<Volume['secret']>['items']>[number];
export type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
export type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];
/** A token of the pod's service account, which the API server puts into every pod that does not refuse it. */
export type TokenItem = NonNullable<ProjectedSource['serviceAccountToken']>;
export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

export type NodePodSpec = Omit<PodSpec, 'containers' | 'initContainers'> & {
  restartPolicy?: RestartPolicy;
  containers: Container[];
  initContainers?: Container[];
};

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
