/** Reads the status of a pod, in the words of the parts of Kubernetes that wrote it. Pure: no I/O, no clock. */
import type { ContainerStatus, Pod } from '../../kube/core.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import type { Finding } from '../runtime/controller.ts';

/** States that a container passes through on its way up. */
const ON_ITS_WAY = new Set(['ContainerCreating', 'PodInitializing']);

/** Why no node takes a pod. One that is on a node is scheduled, whatever a condition that was written late still says. */
export const findUnschedulable = ({ spec, status }: Pod) =>
  spec.nodeName === undefined
    ? status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
    : undefined;

/** The reason of a pod's trouble, in the words of the scheduler and of kubelet: new releases of Kubernetes add some. */
export type PodReason = string & { readonly wordOf: 'Kubernetes' };

export interface PodTrouble extends Finding {
  reason: PodReason;
}

const trouble = (reason: string, message: string): PodTrouble => ({ reason: reason as PodReason, message });

/** Finds what keeps a pod from running: no node for it, an image that cannot be had, a container that ends again and again. */
export function findPodTrouble(pod: Pod): PodTrouble | undefined {
  const refused = findUnschedulable(pod);
  if (refused) {
    return trouble(refused.reason ?? 'Unschedulable', `No node accepts the pod: ${refused.message ?? ''}`);
  }
  for (const container of pod.status?.containerStatuses ?? []) {
    const { waiting } = container.state ?? {};
    if (waiting?.reason && !ON_ITS_WAY.has(waiting.reason)) {
      const detail = waiting.message ? `: ${waiting.message}` : '.';
      return trouble(waiting.reason, `The pod does not run (${waiting.reason})${detail}`);
    }
  }
  return undefined;
}

/**
 * Whether nothing of a pod runs or will run again, by the report of its kubelet. The garbage collector reports it for a
 * node that is gone, and the operator for one out of service (stream/lost-pods.ts). A deletion, even by force, proves
 * nothing.
 */
export function isOver({ metadata, spec, status }: Pod): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  if (!metadata.deletionTimestamp) return false;
  // One that has no node is not given any once it is being deleted.
  if (spec.nodeName === undefined) return true;
  const containers = status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every(({ state }) => state?.terminated !== undefined);
}

/** Its program is loaded and its media is open: it could publish in the next moment. */
export const isWarm = ({ status }: Pod): boolean => status?.containerStatuses?.[0]?.started ?? false;

/** Host part of the URL of a pod, also of one that is going; undefined while nothing of it runs. */
export function findAddress(pod: Pod): string | undefined {
  const ip = pod.status?.phase === 'Running' && !isOver(pod) ? pod.status.podIP : undefined;
  return ip?.includes(':') ? `[${ip}]` : ip;
}

/** How often kubelet has started the containers of a pod anew. */
export const countRestarts = (pod: Pod): number =>
  (pod.status?.containerStatuses ?? []).reduce((sum, container) => sum + container.restartCount, 0);

/** Since when the pod has been ready (RFC 3339); undefined while it is not. */
export const findReadySince = (pod: Pod): string | undefined => {
  const ready = pod.status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True');
  return ready && !pod.metadata.deletionTimestamp ? ready.lastTransitionTime : undefined;
};

/** How the containers of a pod ended, those that have. */
export const listTerminations = (pod: Pod): NonNullable<NonNullable<ContainerStatus['state']>['terminated']>[] =>
  (pod.status?.containerStatuses ?? []).flatMap((container) =>
    container.state?.terminated ? [container.state.terminated] : [],
  );

/** Why Kubernetes itself removes a pod: evicted, preempted, its node is gone. */
export const findDisruption = ({ status }: Pod): string | undefined =>
  status?.conditions?.find((one) => one.type === 'DisruptionTarget' && one.status === 'True')?.reason;

/** The reasons of pods whose node has not been heard of again: by the garbage collector, and by lost-pods.ts. */
const OF_LOST_NODES = new Set(['NodeLost', 'NodeOutOfService', 'DeletionByPodGC']);

/** Why a pod goes or its process has ended, where the operator did not want it so; undefined while nothing speaks of it. */
export function findPodEnd(pod: Pod): SessionEnd | undefined {
  const { status, metadata } = pod;
  const disruption = findDisruption(pod);
  if ([status?.reason, disruption].some((reason) => reason !== undefined && OF_LOST_NODES.has(reason)))
    return 'NodeLost';
  const ends = (status?.containerStatuses ?? []).map(
    ({ state, lastState }) => state?.terminated ?? lastState?.terminated,
  );
  const [last] = ends.filter((end) => end !== undefined);
  if (last?.reason === 'OOMKilled') return 'OutOfMemory';
  // Kubelet gives a reason of its own to a pod that it ends: Evicted, Terminated.
  if (disruption !== undefined || (status?.phase === 'Failed' && status.reason !== undefined)) return 'PodEvicted';
  if (metadata.deletionTimestamp !== undefined) return 'PodDeleted';
  return last && 'ProcessEnded';
}

/** Host part of the URL of the pod that works; undefined while there is none. */
export function findAddressToAsk(pods: readonly Pod[]): string | undefined {
  const working = pods.find(
    (pod) => pod.status?.phase === 'Running' && !pod.metadata.deletionTimestamp && listTerminations(pod).length === 0,
  );
  const ip = working?.status?.podIP;
  return ip?.includes(':') ? `[${ip}]` : ip;
}
