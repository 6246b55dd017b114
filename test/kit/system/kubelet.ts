/**
 * Acts as a kubelet: binds pods to a node and writes their status on a test's command. Everything else (scheduler, controllers, garbage
 * collection, admission) is the real control plane's.
 */

import { NODES, PODS, type Pod, type PodStatus } from '../../../src/core/kube/core.ts';
import type { Kube, KubeObject } from '../../../src/core/kube/types.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';

const NODE = 'test-node';

/** `node`: a name of its own where there are kubelets of several namespaces. */
export async function createKubelet(kube: Kube, namespace: string, node = NODE) {
  // The pod garbage collector removes pods that are bound to a missing node.
  await kube.create(NODES, '', { apiVersion: 'v1', kind: 'Node', metadata: { name: node }, spec: {} } as KubeObject);
  const patch = (name: string, status: PodStatus) =>
    kube.mergePatch(PODS, namespace, name, { status }, { subresource: 'status' });
  const only = (pod: Pod) => pod.spec.containers?.[0]?.name ?? '';
  const conditions = (ready: boolean): NonNullable<PodStatus['conditions']> =>
    ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: type.endsWith('Ready') && !ready ? 'False' : 'True',
      lastTransitionTime: kubeTime(new Date()),
    }));

  return {
    /** Deletes its node. */
    leave: () => kube.delete(NODES, '', node),
    /** Binds a pod that is still unbound. */
    async bind(name: string): Promise<void> {
      const target = { apiVersion: 'v1', kind: 'Node', name: node };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
      const answer = await kube.raw('POST', `/api/v1/namespaces/${namespace}/pods/${name}/binding`, binding);
      if (answer.status >= 300 && answer.status !== 409) throw new Error(answer.text);
    },
    /** Starts the pod's container; `ready` is the result of its readiness probe. */
    async run(name: string, ready: boolean, restartCount = 0, podIP = '10.0.0.1'): Promise<void> {
      const pod = await kube.get(PODS, namespace, name);
      const running = { startedAt: kubeTime(new Date()) };
      await patch(name, {
        phase: 'Running',
        podIP,
        conditions: conditions(ready),
        containerStatuses: [
          { name: only(pod), image: '', imageID: '', ready, started: true, restartCount, state: { running } },
        ],
      });
    },
    /** Ends the pod's container with this message. */
    async end(name: string, exitCode: number, message: string): Promise<void> {
      const pod = await kube.get(PODS, namespace, name);
      const now = kubeTime(new Date());
      const terminated = {
        exitCode,
        reason: exitCode ? 'Error' : 'Completed',
        message,
        startedAt: now,
        finishedAt: now,
      };
      const container = {
        name: only(pod),
        image: '',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { terminated },
      };
      const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
      await patch(name, { phase, conditions: conditions(false), containerStatuses: [container] });
    },
    /** Ends the pod's grace period: kubelet writes how it ended, then deletes the object. */
    async remove(name: string): Promise<void> {
      const pod = await kube.get(PODS, namespace, name).catch(() => undefined);
      if (pod?.spec.nodeName !== undefined) await this.end(name, 0, '').catch(() => undefined);
      await kube.delete(PODS, namespace, name, { gracePeriodSeconds: 0 });
    },
  };
}
export type Kubelet = Awaited<ReturnType<typeof createKubelet>>;
