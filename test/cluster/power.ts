/** Tests the sudden loss of a node, after which it is unknown whether its pods still publish. */
import { expect, test } from 'vitest';
import { PATIENCE_MS, type Scene, seconds } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

export function powerTests(getContext: () => { scene: Scene; stream: WatchedStream }): void {
  test('its node loses its power: another pod publishes when the node is marked out of service, and not before', async () => {
    const { scene, stream } = getContext();
    const { release, outside, results } = scene;
    const before = await stream.pod();
    const { nodeName } = before.spec;
    const node = stream.findNode(before);
    let toldMs = 0;
    let goneMs = 0;
    const gap = await stream.gap(async () => {
      await node.cutPower();
      const cut = performance.now();
      await release.kubectl(['wait', `node/${nodeName}`, '--for=condition=Ready=Unknown', '--timeout=150s']);
      // Kubernetes then marks its pods not ready.
      await release.inside('wait', `pod/${before.metadata.name}`, '--for=condition=Ready=False', '--timeout=60s');
      expect((await stream.pod()).metadata.uid).toBe(before.metadata.uid);
      expect(outside.meter.silence(cut).currentMs).toBeGreaterThan(performance.now() - cut - 1000);
      await release.kubectl(['taint', 'node', nodeName, `${OUT_OF_SERVICE}=nodeshutdown:NoExecute`]);
      const told = performance.now();
      await stream.gone(before.metadata.uid);
      const gone = performance.now();
      await until('media comes again', () => outside.meter.silence(told).currentMs < 500, PATIENCE_MS);
      toldMs = performance.now() - told;
      goneMs = performance.now() - gone;
    });
    const after = await stream.pod();
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(after.spec.nodeName).not.toBe(nodeName);
    const how = `another pod, on the other node, ${seconds(toldMs)} after it was said that the first is out of service`;
    results.add('power loss of its node', seconds(gap), how);
    // The operator does, or the garbage collector, which looks every 20 s (pkg/controller/podgc).
    results.add('… after the first pod is called failed', seconds(goneMs), 'the next pod starts meanwhile');

    const again = await stream.gap(async () => {
      await node.boot();
      await release.kubectl(['taint', 'node', nodeName, `${OUT_OF_SERVICE}-`]);
      await release.kubectl(['wait', `node/${nodeName}`, '--for=condition=Ready', '--timeout=150s']);
      for (const name of ['operator', 'api'])
        await release.service('rollout', 'status', `deployment/loopstream-${name}`, '--timeout=150s');
    });
    results.add('… and when the node is back', seconds(again), 'the same pod, not started anew');
    expect(again).toBeLessThan(15_000);
    expect((await stream.pod()).metadata.uid).toBe(after.metadata.uid);
  });
}
