import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { startProxy } from '../../kit/fake/proxy.ts';
import {
  connected,
  counted,
  destination,
  expectUntouched,
  failed,
  processWith,
  readPictures,
} from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, makeRendition } from '../../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
let rtmp: RtmpServer;
let cleanups: Studio['cleanups'];
/** The item is long enough for no picture to repeat in a test, and dense enough to fill the buffers on the way in seconds. */
let item: ProgramItem;

beforeAll(async () => {
  studio = await openStudio();
  ({ rtmp, cleanups } = studio);
  item = await makeRendition(join(studio.root, 'storage'), 'long', { frames: 1800, bitrateKbps: 6000, constant: true });
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

async function proxy() {
  const made = await startProxy(rtmp.port);
  cleanups.push(() => made.close());
  return { ...made, url: `rtmp://127.0.0.1:${made.port}/live` };
}

/** Starts a receiver that refuses every publisher. */
async function guardedServer(): Promise<RtmpServer> {
  const guard = createHttpServer((_, response) => response.writeHead(403).end());
  const onPublish = `http://127.0.0.1:${await listen(guard)}/`;
  const server = await startRtmpServer({ record: join(studio.root, 'guarded'), onPublish });
  cleanups.push(() => server.close());
  return server;
}

/** Publishes with a key from elsewhere. */
async function occupy(key: string): Promise<void> {
  const path = join(studio.root, 'storage', item.rendition);
  const output = ['-c', 'copy', '-f', 'flv', `${rtmp.url}/${key}`];
  const other = spawn('ffmpeg', ['-v', 'quiet', '-re', '-stream_loop', '-1', '-i', path, ...output], {
    stdio: 'ignore',
  });
  cleanups.push(async () => void other.kill('SIGKILL'));
  await until('the key is in use', async () => (await rtmp.recordings(key)).length > 0);
}

test('of five destinations four fail, each in its own way and with its own code, and the fifth sees none of it', async () => {
  const [torn, deaf, guarded] = await Promise.all([proxy(), proxy(), guardedServer(), occupy('taken')]);
  const names = ['steady', 'torn', 'deaf', 'taken', 'guarded'];
  const stream = await studio.onAir(buildProgram([item], { destinations: names }), {
    steady: [rtmp.url, 'steady'],
    torn: [torn.url, 'torn'],
    deaf: [deaf.url, 'deaf'],
    taken: [rtmp.url, 'taken'],
    guarded: [guarded.url, 'a-wrong-key'],
  });
  await Promise.all(['steady', 'torn', 'deaf'].map((name) => connected(stream, name)));
  await until('five seconds of media', async () => (await stream.stats()).framesSent > 150);
  torn.tear();
  deaf.stall();
  await Promise.all([
    failed(stream, 'torn', 'reset'),
    failed(stream, 'deaf', 'stalled'),
    failed(stream, 'taken', 'key_in_use'),
    failed(stream, 'guarded', 'publish_rejected'),
  ]);
  await Promise.all(['torn', 'deaf'].map((name) => connected(stream, name)));
  for (const [name, code] of [
    ['torn', 'reset'],
    ['deaf', 'stalled'],
  ] as const) {
    expect(await counted(stream, 'destination_reconnects_total', name, code)).toBe(1);
    expect(await destination(stream, name)).toMatchObject({ reconnects: 1, lastError: null });
  }
  expect(await counted(stream, 'destination_failures_total', 'taken', 'key_in_use')).toBeGreaterThan(0);
  expect(await counted(stream, 'destination_failures_total', 'guarded', 'publish_rejected')).toBeGreaterThan(0);
  expect(await destination(stream, 'steady')).toMatchObject({ connected: true, reconnects: 0, dropped: 0 });
  await until('more of it', async () => (await rtmp.recordings('torn')).length === 2);
  await stream.stop();
  await expectUntouched(rtmp, 'steady');
  // The new connection begins at a keyframe, close to the cut and not at the item's beginning.
  const whole = (await readPictures((await rtmp.recordings('steady'))[0] ?? '')).map((p) => p.content);
  const [before = [], after = []] = await Promise.all((await rtmp.recordings('torn')).map(readPictures));
  expect(after[0]?.keyframe).toBe(true);
  const again = whole.indexOf(after[0]?.content ?? '');
  expect(again).toBeGreaterThan(0);
  expect(Math.abs(again - whole.indexOf(before.at(-1)?.content ?? ''))).toBeLessThan(150);
});

/** Makes an ffmpeg that, only towards `port`, stays when it is done and ignores SIGTERM. */
async function ffmpegThatStays(port: number): Promise<string> {
  const path = join(studio.root, 'ffmpeg-that-stays');
  await writeFile(
    path,
    `#!/bin/sh\ncase "$*" in *:${port}*) trap '' TERM; ffmpeg "$@"; exec sleep 1000;; esac\nexec ffmpeg "$@"\n`,
  );
  await chmod(path, 0o755);
  return path;
}

test('a killed transport, a hanging one, a silent peer and a closed port: the fifth destination is unaffected', async () => {
  const [stays, killed] = await Promise.all([proxy(), proxy()]);
  const sockets: import('node:net').Socket[] = [];
  const mute = await listen(createServer((socket) => void sockets.push(socket.pause().on('error', () => undefined))));
  cleanups.push(async () => sockets.forEach((socket) => void socket.destroy()));
  const names = ['still', 'killed', 'stays', 'mute', 'nobody'];
  const stream = await studio.onAir(
    buildProgram([item], { destinations: names }),
    {
      still: [rtmp.url, 'still'],
      killed: [killed.url, 'killed'],
      stays: [stays.url, 'stays'],
      mute: [`rtmp://127.0.0.1:${mute}/live`, 'key'],
      nobody: [`rtmp://127.0.0.1:${await reserveFreePort()}/live`, 'key'],
    },
    { env: { LOOPSTREAM_FFMPEG: await ffmpegThatStays(stays.port) } },
  );
  await Promise.all(['still', 'killed', 'stays'].map((name) => connected(stream, name)));
  process.kill(processWith(killed.url.replace('/live', '')) ?? 0, 'SIGKILL');
  stays.tear();
  await Promise.all([
    failed(stream, 'killed', 'killed'),
    failed(stream, 'stays', 'hung'),
    failed(stream, 'mute', 'connect_timeout'),
    failed(stream, 'nobody', 'connection_refused'),
  ]);
  await Promise.all(['killed', 'stays'].map((name) => connected(stream, name)));
  expect(await counted(stream, 'destination_reconnects_total', 'killed', 'killed')).toBe(1);
  expect(await counted(stream, 'destination_reconnects_total', 'stays', 'hung')).toBe(1);
  expect(await counted(stream, 'destination_failures_total', 'mute', 'connect_timeout')).toBeGreaterThan(0);
  expect(await counted(stream, 'destination_failures_total', 'nobody', 'connection_refused')).toBeGreaterThan(0);
  expect(await destination(stream, 'still')).toMatchObject({ connected: true, reconnects: 0, dropped: 0 });
  // A hanging transport does not keep the stream from ending either.
  await stream.stop();
  expect(processWith(stays.url.replace('/live', ''))).toBeUndefined();
  await expectUntouched(rtmp, 'still');
});
