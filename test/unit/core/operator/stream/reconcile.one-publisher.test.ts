/**
 * Tests that one stream has one publisher, in any order of events. Two real operators with caches of different ages run at once, against a
 * model of the API server, kubelets and streamers.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { acquirePublisher, ensureSecret } from '../../../../../src/core/operator/stream/secret.ts';
import { createViewKeys } from '../../../../../src/core/operator/stream/view-keys.ts';
import { FINALIZER, streamSecretName } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { makePod, stream, world } from '../../../../kit/make/operator.ts';
import { GRANTED_UID, makeGrantedPod } from './granted-pod.ts';
import { NODES, Operator, Universe } from './universe.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

const withKeys = (kube: Kube) => ({ kube, viewKeys: createViewKeys(kube) });

/** A pod of the release before: whether it was granted to publish, and whether the status names it. */
type Before = { isGranted: boolean; isNamed: boolean } | undefined;
const anyBefore = fc.option(fc.record({ isGranted: fc.boolean(), isNamed: fc.boolean() }), { nil: undefined });

/**
 * A universe with two operators; each of their requests waits until its release. `isHeld`: the stream was created with its finalizer, as
 * the API server does.
 */
function stage({ isHeld = false, before }: { isHeld?: boolean; before?: Before } = {}) {
  const universe = new Universe();
  if (isHeld)
    universe.edit('loopstreams/bunny', ({ metadata }) => void Object.assign(metadata, { finalizers: [FINALIZER] }));
  if (before) universe.adopt(makeGrantedPod(universe.stream as LoopStream), before);
  const waiting: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => void waiting.push(resolve));
  const operators = [new Operator(universe, pause), new Operator(universe, pause)] as const;
  const letOn = async (nth: number) => {
    waiting.splice(nth % waiting.length, 1)[0]?.();
    await tick();
  };
  return { universe, operators, waiting, letOn };
}
type Stage = ReturnType<typeof stage>;

/** The time from a schedule's edit to its start, at most three times this. */
const SOON_MS = 400;
const nth = <T>(list: readonly T[], n: number): T | undefined => list[n % (list.length || 1)];

/** Faults that people, nodes and the kernel cause. */
const TROUBLE: Record<string, (universe: Universe, n: number, pod: Pod | undefined) => void> = {
  'a pod is deleted': (universe, _, pod) => pod && universe.delete(`pods/${pod.metadata.name}`, 30),
  'a pod is deleted by force': (universe, _, pod) => pod && universe.delete(`pods/${pod.metadata.name}`, 0),
  'a container crashes': (universe, _, pod) => pod && universe.crash(pod.metadata.uid),
  'a pod is evicted': (universe, _, pod) => pod && universe.evict(pod),
  'a node falls silent': (universe, n) => void universe.silentNodes.add(nth(NODES, n) ?? ''),
  'a node is called out of service': (universe, n) => {
    const node = nth([...universe.silentNodes], n);
    if (node !== undefined) universe.callOutOfService(node);
  },
  'a node answers again': (universe, n) => universe.bringBack(nth([...universe.silentNodes], n) ?? ''),
  'a node is lost': (universe, n) => {
    const node = nth([...universe.silentNodes], n);
    if (node !== undefined) universe.lose(node);
  },
  'the template is edited': (universe, n) =>
    universe.edit('loopstreams/bunny', (object) => {
      object.metadata.generation = (object.metadata.generation ?? 1) + 1;
      object.spec.template = { labels: { edition: String(n) } };
    }),
  'its schedule says in a moment': (universe, n) =>
    universe.edit('loopstreams/bunny', (object) => {
      object.metadata.generation = (object.metadata.generation ?? 1) + 1;
      object.spec.schedule = { startAt: new Date(universe.nowMs + (n % 4) * SOON_MS).toISOString() };
    }),
  'it is suspended, or not any more': (universe) =>
    universe.edit('loopstreams/bunny', (object) => {
      object.metadata.generation = (object.metadata.generation ?? 1) + 1;
      object.spec.suspend = object.spec.suspend !== true;
    }),
};
const TROUBLES = Object.values(TROUBLE);

