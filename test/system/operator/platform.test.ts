/**
 * Tests on a real control plane what the operator makes of what viewers see. The test writes the status of a destination in place of the
 * process `platform`, as that does.
 */
import { expect, it } from 'vitest';
import { EVENTS } from '../../../src/core/kube/core.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { PLATFORM_LIVE } from '../../../src/core/resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../../../src/core/resources/destination/resource.ts';
import { type Seen, seePlatform, WATCHED } from '../../kit/make/watched.ts';
import {
  aroundEachTest,
  createDestination,
  getStream,
  kube,
  kubelet,
  NS,
  placePod,
  setSpec,
  waitForPhase,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const getDestination = (name: string): Promise<Destination> => kube.get(DESTINATIONS, NS, name);
const watch = (name: string, platform: unknown = WATCHED) =>
  kube.mergePatch(DESTINATIONS, NS, name, { spec: { platform } });

/** Writes what viewers see, under the version that was read: another writer makes it try again. */
async function see(name: string, seen: Seen): Promise<void> {
  await until('the status is written', async () => {
    const { metadata, status } = await getDestination(name);
    const { platform, condition } = seePlatform(seen, new Date());
    const conditions = [...(status?.conditions ?? []).filter(({ type }) => type !== PLATFORM_LIVE), condition];
    const { resourceVersion } = metadata;
    return kube
      .mergePatch(
        DESTINATIONS,
        NS,
        name,
        { metadata: { resourceVersion }, status: { platform, conditions } },
        { subresource: 'status' },
      )
      .catch(() => undefined);
  });
}

const readCondition = async (type: string) => {
  const found = findCondition((await getStream()).status?.conditions, type);
  return found && `${found.status} ${found.reason}`;
};
const expectViewers = (state: string | undefined) => expect.poll(() => readCondition('OnAirForViewers')).toBe(state);
const expectHealth = (state: string) => expect.poll(() => readCondition('Degraded')).toBe(state);
const listTold = async () =>
  ((await getStream()).status?.transitions ?? []).flatMap(({ kind, destination, onAirForViewers }) =>
    kind.startsWith('Platform') ? [`${kind} ${destination} ${onAirForViewers}`] : [],
  );
const listEvents = async () =>
  (await kube.list(EVENTS, { namespace: NS }))
    .filter(({ involvedObject, reason = '' }) => involvedObject.name === 'bunny' && reason.startsWith('Platform'))
    .map(({ type, reason, message }) => ({ type, reason, message }));

async function goLive(): Promise<void> {
  await placePod();
  await kubelet.run('bunny-onair', true);
  await waitForPhase('live');
}

it('a stream is live and not on air for viewers, is degraded, tells of it, and recovers', async () => {
  await goLive();
  await expectViewers(undefined);
  await watch('tv');
  await expectViewers('Unknown NotChecked');
  await expectHealth('False Healthy');
  await see('tv', { status: 'True', more: { viewers: 3 } });
  await expectViewers('True Seen');

  await see('tv', { status: 'False', reason: 'broadcast_ended' });
  await expectViewers('False BroadcastEnded');
  await expectHealth('True BroadcastEnded');
  const { status } = await getStream();
  expect(status).toMatchObject({ phase: 'live', canStart: true });
  expect(await readCondition('Live')).toBe('True Live');
  expect(await readCondition('Ready')).toBe('True Live');
  const { message = '' } = findCondition(status?.conditions, 'OnAirForViewers') ?? {};
  expect(message).toContain('Destination "tv": Viewers do not see the stream.');
  expect(message).toContain('Start a new broadcast with the same key');

  await see('tv', { status: 'True' });
  await expectViewers('True Seen');
  await expectHealth('False Healthy');
  await see('tv', { status: 'True', reason: 'limit_near' });
  await expectHealth('True LimitNear');
  expect(await listTold()).toEqual([
    'PlatformLive tv True',
    'PlatformEnded tv False',
    'PlatformLive tv True',
    'PlatformHealth tv True',
  ]);
  await expect
    .poll(listEvents)
    .toEqual(
      expect.arrayContaining([
        { type: 'Normal', reason: 'PlatformLive', message: 'Destination "tv": Viewers see the stream.' },
        expect.objectContaining({ type: 'Warning', reason: 'PlatformEnded' }),
      ]),
    );
});

it('one destination of several that viewers do not see is enough, until it is disabled', async () => {
  await createDestination('web');
  await goLive();
  await setSpec({ destinationNames: null as never, destinations: [{ name: 'tv' }, { name: 'web' }] });
  await watch('tv');
  await watch('web');
  await see('tv', { status: 'True' });
  await see('web', { status: 'False', reason: 'black' });
  await expectViewers('False Black');
  await setSpec({ destinations: [{ name: 'tv' }, { name: 'web', enabled: false }] });
  await expectViewers('True Seen');
  await expectHealth('False Healthy');
});

it('what nobody confirms is Unknown from its time on, also for an operator that comes later, and is told as no news', async () => {
  await goLive();
  await watch('tv');
  const soon = { more: { expiresAt: new Date(Date.now() + 4_000).toISOString() } };
  await see('tv', { status: 'True', ...soon });
  await expectViewers('True Seen');
  await expect
    .poll(async () => findCondition((await getDestination('tv')).status?.conditions, PLATFORM_LIVE), {
      timeout: 30_000,
    })
    .toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
  await expectViewers('Unknown NotChecked');
  const past = { more: { expiresAt: new Date(Date.now() - 1_000).toISOString() } };
  await withoutOperator(() => see('tv', { status: 'False', reason: 'frozen', ...past }));
  await expect
    .poll(async () => findCondition((await getDestination('tv')).status?.conditions, PLATFORM_LIVE))
    .toMatchObject({ status: 'Unknown', reason: 'NotChecked' });
  await see('tv', { status: 'True' });
  await expectViewers('True Seen');
  expect(await listTold()).toEqual(['PlatformLive tv True', 'PlatformView tv Unknown', 'PlatformView tv True']);
});

it('nothing of it stays when nobody is asked to look any more, and nothing of it is lost while somebody is', async () => {
  await goLive();
  await watch('tv');
  await see('tv', { status: 'True', more: { viewers: 12, broadcastId: 'abc' } });
  await expectViewers('True Seen');
  // The operator writes a status of its own for the new name.
  await kube.mergePatch(DESTINATIONS, NS, 'tv', { spec: { displayName: 'Main' } });
  await until('the operator has seen the name', async () => {
    const { metadata, status } = await getDestination('tv');
    return status?.observedGeneration === metadata.generation;
  });
  expect((await getDestination('tv')).status?.platform).toMatchObject({ viewers: 12, broadcastId: 'abc' });
  await watch('tv', null);
  await expectViewers(undefined);
  await expect.poll(async () => (await getDestination('tv')).status?.platform).toBeUndefined();
  const { status } = await getDestination('tv');
  expect(findCondition(status?.conditions, PLATFORM_LIVE)).toBeUndefined();
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
});

it('a stream that no destination takes says nothing of its viewers', async () => {
  await goLive();
  await watch('tv');
  await see('tv', { status: 'False', reason: 'frozen' });
  await expectViewers('False Frozen');
  await setSpec({ replicas: 0 });
  await until('it is off the air', async () => {
    const { phase } = (await getStream()).status ?? {};
    return phase !== 'live';
  });
  await expectViewers(undefined);
});
