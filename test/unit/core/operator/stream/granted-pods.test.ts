/** Tests that pods which the release before started without the Secret of their stream stay on air, and get there. */
import { expect, test } from 'vitest';
import { isGrantedPod, readGrantedToken } from '../../../../../src/core/operator/stream/granted-pods.ts';
import {
  CONTROL_TOKEN_KEY,
  DESTINATIONS_KEY,
  PUBLISHER_KEY,
  streamSecretName,
} from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { makePod, stream } from '../../../../kit/make/operator.ts';
import { GRANTED_UID, makeGrantedPod } from './granted-pod.ts';
import { Operator, Universe } from './universe.ts';

/** An operator of this release that finds such a pod. */
function stage(given: { isGranted: boolean; isNamed: boolean }) {
  const universe = new Universe();
  universe.adopt(makeGrantedPod(universe.stream as LoopStream), given);
  const operator = new Operator(universe, async () => undefined);
  const reconcile = async () => {
    operator.sync();
    operator.look();
    await operator.busy;
  };
  const runSteps = () => {
    for (let steps = universe.steps(); steps.length > 0; steps = universe.steps()) for (const { run } of steps) run();
  };
  const readSecret = () => {
    const { data = {} } =
      universe.objects.get(`secrets/${streamSecretName(universe.stream?.metadata.uid ?? '')}`) ?? {};
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text)]));
  };
  return { universe, reconcile, runSteps, readSecret };
}

/** Reconciles until the stream is live and has one pod. */
async function settle({ universe, reconcile, runSteps }: ReturnType<typeof stage>): Promise<void> {
  const isAtRest = () => universe.stream?.status?.phase === 'live' && universe.pods.length === 1;
  for (let rounds = 0; rounds < 30 && !(rounds > 3 && isAtRest()); rounds++) {
    await reconcile();
    runSteps();
    expect(universe.publishing.length).toBeLessThan(2);
    universe.nowMs += 1000;
  }
  expect(universe.stream?.status?.phase).toBe('live');
}

test.each([
  ['that the status names', { isGranted: true, isNamed: true }],
  ['that the status does not name yet', { isGranted: true, isNamed: false }],
])('a pod on air %s stays on air, also when its container is started anew', async (_what, given) => {
  const it = stage(given);
  const { universe, runSteps } = it;
  await settle(it);
  expect(universe.publishing).toEqual([GRANTED_UID]);
  universe.crash(GRANTED_UID);
  expect(universe.publishing).toEqual([]);
  // No operator runs.
  runSteps();
  expect(universe.publishing).toEqual([GRANTED_UID]);
  await settle(it);
  expect(universe.stream?.status?.podUID).toBe(GRANTED_UID);
});

test.each([
  ['that the status names', { isGranted: false, isNamed: true }],
  ['that the status does not name yet', { isGranted: false, isNamed: false }],
])('a pod whose report was not answered yet, %s, gets the publisher lock as any other one', async (_what, given) => {
  const it = stage(given);
  await settle(it);
  expect(it.universe.publishing).toEqual([GRANTED_UID]);
  expect(it.readSecret()).toMatchObject({ [PUBLISHER_KEY]: GRANTED_UID, [DESTINATIONS_KEY]: expect.any(String) });
});

test('another pod takes over from it, with the Secret of the stream', async () => {
  const it = stage({ isGranted: true, isNamed: true });
  const { universe, readSecret } = it;
  await settle(it);
  universe.lingers = true;
  universe.edit(
    'loopstreams/bunny',
    ({ spec }) => void Object.assign(spec, { template: { labels: { edition: '2' } } }),
  );
  await it.reconcile();
  // The next pod reads the Secret while the first one is on air.
  expect(universe.pods).toHaveLength(2);
  expect(readSecret()).toMatchObject({
    [DESTINATIONS_KEY]: expect.any(String),
    [CONTROL_TOKEN_KEY]: expect.any(String),
  });
  expect(universe.publishing).toEqual([GRANTED_UID]);
  await settle(it);
  const [next] = universe.pods;
  expect(universe.publishing).toEqual([next?.metadata.uid]);
  expect(readSecret()).toMatchObject({ [PUBLISHER_KEY]: next?.metadata.uid });
  expect(isGrantedPod(next ?? makePod(stream()))).toBe(false);
});

test('a change of its destinations makes the Secret, which the pod on air reads', async () => {
  const it = stage({ isGranted: true, isNamed: true });
  const { universe, readSecret } = it;
  await settle(it);
  universe.edit('destinations/tv', ({ status }) => void Object.assign(status ?? {}, { secretVersion: 'another' }));
  await settle(it);
  expect(readSecret()).toHaveProperty([DESTINATIONS_KEY]);
  expect(universe.publishing).toEqual([GRANTED_UID]);
});

test('its control token is the HMAC of its UID, as that release computes it, while the key is there', async () => {
  const kubeWith = (data: Record<string, string> | undefined) => ({
    kube: {
      get: async () => ({ data: data && Object.fromEntries(Object.entries(data).map(([k, v]) => [k, btoa(v)])) }),
    },
  });
  const read = (data?: Record<string, string>) => readGrantedToken(kubeWith(data) as never, makeGrantedPod(stream()));
  expect(await read({ controlKey: 'the-key' })).toBe('YtKe_2tOhDVzOmNWrkDnJD0TSMpakaiRSWEtEXQeTag');
  for (const data of [undefined, {}, { controlKey: '' }]) expect(await read(data)).toBeUndefined();
  expect(await readGrantedToken(kubeWith({ controlKey: 'the-key' }) as never, makePod(stream()))).toBeUndefined();
});