async function move(
  { universe, operators, waiting, letOn }: Stage,
  kind: number,
  n: number,
  troubles = TROUBLES,
): Promise<void> {
  const operator = operators[n % 2 === 0 ? 0 : 1];
  universe.nowMs += 100;
  if (kind < 30) nth(universe.steps(), n)?.run();
  else if (kind < 45 && waiting.length > 0) await letOn(n);
  else if (kind < 55) for (let left = 40; left > 0 && waiting.length > 0; left--) await letOn(n);
  else if (kind < 68) operator.sync();
  else if (kind < 76) operator.sync(n >> 1);
  else if (kind < 92) {
    operator.look();
    await tick();
  } else nth(troubles, n)?.(universe, n >> 4, nth(universe.pods, n >> 4));
}

/** No more faults from here on: one operator leads, and every possible event happens. */
async function settle({ universe, operators, waiting, letOn }: Stage): Promise<number> {
  for (const node of NODES) universe.bringBack(node);
  universe.nowMs += 3 * SOON_MS;
  universe.edit('loopstreams/bunny', ({ spec }) => void Object.assign(spec, { suspend: false }));
  let rounds = 0;
  for (; rounds < 60; rounds++) {
    while (waiting.length > 0) await letOn(0);
    const before = universe.writes;
    operators[0].sync();
    operators[0].look();
    await tick();
    while (waiting.length > 0) await letOn(0);
    const steps = universe.steps();
    for (const { run } of steps) run();
    universe.nowMs += 1000;
    check(universe);
    if (universe.writes === before && steps.length === 0) break;
  }
  return rounds;
}

const check = (universe: Universe) => expect(universe.publishing.length, String(universe.publishing)).toBeLessThan(2);

test('never two pods publish, and when it is left alone exactly one does', async () => {
  const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(255)), { minLength: 40, maxLength: 200, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.boolean(), anyBefore, moves, async (early, isHeld, before, list) => {
      const all = stage({ isHeld, before });
      // The stream is new, on air, or about to begin.
      if (early > 1) await settle(all);
      if (early % 2 === 1) TROUBLE['its schedule says in a moment']?.(all.universe, early, undefined);
      for (const [kind, n] of list) {
        await move(all, kind, n);
        check(all.universe);
      }
      const rounds = await settle(all);
      expect(rounds, JSON.stringify([all.universe.pods, all.universe.stream?.status])).toBeLessThan(60);
      const { status } = all.universe.stream ?? {};
      expect(all.universe.publishing).toEqual([status?.podUID]);
      expect(status?.phase).toBe('live');
      expect(all.universe.pods).toHaveLength(1);
    }),
    { numRuns: 150, endOnFailure: true },
  );
}, 240_000);

test('never two pods publish, though somebody deletes the Secret of the stream again and again, and then one does', async () => {
  const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(255)), { minLength: 40, maxLength: 200, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.boolean(), anyBefore, moves, async (early, isHeld, before, list) => {
      const all = stage({ isHeld, before });
      const { universe } = all;
      universe.reportsArrive = true;
      if (early) await settle(all);
      const secret = `secrets/${streamSecretName(universe.stream?.metadata.uid ?? '')}`;
      for (const [kind, n] of list) {
        if (kind < 92 || n % 2 === 0) await move(all, kind, n);
        else universe.objects.delete(secret);
        check(universe);
      }
      expect(await settle(all)).toBeLessThan(60);
      expect(universe.publishing).toEqual([universe.stream?.status?.podUID]);
    }),
    { numRuns: 150, endOnFailure: true },
  );
}, 240_000);

