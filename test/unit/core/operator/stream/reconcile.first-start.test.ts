/** Tests what the first start of a stream costs: each request is one of thousands where thousands start together. */
import { expect, test } from 'vitest';
import { FINALIZER, PUBLISHER_KEY, streamSecretName } from '../../../../../src/core/resources/common/names.ts';
import { Operator, Universe } from './universe.ts';

/** A stream, with its finalizer or without, and an operator that has started another one before. */
async function stage(finalizers: string[]) {
  const universe = new Universe();
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

// The key of view tokens is read, and made, once in a namespace.
const KEY_OF_NAMESPACE = ['create secrets', 'get secrets'];
// The pods of both names are read, the Secret of the stream, and that of its destination.
const START = ['create pods', 'create secrets', 'get pods', 'get pods', 'get secrets', 'get secrets'];

test.each([
  ['that the API server created', [FINALIZER], START],
  ['that kubectl created', [], [...START, 'mergePatch loopstreams']],
])('a stream %s goes live with these requests', async (_what, finalizers, start) => {
  const { universe, reconcile } = await stage(finalizers);
  expect(await reconcile()).toEqual([...start, ...KEY_OF_NAMESPACE].toSorted());
  runSteps(universe);
  expect(universe.publishing).toHaveLength(1);
  expect(await reconcile()).toEqual(['get secrets', 'replace loopstreams']);
  expect(universe.stream?.status).toMatchObject({ phase: 'live', podUID: universe.publishing[0] });
  expect(universe.stream?.metadata.finalizers).toEqual([FINALIZER]);
  expect(await reconcile()).toEqual([]);
});

test('a stream that waited for its window without a Secret, as the release before left it, goes live', async () => {
  const { universe, reconcile } = await stage([FINALIZER]);
  universe.edit('loopstreams/bunny', (object) => void Object.assign(object, { status: { phase: 'scheduled' } }));
  expect(await reconcile()).toEqual(['create pods']);
  await reconcile();
  runSteps(universe);
  await reconcile();
  expect(universe.publishing).toHaveLength(1);
  expect(universe.stream?.status).toMatchObject({ phase: 'live', podUID: universe.publishing[0] });
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
