/** Tests what a stream tells on a real control plane whose destination, a real receiver, hangs up again and again. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENTS } from '../../../src/core/kube/core.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { renditionScope } from '../../../src/core/resources/upload/spec.ts';
import { type Proxy as Receiver, startProxy } from '../../kit/fake/proxy.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { makeRendition } from '../../kit/make/streamer.ts';
import {
  aroundEachTest,
  getStream,
  kube,
  kubelet,
  NS,
  operator,
  placePod,
  waitForPhase,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { type StreamerPod, startStreamerPod } from './streamer-pod.ts';

aroundEachTest({ pushes: true });

let studio: Studio;
let receiver: Receiver;
let streamer: StreamerPod;

beforeAll(async () => {
  studio = await openStudio();
  receiver = await startProxy(studio.rtmp.port);
  const id = `${renditionScope(NS)}/${MEDIA.sha256}/video-720p30`;
  await makeRendition(join(studio.root, 'storage'), id, { frames: 300, bitrateKbps: 200 });
});
afterAll(async () => {
  await streamer?.stop();
  await receiver?.close();
  await studio?.close();
});

/** Event reasons of the stream, each as often as it was told. */
const listReasons = async (): Promise<string[]> =>
  (await kube.list(EVENTS, { namespace: NS }))
    .filter(({ involvedObject }) => involvedObject.name === 'bunny')
    .flatMap(({ reason = '', count = 1 }) => Array.from({ length: count }, () => reason))
    .filter((reason) => ['Live', 'Reconnecting', 'DestinationReconnecting'].includes(reason))
    .sort();

/** Reads the state of the stream as people and tools see it. */
async function readState(): Promise<string> {
  const { status } = await getStream();
  const [live, degraded, ready] = ['Live', 'Degraded', 'Ready'].map((type) => findCondition(status?.conditions, type));
  return [status?.phase, live?.status, live?.reason, degraded?.reason, degraded?.message, ready?.status].join(' | ');
}

it('a destination that hangs up after half a second to fifteen is one lasting state, and live by itself once it stays', async () => {
  await placePod();
  const url = `rtmp://127.0.0.1:${receiver.port}/live`;
  const reportsUrl = `http://127.0.0.1:${operator.reportsPort}`;
  streamer = await startStreamerPod(kube, NS, 'bunny-onair', studio.root, { tv: [url, 'bunny'] }, reportsUrl);
  await until('the destination takes it', async () => (await streamer.stats()).live);
  await kubelet.run('bunny-onair', true, 0, streamer.ip);
  await waitForPhase('live');
  const lastMs = [1200, 500, 15_000, 5000, 9000, 700];
  receiver.hangUp(() => lastMs.shift() ?? 1500);
  receiver.tear();
  // The first break of a connection that has lasted a while may be the only one.
  await until('it has hung up twice', () => receiver.connections() > 3);
  await waitForPhase('reconnecting');
  const before = await listReasons();
  expect(before.filter((reason) => reason === 'Live').length).toBeLessThanOrEqual(2);
  const states = new Set<string>();
  await until(
    'it has hung up ten times',
    async () => {
      states.add(await readState());
      return receiver.connections() > 10;
    },
    120_000,
  );
  expect([...states]).toEqual([
    expect.stringMatching(/^reconnecting \| False \| \w+ \| DestinationReconnecting \| Destination "tv" .* \| False$/),
  ]);
  expect(await listReasons()).toEqual(before);
  receiver.hangUp();
  await waitForPhase('live');
  await until('the event', async () => (await listReasons()).length === before.length + 1);
}, 600_000);