test('while pods are deleted and the template is edited, the stream is off air only as long as a warm pod takes over', async () => {
  const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(255)), { minLength: 40, maxLength: 200, size: 'max' });
  await fc.assert(
    fc.asyncProperty(anyBefore, moves, async (before, list) => {
      const all = stage({ before });
      const { universe } = all;
      await settle(all);
      universe.lingers = true;
      for (const [kind, n] of list) {
        if (kind < 92) await move(all, kind, n & ~1);
        else if (n % 3 === 0) TROUBLE['the template is edited']?.(universe, n, undefined);
        else {
          const onAir = universe.pods.find(({ metadata }) => universe.publishing.includes(metadata.uid));
          if (onAir) universe.delete(`pods/${onAir.metadata.name}`, 30);
        }
        const warm = [...universe.processes.values()].filter(({ open, stopped }) => !open && !stopped);
        expect(universe.publishing.length + warm.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 150, endOnFailure: true },
  );
}, 240_000);

test('never two pods publish, though nodes lose their power, come back and fall silent again', async () => {
  const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(255)), { minLength: 40, maxLength: 200, size: 'max' });
  const ofNodes = Object.entries(TROUBLE).flatMap(([what, trouble]) =>
    what.startsWith('a node') || what === 'a pod is deleted' ? [trouble] : [],
  );
  await fc.assert(
    fc.asyncProperty(anyBefore, moves, async (before, list) => {
      const all = stage({ before });
      const { universe } = all;
      await settle(all);
      for (const [kind, n] of list) {
        // The caches hear of pods sooner than of nodes.
        if (kind >= 55 && kind < 68) for (const operator of all.operators) operator.sync(undefined, 'pods/');
        else await move(all, kind, n, ofNodes);
        check(universe);
      }
    }),
    { numRuns: 1_500, endOnFailure: true },
  );
}, 240_000);

test('a pod that waits for its lock gets it, though another one was made meanwhile and nothing says which may publish', async () => {
  const all = stage({ isHeld: true, before: { isGranted: false, isNamed: true } });
  const { universe, operators } = all;
  TROUBLE['the template is edited']?.(universe, 1, undefined);
  while (universe.pods.length < 2) {
    operators[0].sync();
    operators[0].look();
    await tick();
    while (all.waiting.length > 0) await all.letOn(0);
  }
  universe
    .steps()
    .find(({ what }) => what === `push ${GRANTED_UID}`)
    ?.run();
  await settle(all);
  expect(universe.publishing).toEqual([universe.stream?.status?.podUID]);
});

/** Two pods of the stream, besides a named one in the given state. */
async function named(before: (pod: Pod) => void) {
  const universe = new Universe();
  const loopStream = universe.stream as LoopStream;
  const put = (name: string, uid: string, change: (pod: Pod) => void = () => undefined) => {
    const pod = makePod(stream());
    Object.assign(pod.metadata, { name, uid, ownerReferences: [{ controller: true, uid: loopStream.metadata.uid }] });
    change(pod);
    universe.objects.set(`pods/${name}`, pod as never);
  };
  put('bunny-onair', 'first');
  const free = universe.kube(async () => undefined);
  expect(await acquirePublisher(withKeys(free), { ...world(), stream: loopStream }, 'first')).toMatchObject({
    publisherUid: 'first',
  });
  put('bunny-onair', 'first', before);
  put('bunny-onair-b', 'second');
  return { universe, loopStream, put };
}

test.each<[string, (pod: Pod) => void]>([
  ['runs', () => undefined],
  ['is being deleted', ({ metadata }) => void Object.assign(metadata, { deletionTimestamp: 'now' })],
  [
    'is deleted by force',
    ({ metadata }) => void Object.assign(metadata, { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 }),
  ],
])('no other pod is let publish while the one before %s', async (_what, before) => {
  const { universe, loopStream } = await named(before);
  const kube = universe.kube(async () => undefined);
  expect(await acquirePublisher(withKeys(kube), { ...world(), stream: loopStream }, 'second')).toMatchObject({
    publisherUid: 'first',
  });
});

