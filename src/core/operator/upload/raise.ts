/** Gives pods that work in the background the share of an awaited one when a stream comes to wait for what they make. */

import { PODS, type Pod } from '../../kube/core.ts';
import { hasReason } from '../../kube/types.ts';
import type { ControllerDeps } from '../caches/controller-deps.ts';
import { isRefusal } from '../runtime/controller.ts';
import { raiseRequests } from './job-pod.ts';

/**
 * Changes the requests of running pods in place. Each pod is tried once: Kubernetes before 1.33 cannot do it, and the pod then goes on with the
 * share that it has.
 */
export function createRaiser({ kube, caches, log }: Pick<ControllerDeps, 'kube' | 'caches' | 'log'>) {
  const tried = new Map<string, [namespace: string, name: string]>();
  return async (pods: readonly Pod[]): Promise<void> => {
    for (const { metadata } of pods) {
      const { namespace = '', name, uid } = metadata;
      if (tried.has(uid)) continue;
      for (const [one, place] of tried) if (caches.pods.get(...place)?.metadata.uid !== one) tried.delete(one);
      tried.set(uid, [namespace, name]);
      try {
        const spec = raiseRequests(await kube.get(PODS, namespace, name));
        if (spec) await kube.mergePatch(PODS, namespace, name, { metadata: { uid }, spec }, { subresource: 'resize' });
      } catch (error) {
        if (!isRefusal(error) && !hasReason(error, 'NotFound', 'Conflict', 'MethodNotAllowed')) throw error;
        log.info({ err: error, pod: name }, 'the pod keeps its share of the processors although a stream waits for it');
      }
    }
  };
}
