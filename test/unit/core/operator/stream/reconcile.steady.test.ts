/** Tests the reconcile of a stream on air for which nothing is to do, and that any drift is found and put right. */
import { Session } from 'node:inspector/promises';
import { expect, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { readPodProgram } from '../../../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { FINALIZER, POD_FINALIZER, PROGRAM_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { Operator, Universe } from './universe.ts';

const STREAM = 'loopstreams/bunny';
const POD = 'pods/bunny-onair';

/** A stream on air with an operator; `reconcile` returns how many requests it made. */
async function goLive() {
  const universe = new Universe();
  let requests = 0;
  const operator = new Operator(universe, async () => void requests++);
  const reconcile = async () => {
    requests = 0;
    operator.sync();
    operator.look();
    await operator.busy;
    return requests;
  };
  /** Reconciles, and lets Kubernetes and the streamer do their part, until nothing is left to do. */
  const settle = async () => {
    for (let rounds = 0; rounds < 60; rounds++) {
      const made = await reconcile();
      const steps = universe.steps();
      for (const { run } of steps) run();
      universe.nowMs += 1000;
      if (made === 0 && steps.length === 0) return;
    }
    throw new Error('The stream does not come to rest.');
  };
  await settle();
  expect(universe.stream?.status?.phase).toBe('live');
  return { universe, reconcile, settle };
}

/** The modules of the operator of which `run` enters a named function. */
async function listEntered(run: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true });
    await session.post('Profiler.takePreciseCoverage');
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    // Vitest makes a nameless getter of each export, which reading a constant calls.
    const entered = result.filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
    );
    return entered.flatMap(({ url }) => /\/src\/core\/operator\/(.+)\.ts$/.exec(url)?.[1] ?? []).sort();
  } finally {
    session.disconnect();
  }
}

/** Modules that write, or talk to pods. */
const ACTING = ['stream/apply', 'stream/finalizers', 'stream/secret', 'stream/streamers'];
/** A person who follows the reconcile of a steady stream reads these many modules of the operator at most. */
const MOST_MODULES = 18;

test('a steady stream is observed and judged without a request, and nothing that acts is entered', async () => {
  const { reconcile } = await goLive();
  let requests: number | undefined;
  const entered = await listEntered(async () => {
    requests = await reconcile();
  });
  expect(requests).toBe(0);
  expect(entered).toContain('stream/decide');
  expect(entered.filter((module) => ACTING.includes(module))).toEqual([]);
  expect(entered.length, entered.join(', ')).toBeLessThanOrEqual(MOST_MODULES);
});

type Change = (universe: Universe) => void;

test.each<[string, Change]>([
  [
    'its status is edited',
    (universe) => universe.edit(STREAM, (object) => Object.assign(object.status ?? {}, { phase: 'idle' })),
  ],
  ['its finalizer is removed', (universe) => universe.edit(STREAM, ({ metadata }) => void delete metadata.finalizers)],
  [
    'the finalizer of its pod is removed',
    (universe) => universe.edit(POD, ({ metadata }) => void delete metadata.finalizers),
  ],
  ['its pod is deleted', (universe) => universe.delete(POD, 30)],
  ['its pod is evicted', (universe) => universe.pods.forEach((pod) => void universe.evict(pod))],
  [
    'the program of its pod is edited',
    (universe) =>
      universe.edit(POD, ({ metadata }) => Object.assign(metadata.annotations ?? {}, { [PROGRAM_ANNOTATION]: '{}' })),
  ],
])('after %s, the next reconcile acts, and the stream is live again with all it had', async (_what, change) => {
  const { universe, reconcile, settle } = await goLive();
  change(universe);
  expect(await reconcile()).toBeGreaterThan(0);
  await settle();
  expect(universe.stream).toMatchObject({ metadata: { finalizers: [FINALIZER] }, status: { phase: 'live' } });
  expect(universe.pods).toMatchObject([{ metadata: { finalizers: [POD_FINALIZER] } }]);
  expect(universe.publishing).toEqual([universe.stream?.status?.podUID]);
  expect(readPodProgram(universe.pods[0] as Pod)).toMatchObject({ video: { items: [{ id: 'film' }] } });
});

test.each([
  ['upload', 'uploads/film', 'MediaReady', 'UploadNotFound'],
  ['destination', 'destinations/tv', 'DestinationReady', 'DestinationNotFound'],
])('after its %s is gone, the next reconcile says so, and leaves the pod on air', async (_what, key, type, reason) => {
  const { universe, reconcile, settle } = await goLive();
  const onAir = universe.publishing;
  universe.objects.delete(key);
  expect(await reconcile()).toBeGreaterThan(0);
  expect(findCondition(universe.stream?.status?.conditions, type)).toMatchObject({ status: 'False', reason });
  await settle();
  expect(universe.publishing).toEqual(onAir);
});

test('a pod ends soon when its namespace is being deleted, since no other one can follow', async () => {
  const { universe, settle } = await goLive();
  universe.lingers = true;
  universe.isEnding = true;
  universe.delete(POD, 30);
  await settle();
  expect([universe.publishing, universe.pods]).toEqual([[], []]);
});

test('a pod that has answered to stop is waited for without another request', async () => {
  const { universe, reconcile } = await goLive();
  universe.lingers = true;
  universe.delete(POD, 30);
  const waitsForEnd = (pod: Pod) => universe.steps().some(({ what }) => what === `end ${pod.metadata.uid}`);
  const [first] = universe.pods as [Pod];
  for (let rounds = 0; rounds < 20 && !waitsForEnd(first); rounds++) {
    await reconcile();
    for (const { what, run } of universe.steps()) if (!what.startsWith('end')) run();
  }
  expect(universe.publishing).toEqual([]);
  // The status says what is waited for by now.
  await reconcile();
  const before = universe.requests.length;
  for (let events = 0; events < 3; events++) await reconcile();
  expect(universe.requests.slice(before)).toEqual([]);
});
