import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { connected, counted, expectUntouched, failed } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, writeAtomically, writeDestination } from '../../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

/** A user namespace allows mounts without root. */
const NAMESPACE = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];

/** Runs a streamer in a process whose /etc/hosts is this file: the C library reads it first. */
async function onAirWithHosts(hosts: string, destinations: Record<string, [url: string, key: string]>) {
  const dir = await mkdtemp(join(studio.root, 'pod-'));
  const names = Object.keys(destinations);
  await writeAtomically(join(dir, 'program'), JSON.stringify(buildProgram(studio.items, { destinations: names })));
  for (const [name, [url, key]] of Object.entries(destinations))
    await writeDestination(join(dir, 'destinations.json'), name, [url, key]);
  const port = await reserveFreePort();
  const script = 'mount --bind "$1" /etc/hosts && exec "$2" "$3" streamer';
  const child = spawn('unshare', [...NAMESPACE, 'sh', '-c', script, 'sh', hosts, process.execPath, MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: environment().PATH,
      LOOPSTREAM_LOG_LEVEL: 'error',
      LOOPSTREAM_PROGRAM_FILE: join(dir, 'program'),
      LOOPSTREAM_DESTINATIONS_FILE: join(dir, 'destinations.json'),
      LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
      LOOPSTREAM_STORAGE_URL: `file://${join(studio.root, 'storage')}`,
      LOOPSTREAM_HOST: '127.0.0.1',
      LOOPSTREAM_PORT: String(port),
    },
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  studio.cleanups.push(stop);
  const base = `http://127.0.0.1:${port}`;
  await until(
    'it serves',
    () =>
      fetch(base).then(
        () => true,
        () => child.exitCode !== null && false,
      ),
    60_000,
  );
  return { base, stats: async () => (await fetch(`${base}/stats`)).json() as Promise<ShownStats>, stop };
}

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
  const stream = await onAirWithHosts(hosts, {
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
