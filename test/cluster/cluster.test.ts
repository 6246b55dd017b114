/**
 * Tests the product on a real cluster, from the image to the receiver. It is installed by Helm, used through its Service, and stays on air
 * while nodes, kubelets, operators and pods fail. There is one installation and one stream, so the tests run in sequence. Tests of other
 * streams run beside them where neither disturbs the other (`describeConcurrent`).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeErrors, readTrackPackets } from '../kit/make/media.ts';
import type { Cluster } from '../kit/real/cluster/cluster.ts';
import type { Outside } from '../kit/real/cluster/outside.ts';
import { NAMESPACE, type Release } from '../kit/real/cluster/release.ts';
import type { Results } from '../kit/real/cluster/results.ts';
import {
  createStream,
  describeConcurrent,
  expectInvisible,
  expectReplacement,
  openScene,
  PATIENCE_MS,
  type Scene,
  seconds,
  waitUntilReady,
} from '../kit/real/cluster/scene.ts';
import { type WatchedStream, watchStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';
import { cellTests } from './cells.ts';
import { disruptionTests, endingTests, refusalTests, siblingTests } from './disruption.ts';
import { lifecycleTests } from './lifecycle.ts';
import { describeMachine } from './machine.ts';
import { networkTests } from './network.ts';
import { nodeCostTests } from './node-cost.ts';
import { powerTests } from './power.ts';
import { restoreTests } from './restore.ts';
import { rightsTests, usageTests } from './rights.ts';
import { toolsTests } from './tools.ts';

/** `make test` runs these alone. */
const GATE = { tags: ['gate'] };

const KEY = 'planted-key-of-the-cluster';

let scene: Scene;
let cluster: Cluster;
let outside: Outside;
let release: Release;
let results: Results;
let stream: WatchedStream;
let upload = '';

beforeAll(async () => {
  scene = await openScene();
  ({ cluster, outside, release, results } = scene);
});

afterAll(async () => {
  await scene?.close();
  process.stdout.write(results?.text() ?? '');
  if (process.env.LOOPSTREAM_WRITE_RESULTS === 'true') results?.write(await describeMachine());
});

const create = (key: string, uploadID: string) => createStream(scene, key, uploadID);
const expectUnseen = (what: string, trouble: () => Promise<unknown>) => expectInvisible(scene, stream, what, trouble);
const expectReplaced = (what: string, trouble: () => Promise<unknown>) =>
  expectReplacement(scene, stream, what, trouble);

const readConditions = async (id: string) => {
  const { status } = JSON.parse(await release.inside('get', 'loopstream', id, '-o', 'json'));
  return JSON.stringify(status?.conditions ?? []);
};
const those = () => ({ scene, stream, upload });

describe('the main job', GATE, () => {
  test('from a link to a stream on air, through the Service', async () => {
    const { call, urls } = release;
    const from = performance.now();
    const imported = await call<{ objectID: string }>('POST', '/uploads/from-link', { type: 'VIDEO', url: urls.film });
    upload = imported.body.objectID;
    const id = await createStream(scene, KEY, upload, urls.watched);
    await waitUntilReady(scene, id);
    const started = await call<{ status: string }>('POST', `/streams/${id}/start?wait=60`);
    expect(started.body.status).toBe('live');
    results.add('from the link to live', seconds(performance.now() - from), '');
    stream = watchStream(cluster, outside.meter, id);
  });

  test('the replicas of each role are on different nodes', async () => {
    for (const role of ['api', 'operator']) {
      const pods = await release.service('get', 'pods', '-l', `app.kubernetes.io/component=${role}`, '-o', 'json');
      const nodes = JSON.parse(pods).items.map(({ spec }: { spec: { nodeName: string } }) => spec.nodeName);
      expect(nodes.sort(), role).toEqual(cluster.nodes.map(({ layout }) => layout.name).sort());
    }
  });

  test('no media pod has a token, and all of them fit Pod Security `restricted`', async () => {
    const { metadata, spec } = await stream.pod();
    const jobs = JSON.parse(
      await release.inside('get', 'pods', '-l', 'app.kubernetes.io/component=prepare', '-o', 'json'),
    );
    const volumes = [
      ...spec.volumes,
      ...jobs.items.flatMap((pod: typeof stream) => (pod as never as { spec: typeof spec }).spec.volumes),
    ];
    expect(JSON.stringify(volumes)).not.toMatch(/serviceAccountToken|kube-api-access/);
    const look = `const { existsSync, readdirSync, readFileSync } = require('node:fs');
      for (const dir of ['/var/run/secrets', '/run/secrets']) if (existsSync(dir)) console.log(...readdirSync(dir));
      console.log(readFileSync('/proc/self/mounts', 'utf8'));
      console.log(process.getuid());`;
    const told = await release.inside('exec', metadata.name, '--', 'node', '-e', look);
    expect(told).toContain('proc /proc');
    expect(told).not.toMatch(/serviceaccount/);
    expect(told.trim().split('\n').at(-1)).toBe('10001');
    expect(told).not.toContain(KEY);
  });

  test('the image of a stream has nothing that reads media but the program that sends it, which knows few protocols', async () => {
    const { metadata } = await stream.pod();
    const runInPod = (...words: string[]) => release.inside('exec', metadata.name, '--', ...words);
    const programs = `console.log(require('node:fs').readdirSync('/usr/local/bin').sort().join(' '))`;
    expect(await runInPod('node', '-e', programs)).toBe('ffmpeg-send node\n');
    const words = (await runInPod('ffmpeg-send', '-hide_banner', '-protocols')).split(/\s+/);
    const sent = [...new Set(words)].filter((word) => /^[a-z]+$/.test(word)).sort();
    expect(sent).toEqual(['file', 'pipe', 'rtmp', 'srt', 'tcp']);
  });
});

