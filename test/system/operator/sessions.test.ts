/** Tests a stream's time on air on a real control plane: containers' last messages, an operator that is away, a meter. */
import { expect, it } from 'vitest';
import { PODS } from '../../../src/core/kube/core.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';
import { API_VERSION, POD_FINALIZER } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import {
  aroundEachTest,
  getPod,
  getStream,
  goLive,
  kube,
  NS,
  readVersions,
  setSpec,
  waitForPhase,
  waitUntilAtRest,
  waitUntilIdle,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const NAME = 'bunny-onair';
const now = () => kubeTime(new Date());
const words = (...seconds: number[]) =>
  JSON.stringify({
    runs: seconds.map((onAirSeconds, i) => ({ run: i + 1, startedAt: now(), lastAt: now(), onAirSeconds })),
  });
const ended = (message: string) => ({
  terminated: { exitCode: 137, reason: 'OOMKilled', message, startedAt: now(), finishedAt: now() },
});
const running = { running: { startedAt: now() } };

/** Writes the status of the pod's container, as its kubelet does. */
async function container(state: object, lastState: object = {}): Promise<void> {
  const ready = 'running' in state;
  const status = {
    conditions: ['ContainersReady', 'Ready'].map((type) => ({
      type,
      status: ready ? 'True' : 'False',
      lastTransitionTime: now(),
    })),
    containerStatuses: [{ name: 'streamer', image: '', imageID: '', ready, restartCount: 1, state, lastState }],
  };
  await kube.mergePatch(PODS, NS, NAME, { status }, { subresource: 'status' });
}
const sessions = async () => (await getStream()).status?.sessions ?? [];
const closed = (number: number) =>
  until(`session ${number} is closed`, async () => {
    const found = (await sessions()).find((session) => session.number === number);
    return found?.endedAt !== undefined && found;
  });

it('each process is a session; the last words of a pod wait for an operator that is away; a meter writes beside it', async () => {
  const live = await goLive();
  const { uid = '' } = (await getPod())?.metadata ?? {};
  expect(live.status?.sessions).toEqual([
    { number: 1, podUID: uid, startedAt: live.status?.liveSince, onAirSeconds: 0 },
  ]);

  // The container was killed, and is back.
  await container(running, ended(words(1.5)));
  expect(await closed(1)).toMatchObject({ podUID: uid, run: 1, onAirSeconds: 1.5 });
  await until('another one is open', async () => (await sessions()).length === 2);

  // A meter acknowledges under a field manager of its own; the operator's writes leave its fields alone.
  await waitUntilAtRest();
  const meter = { apiVersion: API_VERSION, kind: 'LoopStream', metadata: { name: 'bunny', namespace: NS } };
  const status = { acknowledgedSession: 1 };
  await kube.apply(LOOPSTREAMS, NS, { ...meter, status }, { fieldManager: 'meter', subresource: 'status' });
  const acknowledged = await readVersions();
  await waitUntilIdle();
  expect(await readVersions()).toEqual(acknowledged);

  // All of this happens while there is no operator: the pod is deleted, and ends.
  await withoutOperator(async () => {
    await setSpec({ replicas: 0 });
    await kube.delete(PODS, NS, NAME);
    await container(ended(words(1.5, 0.7)));
    await kube.delete(PODS, NS, NAME, { gracePeriodSeconds: 0 });
    expect((await getPod())?.metadata).toMatchObject({ uid, finalizers: [POD_FINALIZER] });
  });
  expect(await closed(2)).toMatchObject({ number: 2, run: 2, onAirSeconds: 0.7 });
  await until('the pod is let go', async () => (await getPod()) === undefined);
  const stopped = await waitForPhase('stopped');
  expect(stopped.status?.sessions?.map(({ onAirSeconds }) => onAirSeconds)).toEqual([1.5, 0.7]);
  expect(stopped.status?.acknowledgedSession).toBe(1);
});
