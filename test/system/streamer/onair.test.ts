import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { AUDIO_STEP_MS, expectNoSeam, live, openStudio, type Studio, VIDEO_STEP_MS } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import type { RtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
let root: string;
let items: ProgramItem[];
let rtmp: RtmpServer;
let onAir: Studio['onAir'];

beforeAll(async () => {
  studio = await openStudio();
  ({ root, items, rtmp, onAir } = studio);
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

test('three clips loop with no timestamp that goes back and no step longer than a frame, and one publish', async () => {
  const stream = await onAir(buildProgram(items), { main: [rtmp.url, 'seams'] });
  const start = await until(
    '4 loops',
    async () => {
      const stats = await stream.stats();
      return stats.seam.count >= 12 && stats;
    },
    60_000,
  );
  expect(start).toMatchObject({ live: true, fps: expect.closeTo(30, 0), reconnects: 0, playable: true });
  expect(start.seam.maxStepMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(start.loopCount).toBeGreaterThanOrEqual(3);
  await stream.stop();
  const recordings = await rtmp.recordings('seams');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  const video = computeSteps(packets, 'video');
  const audio = computeSteps(packets, 'audio');
  expect(video.packets).toBeGreaterThan(600);
  expect(video).toMatchObject({ notIncreasing: 0 });
  expect(audio).toMatchObject({ notIncreasing: 0 });
  expect(video.longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(audio.longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
  const decoded = execFileSync('ffmpeg', ['-v', 'error', '-xerror', '-i', recordings[0] as string, '-f', 'null', '-']);
  expect(decoded.toString()).toBe('');
});

test('broken and missing items are skipped and counted while one good item is left', async () => {
  const storage = join(root, 'storage');
  const bad = await makeRendition(storage, 'bad', { frames: 60 });
  const path = join(storage, bad.rendition);
  const data = readFileSync(path);
  data.fill(0x55, Math.floor(data.length / 2));
  await writeFile(path, data);
  const missing = { id: 'missing', name: 'Missing', rendition: 'renditions/missing.flv' };
  const stream = await onAir(buildProgram([missing, bad, items[0] as ProgramItem]), { main: [rtmp.url, 'skips'] });
  await until('two rounds', async () => (await stream.stats()).seam.count >= 4, 30_000);
  const stats = await stream.stats();
  expect(stats.live).toBe(true);
  expect(stats.skippedItems).toBeGreaterThanOrEqual(3);
  const metrics = await (await fetch(`${stream.base}/metrics`)).text();
  expect(metrics).toMatch(/loopstream_streamer_items_skipped_total\{track="video",code="item_missing"\} [1-9]/);
  expect(metrics).toMatch(/loopstream_streamer_items_skipped_total\{track="video",code="item_invalid"\} [1-9]/);
  await stream.stop();
  const packets = await readPackets((await rtmp.recordings('skips'))[0] as string);
  expect(computeSteps(packets, 'video')).toMatchObject({ notIncreasing: 0 });
  expect(computeSteps(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
});

test('with nothing to play it is not ready, and goes on air as soon as there is something', async () => {
  const item = { id: 'later', name: 'Later', rendition: 'renditions/later.flv' };
  const stream = await onAir(buildProgram([item]), { main: [rtmp.url, 'later'] });
  await until('not playable', async () => !(await stream.stats()).playable);
  expect(await stream.status('/readyz')).toBe(503);
  await makeRendition(join(root, 'storage'), 'later', { frames: 60 });
  await live(stream);
  expect(await stream.status('/readyz')).toBe(200);
});

test('a new version is taken up at the end of the item, in the same publish, and no item repeats', async () => {
  const [one, two, three] = items as [ProgramItem, ProgramItem, ProgramItem];
  const program = buildProgram([one, two]);
  const stream = await onAir(program, { main: [rtmp.url, 'swap'] });
  await live(stream);
  await stream.program({ ...program, version: 2, video: { mode: 'sequential', items: [three, one] } });
  await until('the new version', async () => (await stream.stats()).programVersion === 2);
  await until('the new item', async () => (await stream.stats()).currentItem?.id === 'three');
  await until('the item behind it', async () => (await stream.stats()).currentItem?.id === 'one');
  await stream.stop();
  const recordings = await rtmp.recordings('swap');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  expect(computeSteps(packets, 'video').longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(computeSteps(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
});

test('a stream joins at its playhead, from the keyframe before it', async () => {
  const storage = join(root, 'storage');
  const long = await makeRendition(storage, 'long', { frames: 900, bitrateKbps: 100 });
  const songs = [await makeRendition(storage, 'song', { frames: 600, audioOnly: true })];
  const left = 10_000;
  const end = Date.now() + left;
  const epoch = new Date(end - 2430 - 30_000).toISOString();
  const program = buildProgram([items[0] as ProgramItem, long], { epoch, audio: { mode: 'shuffle', items: songs } });
  const stream = await onAir(program, { main: [rtmp.url, 'joined'] });
  await live(stream);
  const stats = await stream.stats();
  expect(stats.currentItem?.id).toBe('long');
  expect(stats.currentAudioItem?.id).toBe('song');
  await until('its end', async () => (await stream.stats()).currentItem?.id === 'one', 30_000);
  // It ends at the scheduled time, less the read-ahead, and at most a GOP later, since it began at a keyframe.
  expect(Date.now() - end).toBeGreaterThan(-1_500);
  expect(Date.now() - end).toBeLessThan(2_000 + 8_000);
});

test('the preview decodes from its first frame, for several viewers, and ends with the stream', async () => {
  const stream = await onAir(buildProgram(items.slice(0, 1)), { main: [rtmp.url, 'preview'] });
  await live(stream);
  const probe = () =>
    new Promise<string>((resolve, reject) => {
      const entries = ['-show_entries', 'stream=codec_name,width', '-of', 'csv=p=0', '-analyzeduration', '1000000'];
      const child = spawn('ffprobe', ['-v', 'error', ...entries, `${stream.base}/preview.flv`]);
      let text = '';
      child.stdout.on('data', (d) => (text += d));
      child.stderr.on('data', (d) => (text += `stderr: ${d}`));
      child.once('error', reject).once('close', () => resolve(text));
    });
  for (const text of await Promise.all([probe(), probe(), probe()])) {
    expect(text).toMatch(/h264,320/);
    expect(text).toContain('aac');
    expect(text).not.toContain('stderr');
  }
  expect(await stream.status('/nothing')).toBe(404);
  expect((await fetch(`${stream.base}/stats`, { method: 'POST' })).status).toBe(405);
  const viewer = await fetch(`${stream.base}/preview.flv`);
  await stream.stop();
  await expect(viewer.arrayBuffer()).rejects.toThrow();
});

test('fifty viewers, half of whom never read: those are dropped, and the receiver sees no gap', async () => {
  const storage = join(root, 'storage');
  // The item is so large that a viewer's unread media exceeds the buffers of its connection.
  const heavy = await makeRendition(storage, 'heavy', { frames: 180, bitrateKbps: 12_000, size: '1280x720' });
  const stream = await onAir(buildProgram([heavy]), { main: [rtmp.url, 'viewers'] });
  await live(stream);
  const url = new URL(`${stream.base}/preview.flv`);
  const leave = new AbortController();
  const open = () => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    get(url, { signal: leave.signal }, resolve).once('error', reject);
    return promise;
  };
  const silent = await Promise.all(Array.from({ length: 25 }, open));
  const readers = await Promise.all(Array.from({ length: 25 }, open));
  const read = readers.map(() => 0);
  for (const [i, reader] of readers.entries()) {
    reader.on('error', () => undefined);
    reader.on('data', (chunk: Buffer) => {
      read[i] = (read[i] ?? 0) + chunk.length;
    });
  }
  for (const viewer of silent) viewer.on('error', () => undefined);
  const viewers = async () => {
    const text = await (await fetch(`${stream.base}/metrics`)).text();
    return Number(/^loopstream_streamer_viewers (\d+)$/m.exec(text)?.[1]);
  };
  await until('those who do not read are let go', async () => (await viewers()) === 25, 60_000);
  const before = [...read];
  await until('the others get on', () => read.every((bytes, i) => bytes > (before[i] ?? 0)));
  const stats = await stream.stats();
  expect(stats).toMatchObject({ live: true, reconnects: 0, destinations: [{ dropped: 0 }] });
  leave.abort();
  await until('nobody looks', async () => (await viewers()) === 0);
  await stream.stop();
  const recordings = await rtmp.recordings('viewers');
  expect(recordings).toHaveLength(1);
  expectNoSeam(await readPackets(recordings[0] as string));
});