// The next tests run side by side where that is possible: other streams, and read-only checks.
describeConcurrent('the main job, as it goes on', () => {
  test('nothing at all, to compare with', () =>
    expectUnseen('nothing (media comes in bursts of this size)', async () => undefined));

  test('the receiver got each packet in its order, and pictures and sound are complete', GATE, async () => {
    await until('more than three loops have arrived', () => outside.meter.steadyMs() > 15_000, PATIENCE_MS);
    const [recording = ''] = await outside.recordings(KEY);
    const [video, audio] = [await readTrackPackets(recording, 'v'), await readTrackPackets(recording, 'a')];
    expect(video.dts.length).toBeGreaterThan(3 * 4 * 30);
    expect(video.notIncreasing + audio.notIncreasing).toBe(0);
    expect(video.maxStep).toBeLessThanOrEqual(1 / 30 + 0.0015);
    expect(audio.maxStep).toBeLessThanOrEqual(1024 / 48_000 + 0.0015);
    // The file is still being written: its end may be half a picture.
    expect(
      (await decodeErrors(recording)).split('\n').filter((line) => line && !/Truncat|EOF|end of/i.test(line)),
    ).toEqual([]);
  });
});
describeConcurrent('a stream that ends', () => endingTests(those));
describeConcurrent('what pods may connect to', () => networkTests(those));
describeConcurrent('what the release may do is what it did', () => usageTests(those));
// Alone: other work on the nodes would be taken for that of streams.
nodeCostTests(those);
// Alone: what it prepares would take the places that the tests above give to their own films.
toolsTests(those);

describe('invisible faults', () => {
  test('the operator that leads is killed', () =>
    expectUnseen('operator that leads killed', async () => {
      const lease = () =>
        release.inside('get', 'lease', 'loopstream-operator', '-o', 'jsonpath={.spec.holderIdentity}');
      const leader = await lease();
      const pods = (await release.service('get', 'pods', '-o', 'name')).split('\n');
      const pod = pods.find((name) => name && leader.includes(name.replace('pod/', '')));
      await release.service('delete', pod ?? leader, '--grace-period=0', '--force');
      await until('another one leads', async () => (await lease()) !== leader, PATIENCE_MS);
    }));

  test('kubelet is killed and comes back', () =>
    expectUnseen('kubelet killed, away for 10 s', async () => {
      const node = stream.findNode(await stream.pod());
      await node.kill('kubelet');
      const from = performance.now();
      await until('ten seconds have passed', () => performance.now() - from > 10_000);
      await node.start('kubelet');
    }));

  test('kubelet and containerd of its node are killed and started', () =>
    expectUnseen('node restarted (kubelet and containerd)', async () => {
      const node = stream.findNode(await stream.pod());
      await node.kill('kubelet');
      await node.kill('containerd');
      await node.start('containerd');
      await node.start('kubelet');
    }));

  test('the release is upgraded, the image of streams is the same', () =>
    expectUnseen('helm upgrade, streams’ image unchanged', () => release.upgrade('1', { workers: 4 })));

  test('and rolled back', () => expectUnseen('helm rollback', () => release.helms.four.rollback()));
});

