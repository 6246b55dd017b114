/** What may take a stream's pod and what may not: a stream that is not to be disturbed, preemption, a roll-out of many streams. */
import { describe, expect, test } from 'vitest';
import { PAUSE_IMAGE } from '../support/cluster/config.ts';
import { createStream, PATIENCE_MS, ready, replaced, type Scene, seconds, unseen } from '../support/cluster/scene.ts';
import type { WatchedStream } from '../support/cluster/stream.ts';
import { until } from '../support/rtmp.ts';

interface PodList {
  items: {
    metadata: { name: string; labels: Record<string, string>; creationTimestamp: string; deletionTimestamp?: string };
    spec: { nodeName?: string; containers: { image: string; resources?: { requests?: { cpu?: string } } }[] };
  }[];
}

const milliCpu = (quantity = '0') => (quantity.endsWith('m') ? Number.parseInt(quantity, 10) : Number(quantity) * 1000);
const SIBLINGS = 2;

export function disruptionTests(of: () => { scene: Scene; stream: WatchedStream; upload: string }): void {
  const inside = (...args: string[]) => of().scene.release.inside(...args);
  const podsOf = async (...where: string[]) =>
    JSON.parse(await of().scene.release.kubectl(['get', 'pods', ...where, '-o', 'json'])) as PodList;
  const evict = (name: string) =>
    of().scene.cluster.kube.raw('POST', `/api/v1/namespaces/loopstream/pods/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'loopstream' },
    });
  const setSpec = (id: string, spec: object) =>
    inside('patch', 'loopstream', id, '--type=merge', '-p', JSON.stringify({ spec }));

  describe('who may take its pod', () => {
    test('nobody who asks first, when the stream is not to be disturbed', async () => {
      const { scene, stream } = of();
      await unseen(scene, stream, 'eviction of a stream with disruption: Never, refused', async () => {
        await setSpec(stream.id, { disruption: 'Never' });
        const { name } = (await stream.pod()).metadata;
        await inside('wait', `pod/${name}`, '--for=jsonpath={.metadata.labels.loopstream\\.dev/disruption}=Never');
        await until('the budget counts it', async () => (await evict(name)).status === 429, PATIENCE_MS);
      });
      await setSpec(stream.id, { disruption: 'OnDrain' });
    });

    test('a pod of higher priority that needs the room', async () => {
      const { scene, stream } = of();
      const { kubectl } = scene.release;
      const classOf = (name: string, value: number) =>
        kubectl(
          ['apply', '-f', '-'],
          [{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value }],
        );
      // Lower than everything else here, so that it is the one that the scheduler takes, whoever is youngest.
      await classOf('of-lower-priority', -10);
      await replaced(scene, stream, 'spec.template edited', () =>
        setSpec(stream.id, { template: { priorityClassName: 'of-lower-priority' } }),
      );
      const { nodeName } = (await stream.pod()).spec;
      const { items } = await podsOf('-A', `--field-selector=spec.nodeName=${nodeName},status.phase=Running`);
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
      await classOf(name, 1000);
      try {
        await replaced(scene, stream, 'preempted by a pod of higher priority', () =>
          kubectl(['apply', '-f', '-'], [pod]),
        );
      } finally {
        // Whatever came of it, the tests after this one need the room.
        await kubectl(['delete', 'pod', name, '-n', 'outside', '--grace-period=0', '--force']);
      }
    });

    test('a roll-out: one stream after the other, each on air again before the next', async () => {
      const { scene, stream, upload } = of();
      const others: string[] = [];
      for (let n = 0; n < SIBLINGS; n++) {
        const id = await createStream(scene, `sibling-${n}-of-the-cluster`, upload);
        await ready(scene, id);
        await scene.release.call('POST', `/streams/${id}/start?wait=60`);
        others.push(id);
      }
      const image = async () => (await stream.pod()).spec.containers[0]?.image;
      const before = await image();
      const mostAtOnce = { streams: 0 };
      const watch = async () => {
        const { items } = await podsOf('-n', 'loopstream', '-l', 'loopstream.dev/stream');
        const byStream = Map.groupBy(items, ({ metadata }) => metadata.labels['loopstream.dev/stream'] ?? '');
        const exchanged = [...byStream.values()].filter((pods) => pods.length > 1);
        mostAtOnce.streams = Math.max(mostAtOnce.streams, exchanged.length);
        return byStream.size === others.length + 1 && items.every(({ spec }) => spec.containers[0]?.image !== before);
      };
      let rolledMs = 0;
      await replaced(scene, stream, 'helm upgrade to another image, three streams on air', async () => {
        await scene.release.upgrade(before?.endsWith(':1') ? '2' : '1', { rolloutSeconds: 5 });
        const from = performance.now();
        await until('all of them have the other image', watch, PATIENCE_MS);
        rolledMs = performance.now() - from;
      });
      expect(mostAtOnce.streams).toBe(1);
      scene.results.add('… until all three have it', seconds(rolledMs), 'one at a time');
      for (const id of others) await scene.release.call('POST', `/streams/${id}/stop?wait=60`);
    });
  });

  test('a stream whose time is over is deleted when it has been kept long enough', async () => {
    const { scene, upload } = of();
    const id = await createStream(scene, 'ended-key-of-the-cluster', upload);
    await ready(scene, id);
    const at = (ms: number) => new Date(Math.ceil(Date.now() / 1000) * 1000 + ms).toISOString();
    // The end is set when it is on air: a window of fixed length can pass before a busy machine has started the pod.
    const schedule = { startAt: at(2000), endAt: at(600_000) };
    await setSpec(id, { replicas: 1, schedule, ttlSecondsAfterFinished: 3 });
    await inside('wait', `loopstream/${id}`, '--for=condition=Live', '--timeout=60s');
    await setSpec(id, { schedule: { endAt: at(2000) } });
    await inside('wait', `loopstream/${id}`, '--for=delete', '--timeout=90s');
    const left = await podsOf('-n', 'loopstream', '-l', `loopstream.dev/stream=${id}`);
    expect(left.items).toEqual([]);
  });
}
