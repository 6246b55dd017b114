import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connected, counted, expectUntouched, failed } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';
import { onAirWithHosts } from './hosts.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

/** Resolves when media has arrived in the receiver's recording `count`. */
async function published(server: RtmpServer, count: number): Promise<void> {
  const recording = await until('a recording', async () => (await server.recordings('moving'))[count - 1], 30_000);
  await until('media in it', async () => (await stat(recording)).size > 2000, 30_000);
}

test('a name is resolved for every connection: it may move, vanish and come back, and no other destination is affected', async () => {
  const hosts = join(studio.root, 'hosts');
  const point = (address?: string) => writeFile(hosts, address === undefined ? '' : `${address} ingest.test\n`);
  await point('127.0.0.1');
  const here = await startRtmpServer({ record: join(studio.root, 'here') });
  const there = await startRtmpServer({ record: join(studio.root, 'there'), host: '127.0.0.2', port: here.port });
  studio.cleanups.push(here.close, there.close);
  const stream = await onAirWithHosts(studio, hosts, {
    steady: [studio.rtmp.url, 'steady'],
    moving: [`rtmp://ingest.test:${here.port}/live`, 'moving'],
  });
  await Promise.all(['steady', 'moving'].map((name) => connected(stream, name)));
  expect(await there.recordings()).toEqual([]);

  await point('127.0.0.2');
  await here.stop();
  await published(there, 1);
  await connected(stream, 'moving');

  await point();
  await there.stop();
  await failed(stream, 'moving', 'dns_failed');
  expect(await counted(stream, 'destination_failures_total', 'moving', 'dns_failed')).toBeGreaterThan(0);

  await here.start();
  await point('127.0.0.1');
  await published(here, 2);
  await connected(stream, 'moving');
  const { destinations } = await stream.stats();
  expect(destinations[0]).toMatchObject({ connected: true, reconnects: 0, dropped: 0 });
  expect(destinations[1]).toMatchObject({ reconnects: 2, lastError: null });
  await stream.stop();
  await expectUntouched(studio.rtmp, 'steady');
});
