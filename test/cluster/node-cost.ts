/**
 * Measures what streams take of their nodes: all processes of both nodes, with the pods' shims and pause containers, kubelet and
 * containerd, before and after there are more streams. The kernel's own memory is not counted.
 */
import { expect, test } from 'vitest';
import { parseBytes } from '../../src/core/kube/quantity.ts';
import { sumCpuSeconds, sumPssMib } from '../bench/processes.ts';
import { listMembers } from '../kit/real/cluster/cgroups.ts';
import { createStream, PATIENCE_MS, type Scene, waitUntilReady } from '../kit/real/cluster/scene.ts';
import { listPods } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

const STREAMS = 8;
/** Kubelet's own rounds (status, volumes, housekeeping) come every ten seconds or more often. */
const WINDOW_MS = 30_000;
/** The shim, the pause container and kubelet's records of a pod, which no pod requests. */
const OVERHEAD_MIB = 24;

interface PodRequests {
  spec: { containers: { resources: { requests: { memory: string } } }[] };
}

/** Processor seconds a second, and MiB, of all processes of the nodes over one window. */
async function measureNodes({ cluster }: Scene): Promise<{ cpu: number; pssMib: number }> {
  const pids = () => cluster.nodes.flatMap(({ layout }) => listMembers(layout.id));
  const [before, fromMs] = [sumCpuSeconds(pids()), performance.now()];
  await until('the window has passed', () => performance.now() - fromMs > WINDOW_MS, WINDOW_MS);
  const seconds = (performance.now() - fromMs) / 1000;
  return { cpu: (sumCpuSeconds(pids()) - before) / seconds, pssMib: sumPssMib(pids()) };
}

export function nodeCostTests(getContext: () => { scene: Scene; upload: string }): void {
  test('a stream takes no more memory of its node than its pod requests, and little for its shim', async () => {
    const { scene, upload } = getContext();
    const { call } = scene.release;
    const start = async (key: string) => {
      const id = await createStream(scene, key, upload);
      await waitUntilReady(scene, id);
      const { body } = await call<{ status: string }>('POST', `/streams/${id}/start?wait=60`);
      expect(body.status).toBe('live');
      return id;
    };
    const without = await measureNodes(scene);
    const ids = await Promise.all(Array.from({ length: STREAMS }, (_, i) => start(`cost-${i}-of-the-cluster`)));
    // The start itself is over after some seconds.
    const fromMs = performance.now();
    await until('the streams have played for a while', () => performance.now() - fromMs > WINDOW_MS / 3, PATIENCE_MS);
    const withThem = await measureNodes(scene);
    const pods = await listPods<PodRequests>(scene.cluster, `loopstream.dev/stream=${ids[0]}`);
    await Promise.all(ids.map((id) => call('POST', `/streams/${id}/stop?wait=60`)));
    const cpu = (withThem.cpu - without.cpu) / STREAMS;
    const pssMib = (withThem.pssMib - without.pssMib) / STREAMS;
    scene.results.add(
      'one more stream on a node, shim and kubelet included',
      `${(cpu * 100).toFixed(2)} % of a core, ${pssMib.toFixed(1)} MiB`,
      `${Math.floor(1 / cpu)} streams on one core, ${Math.floor(1024 / pssMib)} in one GiB`,
    );
    // Processor time depends on what else the machine does; memory does not.
    const requested = parseBytes(pods[0]?.spec.containers[0]?.resources.requests.memory) ?? 0;
    expect(pssMib).toBeLessThanOrEqual(requested / 2 ** 20 + OVERHEAD_MIB);
  });
}