describeConcurrent('what leaves its pod where it is', () => {
  test('the container is killed for want of memory, and started again', async () => {
    const before = await stream.pod();
    const name = before.metadata.name;
    // The process makes itself the kernel's last choice, so that the streamer is killed.
    const eat = `require('node:fs').writeFileSync('/proc/self/oom_score_adj', '0');
      const a = []; for (;;) a.push(Buffer.alloc(4 << 20, 1))`;
    const gap = await stream.gap(async () => {
      await cluster.kubectl(['-n', NAMESPACE, 'exec', name, '--', 'node', '-e', eat]);
      await until(
        'it was killed',
        async () => {
          const [container] = (await stream.pod()).status.containerStatuses;
          return container?.lastState.terminated?.reason === 'OOMKilled';
        },
        PATIENCE_MS,
      );
    });
    results.add(
      'container killed for want of memory',
      seconds(gap),
      'the same pod, its container started anew by kubelet',
    );
    expect((await stream.pod()).metadata.uid).toBe(before.metadata.uid);
    expect(gap).toBeLessThan(60_000);
  });

  refusalTests(those);
});
describeConcurrent('what keeps another stream off air is said in its conditions', () => {
  const quota = (pods: string) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'pods', namespace: NAMESPACE },
    spec: { hard: { pods } },
  });

  test('a quota that leaves no pod; and once it is gone the stream goes on air', async () => {
    const id = await create('second-key-of-the-cluster', upload);
    await waitUntilReady(scene, id);
    await release.kubectl(['apply', '-f', '-'], [quota('1')]);
    await until(
      'the quota counts',
      async () =>
        /"pods":\s*"\d+"/.test(
          JSON.stringify(
            JSON.parse(await release.inside('get', 'resourcequota', 'pods', '-o', 'json')).status?.used ?? {},
          ),
        ),
      PATIENCE_MS,
    );
    await release.call('POST', `/streams/${id}/start`);
    const told = await until(
      'the condition says so',
      async () => {
        const text = await readConditions(id);
        return /exceeded quota/.test(text) ? text : undefined;
      },
      PATIENCE_MS,
    );
    const from = performance.now();
    await release.inside('delete', 'resourcequota', 'pods');
    await release.inside('wait', `loopstream/${id}`, '--for=condition=Live', '--timeout=150s');
    const reason = /exceeded quota[^"\\]*/.exec(told)?.[0];
    results.add('quota exceeded', '–', `${reason}; live ${seconds(performance.now() - from)} after it was taken away`);
    await release.call('POST', `/streams/${id}/stop?wait=60`);
  });
});

describe('faults that replace the pod', () => {
  const drain = async (time: string) => {
    const { nodeName } = (await stream.pod()).spec;
    const how = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=180s'];
    try {
      const what = `kubectl drain of its node, the ${time} time`;
      await expectReplaced(what, () => release.kubectl(['drain', nodeName, ...how]));
      expect((await stream.pod()).spec.nodeName).not.toBe(nodeName);
    } finally {
      // The next tests need both nodes, whether this one passes or not.
      await release.kubectl(['uncordon', nodeName]);
    }
  };

  test('its node is drained, the first time', GATE, () => drain('first'));
  // How long kubelet takes to say that the first pod has ended differs by a second and more, so one time says little.
  test.each(['second', 'third'])('its node is drained, the %s time', drain);
});

describeConcurrent('what takes its pod', () => {
  test('it is evicted through the API', () =>
    expectReplaced('eviction API', async () => {
      const { metadata } = await stream.pod();
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: metadata.name, namespace: NAMESPACE },
      };
      const answer = await cluster.kube.raw(
        'POST',
        `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}/eviction`,
        eviction,
      );
      expect(answer.status, answer.text).toBe(201);
    }));
});
describeConcurrent('more streams', () => siblingTests(those));

disruptionTests(those);

describe('conditions show why another stream is off air', () => {
  test('an image that is nowhere; and the stream that is on air stays', async () => {
    const operator = 'deployment/loopstream-operator';
    const set = async (image: string) => {
      await release.service('set', 'env', operator, `LOOPSTREAM_IMAGE=${image}`);
      await release.service('rollout', 'status', operator, '--timeout=150s');
    };
    const variable = '.spec.template.spec.containers[0].env[?(@.name=="LOOPSTREAM_IMAGE")].value';
    const before = await release.service('get', operator, '-o', `jsonpath={${variable}}`);
    expect(before).toContain(':');
    try {
      await expectUnseen('image missing, for another stream', async () => {
        // The destination has no listener, which shows at once.
        const [id] = await Promise.all([
          create('third-key-of-the-cluster', upload),
          set(`${cluster.layout.gateway}:1/loopstream:gone`),
        ]);
        await waitUntilReady(scene, id);
        await release.call('POST', `/streams/${id}/start`);
        await until(
          'the condition says so',
          async () => /ErrImagePull|ImagePullBackOff/.test(await readConditions(id)),
          PATIENCE_MS,
        );
        await release.call('POST', `/streams/${id}/stop?wait=60`);
      });
    } finally {
      // The next tests need Jobs.
      await set(before);
    }
  });
});

powerTests(those);
// A right to call pods failed is used when a node loses its power.
rightsTests(those);
cellTests(those);
restoreTests(those);
lifecycleTests(those);
