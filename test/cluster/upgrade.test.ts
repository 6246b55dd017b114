/**
 * Rehearses the upgrade from the last release that knew only v1alpha1, as docs/upgrade.md describes it, on a real cluster with streams on air:
 * both ways, with writes to the API all the time.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CRDS } from '../../src/kube/core.ts';
import type { KubeObject, Resource } from '../../src/kube/types.ts';
import { DEFINITION_NAMES } from '../../src/resources/common/names.ts';
import { environment } from '../../src/settings/environment.ts';
import { CHART } from '../../tools/generate/chart/generate.ts';
import { PROJECT_ROOT } from '../../tools/process/root.ts';
import { runOrThrow } from '../kit/real/cluster/command.ts';
import { knowsLastRelease, LAST_TAG, provideLastRelease } from '../kit/real/cluster/last-release.ts';
import { NAMESPACE } from '../kit/real/cluster/release.ts';
import {
  createStream,
  openScene,
  PATIENCE_MS,
  type Scene,
  seconds,
  waitUntilReady,
} from '../kit/real/cluster/scene.ts';
import { type WatchedStream, watchStream } from '../kit/real/cluster/stream.ts';
import { readStoredObjects } from '../kit/real/etcd.ts';
import { until } from '../kit/wait.ts';

const KEYS = {
  watched: 'watched-through-the-upgrade',
  other: 'other-through-the-upgrade',
  kubectl: 'kubectl-through-the-upgrade',
};
/** Streams change their image later, which test/cluster/cluster.test.ts measures. */
const OPERATOR = { rolloutSeconds: 3600 };
/** Media comes in bursts of half a second, which a busy machine delays. A container that starts again takes longer. */
const MAX_GAP_MS = 2_000;

let work = '';
let scene: Scene;
let stream: WatchedStream;
let writer: ReturnType<typeof writeAllTheTime>;
let ids: string[] = [];
let uploadID = '';

const isKnown = await knowsLastRelease();
const suite = describe.skipIf(!isKnown);

beforeAll(async () => {
  if (!isKnown) return;
  work = await mkdtemp(join(tmpdir(), 'loopstream-upgrade-'));
  scene = await openScene(async (cluster) => ({ chart: await provideLastRelease(cluster, work), tag: LAST_TAG }));
});
afterAll(async () => {
  await writer?.stop();
  await scene?.close();
  process.stdout.write(scene?.results.text() ?? '');
  if (work) await rm(work, { recursive: true, force: true });
});

/** A manifest as somebody wrote it for the last release. */
const manifests = (uploadRef: string) => [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'by-hand' },
    stringData: { rtmpUrl: scene.release.urls.receiver, rtmpKey: KEYS.kubectl },
  },
  {
    apiVersion: 'loopstream.dev/v1alpha1',
    kind: 'Destination',
    metadata: { name: 'by-hand' },
    spec: { secretName: 'by-hand' },
  },
  {
    apiVersion: 'loopstream.dev/v1alpha1',
    kind: 'LoopStream',
    metadata: { name: 'by-hand' },
    spec: { quality: '720p', framerate: 30, uploadRef, destinationRefs: ['by-hand'], onItemFailure: 'Skip' },
  },
];

/** Renames a stream again and again. A write fails where the API does not answer, or answers with an error of its own. */
function writeAllTheTime(id: string) {
  const { call } = scene.release;
  const outcomes: { at: number; ok: boolean }[] = [];
  let going = true;
  const write = async () => {
    while (going) {
      const answer = await call('PATCH', `/streams/${id}`, { name: `write ${outcomes.length}` }).catch(() => ({
        status: 0,
      }));
      outcomes.push({ at: performance.now(), ok: answer.status === 200 });
      await until('the next write', () => performance.now() - (outcomes.at(-1)?.at ?? 0) > 250);
    }
  };
  const done = write();
  return {
    /** Of the writes since a moment: how many, how many failed, and the longest time in which none succeeded. */
    since: (from: number) => {
      const own = outcomes.filter(({ at }) => at >= from);
      const good = [from, ...own.filter(({ ok }) => ok).map(({ at }) => at)];
      const waits = good.slice(1).map((at, i) => at - (good[i] ?? at));
      return { all: own.length, failed: own.filter(({ ok }) => !ok).length, longestMs: Math.max(0, ...waits) };
    },
    stop: () => {
      going = false;
      return done;
    },
  };
}

/** Runs a step, expects that no stream notices it, and adds it to the table. */
async function expectOnAir(what: string, step: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  const before = await stream.pod();
  const gap = await stream.gap(step);
  const after = await stream.pod();
  const { all, failed, longestMs } = writer.since(from);
  scene.results.add(
    what,
    seconds(gap),
    `${failed} of ${all} writes failed; ${seconds(longestMs)} without one that succeeded, at most`,
  );
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(gap).toBeLessThan(MAX_GAP_MS);
  for (const id of [...ids, 'by-hand'])
    expect(await scene.release.inside('get', `loopstream/${id}`, '-o', 'jsonpath={.status.phase}'), id).toBe('live');
}