test('while a Secret that was made ahead names no pod, a pod gets the publisher lock only when no other one runs', async () => {
  const universe = new Universe();
  const loopStream = universe.stream as LoopStream;
  const kube = universe.kube(async () => undefined);
  await ensureSecret(withKeys(kube), { ...world(), stream: loopStream });
  const put = (name: string, uid: string, change = {}) => {
    const pod = makePod(stream(), change);
    Object.assign(pod.metadata, { name, uid, ownerReferences: [{ controller: true, uid: loopStream.metadata.uid }] });
    universe.objects.set(`pods/${name}`, pod as never);
  };
  put('bunny-onair', 'first');
  put('bunny-onair-b', 'second');
  expect(await acquirePublisher(withKeys(kube), { ...world(), stream: loopStream }, 'second')).toMatchObject({
    publisherUid: 'first',
  });
  put('bunny-onair', 'first', { phase: 'Failed' });
  expect(await acquirePublisher(withKeys(kube), { ...world(), stream: loopStream }, 'second')).toMatchObject({
    publisherUid: 'second',
  });
  // An existing Secret stays the same.
  await ensureSecret(withKeys(kube), { ...world(), stream: loopStream });
  expect(await acquirePublisher(withKeys(kube), { ...world(), stream: loopStream }, 'first')).toMatchObject({
    publisherUid: 'second',
  });
});

/** A stream that never had a pod, and a way to give it one of a name. */
function unstarted() {
  const universe = new Universe();
  const loopStream = universe.stream as LoopStream;
  const put = (name: string, uid: string, change = {}) => {
    const pod = makePod(stream(), change);
    Object.assign(pod.metadata, { name, uid, ownerReferences: [{ controller: true, uid: loopStream.metadata.uid }] });
    universe.objects.set(`pods/${name}`, pod as never);
    return pod;
  };
  return { universe, sent: { ...world(), stream: loopStream }, put };
}

test('of two that let different pods publish at once, at most one succeeds, though the Secret goes between the two', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const { universe, sent, put } = unstarted();
      const both = (['bunny-onair', 'bunny-onair-b'] as const).map(async (name) => {
        const kube = universe.kube(() => scheduler.schedule(Promise.resolve()));
        await scheduler.schedule(Promise.resolve());
        put(name, name);
        const { publisherUid } = await acquirePublisher(withKeys(kube), sent, name);
        // Only the pods tell of each other from here on.
        universe.objects.delete(`secrets/${streamSecretName(sent.stream.metadata.uid)}`);
        return publisherUid === name;
      });
      const settled = Promise.all(both.map((one) => one.catch(() => false)));
      await scheduler.waitFor(settled);
      expect((await settled).filter(Boolean).length).toBeLessThan(2);
    }),
    { numRuns: 200 },
  );
});

test('of two that let different pods publish at once, one succeeds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const { universe, loopStream, put } = await named(() => undefined);
      // Nothing of the first is left, and another object has its name.
      put('bunny-onair', 'third');
      const kube = universe.kube(() => scheduler.schedule(Promise.resolve()));
      const both = ['second', 'third'].map((uid) =>
        acquirePublisher(withKeys(kube), { ...world(), stream: loopStream }, uid).then(
          ({ publisherUid }) => publisherUid === uid,
          () => false,
        ),
      );
      await scheduler.waitFor(Promise.all(both));
      expect((await Promise.all(both)).filter(Boolean)).toHaveLength(1);
    }),
    { numRuns: 200 },
  );
});

test.each<[string, string | undefined]>([
  ['there is no Secret', undefined],
  ['the Secret names nobody', ''],
  ['the Secret names a pod that is gone', 'gone'],
])(
  'a pod that the release before has granted to publish keeps others from it until it is over, where %s',
  async (_what, publisher) => {
    const { universe, sent, put } = unstarted();
    const deps = withKeys(universe.kube(async () => undefined));
    if (publisher === '') await ensureSecret(deps, sent);
    else if (publisher !== undefined) await acquirePublisher(deps, sent, publisher);
    const granted = makeGrantedPod(sent.stream);
    universe.objects.set('pods/bunny-onair', granted as never);
    put('bunny-onair-b', 'other');
    expect(await acquirePublisher(deps, sent, 'other')).toEqual({ publisherUid: GRANTED_UID, isNew: false });
    universe.objects.set('pods/bunny-onair', { ...granted, status: { phase: 'Failed' } } as never);
    expect(await acquirePublisher(deps, sent, 'other')).toEqual({ publisherUid: 'other', isNew: true });
  },
);
