/** Tests what the first start of a stream costs: each request is one of thousands where thousands start together. */
import { expect, test } from 'vitest';
import {
  DESTINATIONS_KEY,
  FINALIZER,
  PUBLISHER_KEY,
  streamSecretName,
} from '../../../../../src/core/resources/common/names.ts';
import { Operator, Universe } from './universe.ts';

/** A stream, with its finalizer or without, and an operator that has started another one before. */
async function stage(finalizers: string[], { hasControlKey = false } = {}) {
  const universe = new Universe({ hasControlKey });
  universe.edit('loopstreams/bunny', ({ metadata }) => void Object.assign(metadata, { finalizers }));
  const operator = new Operator(universe, async () => undefined);
  const reconcile = async () => {
    universe.requests.length = 0;
    operator.sync();
    operator.look();
    await operator.busy;
    return universe.requests.toSorted();
  };
  return { universe, reconcile };
}

const runSteps = (universe: Universe) => {
  for (let steps = universe.steps(); steps.length > 0; steps = universe.steps()) for (const { run } of steps) run();
};

/** The same, with answers to what pods push. */
async function runSettled(universe: Universe): Promise<void> {
  for (let steps = universe.steps(); steps.length > 0; steps = universe.steps()) {
    for (const { run } of steps) run();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

// The key of view tokens is read, and made, once in a namespace.
const KEY_OF_NAMESPACE = ['create secrets', 'get secrets'];
const FIRST = ['create pods', 'create secrets', 'get pods', 'get secrets'];

test.each([
  ['that the API server created', [FINALIZER], FIRST],
  ['that kubectl created', [], [...FIRST, 'mergePatch loopstreams']],
])('a stream %s goes live with these requests', async (_what, finalizers, first) => {
  const { universe, reconcile } = await stage(finalizers);
  expect(await reconcile()).toEqual([...first, ...KEY_OF_NAMESPACE].toSorted());
  runSteps(universe);
  expect(universe.publishing).toHaveLength(1);
  expect(await reconcile()).toEqual(['replace loopstreams']);
  expect(universe.stream?.status).toMatchObject({ phase: 'live', podUID: universe.publishing[0] });
  expect(universe.stream?.metadata.finalizers).toEqual([FINALIZER]);
  expect(await reconcile()).toEqual([]);
});

test.each([
  ['that the API server created', [FINALIZER], []],
  ['that kubectl created', [], ['mergePatch loopstreams']],
])('a stream %s, to a destination of the API, goes live without a Secret', async (_what, finalizers, first) => {
  const { universe, reconcile } = await stage(finalizers, { hasControlKey: true });
  expect(await reconcile()).toEqual(['create pods', 'get secrets', ...first]);
  universe.requests.length = 0;
  await runSettled(universe);
  // The pod's report is answered with the grant.
  expect(universe.requests.toSorted()).toEqual(['get pods', ...KEY_OF_NAMESPACE].toSorted());
  expect(universe.publishing).toHaveLength(1);
  expect(await reconcile()).toEqual(['replace loopstreams']);
  expect(universe.stream?.status).toMatchObject({ phase: 'live', podUID: universe.publishing[0] });
  expect(await reconcile()).toEqual([]);
  expect([...universe.objects.keys()].filter((key) => key.startsWith('secrets/stream-uid'))).toEqual([]);
});

test('after a crash before the grant, the next operator grants the first pod to publish', async () => {
  const { universe, reconcile } = await stage([FINALIZER], { hasControlKey: true });
  await reconcile();
  universe.grants.length = 0;
  const next = new Operator(universe, async () => undefined);
  next.sync();
  await runSettled(universe);
  expect(universe.publishing).toEqual([universe.pods[0]?.metadata.uid]);
});

test('a first pod whose container is started anew publishes without an operator', async () => {
  const { universe, reconcile } = await stage([FINALIZER], { hasControlKey: true });
  await reconcile();
  await runSettled(universe);
  universe.grants.length = 0;
  universe.crash(universe.publishing[0] ?? '');
  expect(universe.publishing).toEqual([]);
  await runSettled(universe);
  expect(universe.publishing).toHaveLength(1);
});

test('the second pod of a stream finds a Secret that names the first one', async () => {
  const { universe, reconcile } = await stage([FINALIZER], { hasControlKey: true });
  await reconcile();
  await runSettled(universe);
  await reconcile();
  const first = universe.publishing[0];
  universe.edit(
    'loopstreams/bunny',
    ({ spec }) => void Object.assign(spec, { template: { labels: { edition: '2' } } }),
  );
  await reconcile();
  expect(universe.pods).toHaveLength(2);
  const { data } = universe.objects.get(`secrets/${streamSecretName(universe.stream?.metadata.uid ?? '')}`) ?? {};
  expect(Buffer.from(data?.[PUBLISHER_KEY] ?? '', 'base64').toString()).toBe(first);
  expect(universe.publishing).toEqual([first]);
});

test('a change of its destinations makes the Secret, which the first pod on air reads', async () => {
  const { universe, reconcile } = await stage([FINALIZER], { hasControlKey: true });
  await reconcile();
  await runSettled(universe);
  await reconcile();
  universe.edit(
    'destinations/tv-secret',
    ({ status }) => void Object.assign(status ?? {}, { secretVersion: 'another' }),
  );
  await reconcile();
  const { data } = universe.objects.get(`secrets/${streamSecretName(universe.stream?.metadata.uid ?? '')}`) ?? {};
  expect(data).toHaveProperty([DESTINATIONS_KEY]);
  expect(data).not.toHaveProperty([PUBLISHER_KEY]);
  universe.crash(universe.publishing[0] ?? '');
  await runSettled(universe);
  expect(universe.publishing).toHaveLength(1);
});

test('after a crash between the pod and its status, the next operator finds the publisher and writes the status', async () => {
  const { universe, reconcile } = await stage([FINALIZER]);
  await reconcile();
  const next = new Operator(universe, async () => undefined);
  runSteps(universe);
  universe.requests.length = 0;
  next.sync();
  next.look();
  await next.busy;
  expect(universe.requests).toEqual(['get secrets', 'replace loopstreams']);
  expect(universe.stream?.status).toMatchObject({ phase: 'live', podUID: universe.publishing[0] });
});

test('after a crash between the pod and its Secret, the next operator names the pod', async () => {
  const { universe, reconcile } = await stage([FINALIZER]);
  await reconcile();
  const secret = `secrets/${streamSecretName(universe.stream?.metadata.uid ?? '')}`;
  universe.objects.delete(secret);
  const next = new Operator(universe, async () => undefined);
  next.sync();
  next.look();
  await next.busy;
  const { data } = universe.objects.get(secret) ?? {};
  expect(Buffer.from(data?.[PUBLISHER_KEY] ?? '', 'base64').toString()).toBe(universe.pods[0]?.metadata.uid);
});
