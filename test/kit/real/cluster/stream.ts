/** Provides the observed stream: its pod, and the gap that a fault leaves at the receiver. */
import { until } from '../../wait.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import type { Meter } from './outside.ts';
import { NAMESPACE } from './release.ts';

const STEADY_MS = 5_000;
const RECOVERY_MS = 150_000;

interface PodFacts {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName: string; volumes: Record<string, unknown>[]; containers: { name: string; image: string }[] };
  status: {
    phase: string;
    containerStatuses: {
      restartCount: number;
      containerID: string;
      lastState: { terminated?: { reason: string } };
    }[];
  };
}

/** Returns pods of the streams' namespace by their labels. Tests call it often, so it starts no program. */
export async function listPods<T = PodFacts>({ kube }: Cluster, labels: string): Promise<T[]> {
  const { status, text } = await kube.raw(
    'GET',
    `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(labels)}`,
  );
  if (status !== 200) throw new Error(`the pods could not be read: ${status} ${text}`);
  return (JSON.parse(text) as { items: T[] }).items;
}

export function watchStream(cluster: Cluster, meter: Meter, id: string) {
  const pods = async () =>
    (await listPods(cluster, `loopstream.dev/stream=${id}`)).filter(({ status }) => status.phase === 'Running');
  const pod = async (): Promise<PodFacts> => {
    const one = (await pods()).find(({ metadata }) => !metadata.deletionTimestamp);
    if (!one) throw new Error('the stream has no running pod');
    return one;
  };
  const findNode = ({ spec }: PodFacts): ClusterNode => {
    const found = cluster.nodes.find(({ layout }) => layout.name === spec.nodeName);
    if (!found) throw new Error(`no node ${spec.nodeName}`);
    return found;
  };
  /** Returns the longest silence in milliseconds, from before the fault until the stream is steadily on air again. */
  const gap = async (trouble: () => Promise<unknown>): Promise<number> => {
    await until('the stream is steadily on air', () => meter.steadyMs() > 3000, RECOVERY_MS);
    const from = performance.now();
    await trouble();
    const after = performance.now();
    await until(
      'the stream is on air again',
      () => performance.now() - after > STEADY_MS && meter.steadyMs() > STEADY_MS,
      RECOVERY_MS,
    );
    return meter.silence(from).longestMs;
  };
  /** Waits until no process of that pod runs any more. */
  const gone = (uid: string) =>
    until('the pod is gone', async () => (await pods()).every(({ metadata }) => metadata.uid !== uid), RECOVERY_MS);
  return { id, pod, gone, findNode, gap };
}
export type WatchedStream = ReturnType<typeof watchStream>;
