import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  connected,
  counted,
  destination,
  everyCommandLine,
  expectUntouched,
  failed,
} from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, readPackets } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';
import { freeUdpPort, startListener as listen } from './srt-listener.ts';

const KEY = 'verysecret-key-0815';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

async function startListener(...args: Parameters<typeof listen>): Promise<ChildProcess> {
  const child = await listen(...args);
  studio.cleanups.push(async () => void child.kill('SIGKILL'));
  return child;
}

const bytes = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

test('SRT is sent to a listener, and again within two seconds when one is back; no listener and a wrong passphrase have their own codes', async () => {
  const [port, locked, nobody] = await Promise.all([freeUdpPort(), freeUdpPort(), freeUdpPort()]);
  const [first, second] = [join(studio.root, 'first.ts'), join(studio.root, 'second.ts')];
  const [listener] = await Promise.all([
    startListener(port, first),
    startListener(locked, join(studio.root, 'locked.ts'), '&passphrase=the-right-one'),
  ]);
  const stream = await studio.onAir(
    buildProgram(studio.items, { destinations: ['steady', 'srt', 'locked', 'nobody'] }),
    {
      steady: [studio.rtmp.url, 'steady'],
      srt: [`srt://127.0.0.1:${port}?latency=500000`, KEY],
      locked: [`srt://127.0.0.1:${locked}?passphrase=a-wrong-one-1`, KEY],
      nobody: [`srt://127.0.0.1:${nobody}`, KEY],
    },
  );
  await Promise.all(['steady', 'srt'].map((name) => connected(stream, name)));
  await failed(stream, 'locked', 'publish_rejected');
  await failed(stream, 'nobody', 'unreachable');
  expect(everyCommandLine()).not.toContain(KEY);
  await until('enough to look at', async () => (await bytes(first)) > 200_000);

  // The kill sends no goodbye: SRT times out. The retry is immediate, so a slow poll may see only its result; the counter stays.
  listener.kill('SIGKILL');
  const resets = () => counted(stream, 'destination_reconnects_total', 'srt', 'reset');
  await until('the loss is counted', async () => (await resets()) === 1);
  await failed(stream, 'srt', 'unreachable');
  await startListener(port, second);
  await until('media has arrived', async () => (await bytes(second)) > 2000);
  await connected(stream, 'srt');
  await until('enough to look at', async () => (await bytes(second)) > 200_000);
  expect(await resets()).toBe(1);
  expect(await destination(stream, 'steady')).toMatchObject({ reconnects: 0, dropped: 0 });
  expect(stream.log() + JSON.stringify(await stream.stats())).not.toContain(KEY);
  await stream.stop();
  await expectUntouched(studio.rtmp, 'steady');
  for (const file of [first, second]) {
    const packets = await readPackets(file);
    expect(packets.find((packet) => packet.codec_type === 'video')?.keyframe).toBe(true);
    expect(computeSteps(packets, 'video').packets).toBeGreaterThan(30);
    expect(computeSteps(packets, 'video').notIncreasing).toBe(0);
  }
  expect(await bytes(join(studio.root, 'locked.ts'))).toBe(0);
});

test('a connection with MPEG-TS is replaced before ffmpeg loses its clock, and that is no failure', async () => {
  const port = await freeUdpPort();
  const [first, second] = [join(studio.root, 'aging.ts'), join(studio.root, 'renewed.ts')];
  const listener = await startListener(port, first);
  const ended = once(listener, 'exit');
  const program = buildProgram(studio.items, { destinations: ['aging', 'ageless'] });
  const to: Parameters<Studio['onAir']>[1] = {
    aging: [`srt://127.0.0.1:${port}`, ''],
    ageless: [studio.rtmp.url, 'ageless'],
  };
  const stream = await studio.onAir(program, to, { timeouts: { renewMs: 5000 } });
  await Promise.all(['aging', 'ageless'].map((name) => connected(stream, name)));
  await ended;
  await startListener(port, second);
  await until('media has arrived', async () => (await bytes(second)) > 100_000);
  expect(await destination(stream, 'aging')).toMatchObject({ reconnects: 0 });
  expect(stream.log()).toContain('reached its maximum age');
  await stream.stop();
  expect(computeSteps(await readPackets(first), 'video').notIncreasing).toBe(0);
  await expectUntouched(studio.rtmp, 'ageless');
});
