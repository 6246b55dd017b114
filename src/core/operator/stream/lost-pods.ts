/**
 * Calls the pods failed that went down with their node, where somebody has said that the node is out of service. Kubernetes' garbage
 * collector does the same (pkg/controller/podgc, gcTerminating), up to 20 s later: it looks that seldom, and the stream is off air.
 *
 * The node is read after the pod is known to be going. Kubelet starts nothing of such a pod again, so what is said of the node at that
 * moment stays true of the pod, whatever happens to the node in the meantime.
 */

import { NODES, type Node, PODS, type Pod } from '../../kube/core.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { isNodeReady, isOutOfService } from '../pods/taints.ts';
import type { StreamControllerDeps } from './controller-deps.ts';

/** The node as the API server has it at this moment; undefined when there is none. A list asks for no right that the cache lacks. */
async function fetchNode(kube: Kube, name: string): Promise<Node | undefined> {
  const { items } = await kube.page(NODES, { fieldSelector: `metadata.name=${name}`, limit: 1 });
  return items[0];
}

async function failPod({ caches, kube, log }: StreamControllerDeps, pod: Pod, node: string): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = pod.metadata;
  const message = `Node "${node}" is out of service.`;
  const patch = {
    metadata: { uid, resourceVersion },
    status: { phase: 'Failed', reason: 'NodeOutOfService', message },
  };
  try {
    caches.pods.upsert(await kube.mergePatch(PODS, namespace, name, patch, { subresource: 'status' }));
    log.info({ namespace, pod: name, node }, 'a pod is called failed, since its node is out of service');
  } catch (error) {
    // A newer version of the pod comes with an event of its own. Without the right, the garbage collector is waited for.
    if (!hasReason(error, 'NotFound', 'Conflict', 'Forbidden')) throw error;
  }
}

/** Calls these pods failed, unless their node is back. */
export async function failLostPods(deps: StreamControllerDeps, lost: readonly Pod[]): Promise<void> {
  for (const pod of lost) {
    const { nodeName = '' } = pod.spec;
    const node = await fetchNode(deps.kube, nodeName);
    if (node && isOutOfService(node) && !isNodeReady(node)) await failPod(deps, pod, nodeName);
  }
}
