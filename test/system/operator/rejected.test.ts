/** Tests what a stream tells on a real control plane of a destination, a real receiver, that refuses its publisher. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renditionScope } from '../../../src/core/resources/upload/spec.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { makeRendition } from '../../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import {
  aroundEachTest,
  getStream,
  kube,
  kubelet,
  NS,
  operator,
  placePod,
  waitForPhase,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { type StreamerPod, startStreamerPod } from './streamer-pod.ts';

aroundEachTest({ pushes: true });

let studio: Studio;
/** Decides about each publisher of the receiver. */
let judge: Server;
let receiver: RtmpServer;
let streamer: StreamerPod;
let isOpen = true;
let refused = 0;

beforeAll(async () => {
  studio = await openStudio();
  judge = createServer((request, response) => {
    request.resume();
    if (!isOpen) refused++;
    response.writeHead(isOpen ? 200 : 403).end();
  }).listen(0, '127.0.0.1');
  await once(judge, 'listening');
  const onPublish = `http://127.0.0.1:${(judge.address() as AddressInfo).port}/`;
  receiver = await startRtmpServer({ record: join(studio.root, 'judged'), onPublish });
  const id = `${renditionScope(NS)}/${MEDIA.sha256}/video-720p30`;
  await makeRendition(join(studio.root, 'storage'), id, { frames: 300, bitrateKbps: 200 });
});
afterAll(async () => {
  await streamer?.stop();
  await receiver?.close();
  judge?.close();
  await studio?.close();
});

const listTold = async () =>
  ((await getStream()).status?.transitions ?? []).flatMap(({ kind, destination, reason }) =>
    kind === 'Rejected' ? [[destination, reason]] : [],
  );
/** Breaks the connection; the next publisher is refused, again and again. */
async function refuse(): Promise<void> {
  isOpen = false;
  const before = refused;
  await receiver.stop();
  await receiver.start();
  await until('it has refused three times', () => refused >= before + 3, 60_000);
}

it('a refusal is told once however often it is repeated, and again only after the destination took media', async () => {
  await placePod();
  const reportsUrl = `http://127.0.0.1:${operator.reportsPort}`;
  const destinations = { tv: [receiver.url, 'bunny'] } as Parameters<typeof startStreamerPod>[4];
  streamer = await startStreamerPod(kube, NS, 'bunny-onair', studio.root, destinations, reportsUrl);
  await until('the destination takes it', async () => (await streamer.stats()).live);
  await kubelet.run('bunny-onair', true, 0, streamer.ip);
  await waitForPhase('live');
  await refuse();
  const once = [['tv', 'PublishRejected']];
  await expect.poll(listTold).toEqual(once);
  // An operator that begins anew knows of it.
  await withoutOperator(async () => undefined);
  const before = refused;
  await until('it has refused twice more', () => refused >= before + 2, 60_000);
  expect(await listTold()).toEqual(once);
  expect((await getStream()).status?.rejections).toMatchObject([{ destination: 'tv', reason: 'PublishRejected' }]);
  isOpen = true;
  await waitForPhase('live');
  await until('it is refused no more', async () => (await getStream()).status?.rejections === undefined);
  await refuse();
  await expect.poll(listTold).toEqual([...once, ...once]);
}, 300_000);
