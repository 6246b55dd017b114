/** Tests which events may replace a stream's pod: a stream that must not be disturbed, preemption, a roll-out of many streams. */
import { describe, expect, test } from 'vitest';
import { PAUSE_IMAGE } from '../kit/real/cluster/config.ts';
import { NAMESPACE } from '../kit/real/cluster/release.ts';
import {
  createStream,
  expectInvisible,
  expectReplacement,
  PATIENCE_MS,
  type Scene,
  seconds,
  waitUntilReady,
} from '../kit/real/cluster/scene.ts';
import { listPods, type WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

interface Pod {
  metadata: { uid: string; labels: Record<string, string> };
  spec: { containers: { image: string; resources?: { requests?: { cpu?: string } } }[] };
  status: { phase: string; conditions?: { type: string; status: string }[] };
}
type Those = () => { scene: Scene; stream: WatchedStream; upload: string };

const milliCpu = (quantity = '0') => (quantity.endsWith('m') ? Number.parseInt(quantity, 10) : Number(quantity) * 1000);
const SIBLINGS = ['sibling-0-of-the-cluster', 'sibling-1-of-the-cluster'];
/** Streams that are on air beside the watched one. */
const siblings: string[] = [];

const inside = (getContext: Those, ...args: string[]) => getContext().scene.release.inside(...args);
const setSpec = (getContext: Those, id: string, spec: object) =>
  inside(getContext, 'patch', 'loopstream', id, '--type=merge', '-p', JSON.stringify({ spec }));
const evict = (getContext: Those, name: string) =>
  getContext().scene.cluster.kube.raw('POST', `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: NAMESPACE },
  });

export function refusalTests(getContext: Those): void {
  test('a polite eviction, for a stream that must not be disturbed', async () => {
    const { scene, stream } = getContext();
    await expectInvisible(scene, stream, 'eviction of a stream with disruptionPolicy: Never, refused', async () => {
      await setSpec(getContext, stream.id, { disruptionPolicy: 'Never' });
      const { name } = (await stream.pod()).metadata;
      await inside(
        getContext,
        'wait',
        `pod/${name}`,
        '--for=jsonpath={.metadata.labels.loopstream\\.dev/disruption}=Never',
      );
      await until('the budget counts it', async () => (await evict(getContext, name)).status === 429, PATIENCE_MS);
    });
    await setSpec(getContext, stream.id, { disruptionPolicy: 'OnDrain' });
  });
}

export function endingTests(getContext: Those): void {
  test('a stream whose time is over is deleted when it has been kept long enough', async () => {
    const { scene, upload } = getContext();
    const id = await createStream(scene, 'ended-key-of-the-cluster', upload);
    await waitUntilReady(scene, id);
    const at = (ms: number) => new Date(Math.ceil(Date.now() / 1000) * 1000 + ms).toISOString();
    // The end is set when it is on air: a window of fixed length can pass before a busy machine has started the pod.
    const schedule = { startAt: at(2000), endAt: at(600_000) };
    await setSpec(getContext, id, { replicas: 1, schedule, ttlSecondsAfterFinished: 3 });
    await inside(getContext, 'wait', `loopstream/${id}`, '--for=condition=Live', '--timeout=60s');
    await setSpec(getContext, id, { schedule: { endAt: at(2000) } });
    await inside(getContext, 'wait', `loopstream/${id}`, '--for=delete', '--timeout=90s');
    expect(await listPods(scene.cluster, `loopstream.dev/stream=${id}`)).toEqual([]);
  });
}

/** Makes the streams of the roll-out. */
export function siblingTests(getContext: Those): void {
  test('go on air at the same time', async () => {
    const { scene, upload } = getContext();
    const start = async (key: string) => {
      const id = await createStream(scene, key, upload);
      await waitUntilReady(scene, id);
      const { body } = await scene.release.call<{ status: string }>('POST', `/streams/${id}/start?wait=60`);
      expect(body.status).toBe('live');
      return id;
    };
    siblings.push(...(await Promise.all(SIBLINGS.map(start))));
  });
}

export function disruptionTests(getContext: Those): void {
  describe('replacement of its pod', () => {
    test('a pod of higher priority that needs the room', async () => {
      const { scene, stream } = getContext();
      const { kubectl } = scene.release;
      const createClass = (name: string, value: number) =>
        kubectl(
          ['apply', '-f', '-'],
          [{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value }],
        );
      // The priority is lower than all others, so that the scheduler chooses it, whichever pod is youngest.
      await createClass('of-lower-priority', -10);
      await expectReplacement(scene, stream, 'spec.template edited', () =>
        setSpec(getContext, stream.id, { template: { priorityClassName: 'of-lower-priority' } }),
      );
      const { nodeName } = (await stream.pod()).spec;
      const here = `--field-selector=spec.nodeName=${nodeName},status.phase=Running`;
      const { items }: { items: Pod[] } = JSON.parse(await kubectl(['get', 'pods', '-A', here, '-o', 'json']));
      const asked = items.flatMap(({ spec }) => spec.containers.map((one) => milliCpu(one.resources?.requests?.cpu)));
      const node = JSON.parse(await scene.release.kubectl(['get', 'node', nodeName, '-o', 'json']));
      const free = milliCpu(node.status.allocatable.cpu) - asked.reduce((sum, cpu) => sum + cpu, 0);
      const cpu = `${free + 20}m`;
      const name = 'of-higher-priority';
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'outside' },
        spec: {
          priorityClassName: name,
          nodeSelector: { 'kubernetes.io/hostname': nodeName },
          containers: [{ name: 'main', image: PAUSE_IMAGE, resources: { requests: { cpu } } }],
        },
      };
      await createClass(name, 1000);
      try {
        await expectReplacement(scene, stream, 'preempted by a pod of higher priority', () =>
          kubectl(['apply', '-f', '-'], [pod]),
        );
      } finally {
        // The next tests need the room, whether this one passes or not.
        await kubectl(['delete', 'pod', name, '-n', 'outside', '--grace-period=0', '--force']);
      }
    });

    test('a roll-out: one stream after the other, each on air again before the next', async () => {
      const { scene, stream } = getContext();
      expect(siblings).toHaveLength(SIBLINGS.length);
      const before = (await stream.pod()).spec.containers[0]?.image;
      let mostAtOnce = 0;
      let fromMs = 0;
      const seenReady = new Set<string>();
      const isNew = ({ spec }: Pod) => spec.containers[0]?.image !== before;
      const watch = async () => {
        const pods = (await listPods<Pod>(scene.cluster, 'loopstream.dev/stream')).filter(
          ({ status }) => status.phase !== 'Succeeded' && status.phase !== 'Failed',
        );
        for (const { metadata, status } of pods)
          if (status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'))
            seenReady.add(metadata.uid);
        const byStream = Map.groupBy(pods, ({ metadata }) => metadata.labels['loopstream.dev/stream']);
        // The time from its second pod until the new one is on air.
        const exchanged = [...byStream.values()].filter(
          (all) => all.length > 1 || all.some((pod) => isNew(pod) && !seenReady.has(pod.metadata.uid)),
        );
        mostAtOnce = Math.max(mostAtOnce, exchanged.length);
        if (exchanged.length > 0) fromMs ||= performance.now();
        return byStream.size === siblings.length + 1 && pods.every(isNew);
      };
      let rolledMs = 0;
      await expectReplacement(scene, stream, 'helm upgrade to another image, three streams on air', async () => {
        const all = until('all of them have the other image', watch, PATIENCE_MS).then(() => {
          rolledMs = performance.now() - fromMs;
        });
        await Promise.all([all, scene.release.upgrade(before?.endsWith(':1') ? '2' : '1', { rolloutSeconds: 5 })]);
      });
      expect(mostAtOnce).toBe(1);
      scene.results.add('… from the first that has it until all three have', seconds(rolledMs), 'one at a time');
      await Promise.all(siblings.map((id) => scene.release.call('POST', `/streams/${id}/stop?wait=60`)));
    });
  });
}