const readStorage = async () => {
  type Definition = KubeObject<{ versions: { name: string; storage: boolean }[] }, { storedVersions: string[] }>;
  const all = await Promise.all(
    DEFINITION_NAMES.map((name) => scene.cluster.kube.get(CRDS as Resource<Definition>, '', name)),
  );
  return [
    ...new Set(
      all.map(
        ({ spec, status }) =>
          `${spec.versions.find(({ storage }) => storage)?.name}, stored: ${status?.storedVersions}`,
      ),
    ),
  ];
};
/** The versions in which etcd has objects. */
const readVersions = async () => {
  const stored = await readStoredObjects(scene.cluster.plane);
  expect(stored.length).toBeGreaterThan(5);
  return [...new Set(stored.map(({ apiVersion }) => apiVersion))];
};
const migrate = (...args: string[]) =>
  runOrThrow(process.execPath, [join(PROJECT_ROOT, 'src/main.ts'), 'crds', 'migrate', ...args], {
    env: { ...environment(), KUBECONFIG: scene.cluster.plane.kubeconfig },
    timeoutMs: 240_000,
  });
const upgrade = () => scene.release.helms.four.upgradeAndWait(scene.release.values('1', OPERATOR), CHART);
const applyOld = () => scene.release.kubectl(['-n', NAMESPACE, 'apply', '-f', '-'], manifests(uploadID));

suite('the last release', () => {
  test('has two streams on air from the API and one from kubectl', async () => {
    const { call, urls, inside } = scene.release;
    const { body } = await call<{ objectID: string }>('POST', '/uploads/from-link', { type: 'VIDEO', url: urls.film });
    uploadID = body.objectID;
    ids = [
      await createStream(scene, KEYS.watched, uploadID, urls.watched),
      await createStream(scene, KEYS.other, uploadID),
    ];
    await applyOld();
    for (const id of ids) {
      await waitUntilReady(scene, id);
      await call('POST', `/streams/${id}/start?wait=60`);
    }
    for (const id of [...ids, 'by-hand'])
      await inside('wait', `loopstream/${id}`, '--for=jsonpath={.status.phase}=live', '--timeout=150s');
    stream = watchStream(scene.cluster, scene.outside.meter, ids[0] ?? '');
    writer = writeAllTheTime(ids[1] ?? '');
    expect(await readStorage()).toEqual(['v1alpha1, stored: v1alpha1']);
  });
});

suite('there and back', () => {
  test('helm upgrade --wait is not seen on air, and objects are still stored as v1alpha1', async () => {
    await expectOnAir('helm upgrade from the last release', upgrade);
    expect(await readStorage()).toEqual(['v1alpha1, stored: v1alpha1']);
    expect(await applyOld()).toMatch(/loopstream.*by-hand (unchanged|configured)/);
  });

  test('after a migration to v1beta1 and one back, neither of which is seen on air, helm rollback is possible', async () => {
    await expectOnAir('loopstream crds migrate', () => migrate());
    expect(await readVersions()).toEqual(['loopstream.dev/v1beta1']);
    await expectOnAir('loopstream crds migrate --to v1alpha1', () => migrate('--to', 'v1alpha1'));
    expect(await readVersions()).toEqual(['loopstream.dev/v1alpha1']);
    await expectOnAir('helm rollback to the last release', () => scene.release.helms.four.rollback());
    expect(await readStorage()).toEqual(['v1alpha1, stored: v1alpha1']);
    await expectOnAir('loopstream crds migrate --to v1alpha1 after it', () => migrate('--to', 'v1alpha1'));
    const { inside } = scene.release;
    await inside('patch', 'loopstream/by-hand', '--type=merge', '-p', '{"spec":{"displayName":"seen again"}}');
    const generation = await inside('get', 'loopstream/by-hand', '-o', 'jsonpath={.metadata.generation}');
    await inside(
      'wait',
      'loopstream/by-hand',
      `--for=jsonpath={.status.observedGeneration}=${generation}`,
      '--timeout=60s',
    );
  });
});

suite('for good', () => {
  test('upgraded and migrated, every object is stored as v1beta1, and the next upgrade keeps that', async () => {
    await expectOnAir('helm upgrade once more', upgrade);
    await expectOnAir('loopstream crds migrate once more', () => migrate());
    expect(await readVersions()).toEqual(['loopstream.dev/v1beta1']);
    await expectOnAir('helm upgrade after the migration', upgrade);
    expect(await readStorage()).toEqual(['v1beta1, stored: v1beta1']);
  });

  test('manifests of the last release can still be applied', async () => {
    expect(await applyOld()).toMatch(/loopstream.*by-hand (unchanged|configured)/);
  });

  test('without an operator, kubectl shows streams and they stay on air', async () => {
    const { service, inside } = scene.release;
    await expectOnAir('no operator', async () => {
      await service('scale', 'deployment/loopstream-operator', '--replicas=0');
      try {
        await service('wait', 'pods', '-l', 'app.kubernetes.io/component=operator', '--for=delete', '--timeout=120s');
        // kubectl remembers for hours which version it prefers, and the last release had only the other one.
        expect(await inside('get', 'loop', '--cache-dir', join(work, 'cache'))).toContain('by-hand');
      } finally {
        await service('scale', 'deployment/loopstream-operator', '--replicas=2');
        await service('rollout', 'status', 'deployment/loopstream-operator', '--timeout=200s');
      }
    });
  });
});

test.skipIf(!isKnown)('the namespace of the streams goes', async () => {
  await writer.stop();
  const { all, failed } = writer.since(0);
  scene.results.add('writes to the API during all of it', `${all}`, `${failed} failed`);
  await scene.release.kubectl(['delete', 'namespace', NAMESPACE, '--timeout=120s']);
  await until('nothing is on air', () => scene.outside.meter.silence(performance.now()).currentMs > 4000, PATIENCE_MS);
});
