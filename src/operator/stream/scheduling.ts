/** The condition PodScheduled: whether there is a pod and a node for it. Pure: no I/O, no clock. */

import type { Pod } from '../../kube/core.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { podTrouble, readySince, unschedulable } from '../pods/status.ts';
import type { Verdict } from '../runtime/status.ts';

/** Reasons for which there is no pod that could be scheduled. */
const NO_POD: ReadonlySet<string> = new Set(['PodRefused', 'PodNameTaken', 'QuotaExceeded']);

/**
 * Whether a node has taken the pod. That one has is told with the next thing that is worth a write: that the pod is ready
 * or in trouble. `before` is what was told of the same pod.
 */
function podScheduled(pod: Pod, before: Verdict | undefined): Verdict {
  const type = 'PodScheduled';
  const trouble = podTrouble(pod);
  if (unschedulable(pod)) {
    return { type, status: 'False', reason: 'Unschedulable', message: trouble?.message ?? '' };
  }
  if (before?.status === 'True') return before;
  if (pod.spec.nodeName === undefined || (!trouble && readySince(pod) === undefined)) {
    return { type, status: 'Unknown', reason: 'Scheduling', message: 'The pod has been made; a node is found for it.' };
  }
  return { type, status: 'True', reason: 'Scheduled', message: `The pod is on node "${pod.spec.nodeName}".` };
}

/** `progressing` says why there is no pod where there is to be one. Without a pod there is most often nothing to say. */
export function scheduling(
  { status }: LoopStream,
  pod: Pod | undefined,
  { reason, message }: Pick<Verdict, 'reason' | 'message'>,
): Verdict | undefined {
  if (!pod) return NO_POD.has(reason) ? { type: 'PodScheduled', status: 'False', reason, message } : undefined;
  const before = findCondition(status?.conditions, 'PodScheduled');
  if (!before || status?.podUID !== pod.metadata.uid) return podScheduled(pod, undefined);
  return podScheduled(pod, {
    type: before.type,
    status: before.status,
    reason: before.reason,
    message: before.message,
  });
}
