/**
 * Removes pods of an earlier stream of the same name (isStray). A restored one never publishes: the publisher lock of its stream names the
 * UID of a pod, and it has another (pods/streamer/control/publisher-lock.ts); the operator hands the lock to pods of the stream's own UID
 * alone (secret.ts).
 */
import { PODS, type Pod } from '../../kube/core.ts';
import type { StreamControllerDeps } from './controller-deps.ts';

/**
 * Deletes these pods. A new pod waits until nothing of them runs (isOver), and then their finalizers go too (removePodFinalizers): one
 * whose stream was deleted by force may be on air still.
 */
export async function removeStrayPods(
  { kube, log }: Pick<StreamControllerDeps, 'kube' | 'log'>,
  strays: readonly Pod[],
): Promise<void> {
  for (const { metadata } of strays) {
    const { name, namespace = '', uid, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) continue;
    log.info({ namespace, pod: name }, 'a pod of an earlier stream of this name is deleted');
    await kube.delete(PODS, namespace, name, { uid });
  }
}
