import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { startProxy } from '../../kit/fake/proxy.ts';
import { connected, destination, expectUntouched, processWith } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

const KBPS = 6000;
const GOP_MS = 2000;

let studio: Studio;
let item: ProgramItem;
beforeAll(async () => {
  studio = await openStudio();
  const storage = join(studio.root, 'storage');
  item = await makeRendition(storage, 'dense', { frames: 600, bitrateKbps: KBPS, constant: true });
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

test('a destination at a fifth of the bitrate stays connected and loses whole GOPs; memory stays, and no other is slowed', async () => {
  const proxy = await startProxy(studio.rtmp.port);
  studio.cleanups.push(() => proxy.close());
  const stream = await studio.onAir(buildProgram([item], { destinations: ['steady', 'slow'] }), {
    steady: [studio.rtmp.url, 'steady'],
    slow: [`rtmp://127.0.0.1:${proxy.port}/live`, 'slow'],
  });
  await Promise.all(['steady', 'slow'].map((name) => connected(stream, name)));
  const transport = processWith(`rtmp://127.0.0.1:${proxy.port}`);
  const slow = async () => (await destination(stream, 'slow')) ?? { dropped: 0, connected: false };
  proxy.throttle((KBPS * 1000) / 8 / 5);
  await until('the first are left out', async () => (await slow()).dropped >= 3, 90_000);
  const before = process.memoryUsage().rss;
  await until('many more', async () => (await slow()).dropped >= 8, 90_000);
  // Ten seconds of media have entered the output queue in between, and were dropped.
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  expect((await slow()).connected).toBe(true);
  proxy.throttle();
  const { dropped } = await slow();
  const { framesSent } = await stream.stats();
  await until('five seconds at full speed', async () => (await stream.stats()).framesSent > framesSent + 150, 60_000);
  expect(await destination(stream, 'slow')).toMatchObject({ connected: true, reconnects: 0, lastError: null });
  expect((await slow()).dropped).toBeLessThanOrEqual(dropped + 3);
  expect(processWith(`rtmp://127.0.0.1:${proxy.port}`)).toBe(transport);
  await stream.stop();

  await expectUntouched(studio.rtmp, 'steady');
  const [recording = '', ...others] = await studio.rtmp.recordings('slow');
  expect(others).toEqual([]);
  const packets = await readPackets(recording);
  expect(computeSteps(packets, 'video').notIncreasing).toBe(0);
  expect(computeSteps(packets, 'audio').notIncreasing).toBe(0);
  const pictures = packets.filter((packet) => packet.codec_type === 'video');
  let missing = 0;
  for (const [i, picture] of pictures.entries()) {
    const step = picture.dtsMs - (pictures[i - 1]?.dtsMs ?? picture.dtsMs);
    if (step <= 1000 / 30 + 1) continue;
    // Whole GOPs: the next picture begins one, and the gap is a multiple of one.
    expect(picture.keyframe).toBe(true);
    expect(Math.abs(step - 1000 / 30 - GOP_MS * Math.round(step / GOP_MS))).toBeLessThan(2);
    missing += Math.round(step / GOP_MS);
  }
  expect(missing).toBeGreaterThanOrEqual(8);
  const { stderr } = await run('ffmpeg', ['-v', 'error', '-i', recording, '-map', '0:v', '-f', 'null', '-']);
  expect(stderr).toBe('');
});
