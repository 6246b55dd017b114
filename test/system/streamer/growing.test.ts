/** Proves that a receiver sees no seam while a rendition is played and prepared at the same time. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DirectoryStorage } from '../../../src/core/pods/storage/directory.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { type CutRendition, cutRendition, publishChunk, publishIndex } from '../../kit/make/chunks.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

const FPS = 30;
/** Chunks of four seconds. */
const CHUNK_FRAMES = 120;
const CHUNKS = 6;

let studio: Studio;
let storage: Storage;
let cut: CutRendition;

beforeAll(async () => {
  studio = await openStudio();
  storage = new DirectoryStorage(join(studio.root, 'storage'));
  const whole = await makeRendition(join(studio.root, 'whole'), 'film', { frames: CHUNKS * CHUNK_FRAMES, bframes: 2 });
  const data = await readFile(join(studio.root, 'whole', whole.rendition));
  cut = cutRendition(data, { fps: FPS, frames: CHUNK_FRAMES });
  expect(cut.bodies).toHaveLength(CHUNKS);
}, 60_000);
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

async function onAir(id: string) {
  const item: ProgramItem = { id, name: id, rendition: `renditions/${id}.flv` };
  const publish = (chunk: number) => publishChunk(storage, item.rendition, cut, chunk);
  for (const chunk of [0, 1]) await publish(chunk);
  const stream = await studio.onAir(buildProgram([item]), { main: [studio.rtmp.url, id] });
  await live(stream);
  const sent = (frames: number) =>
    until(`${frames} frames`, async () => (await stream.stats()).framesSent >= frames, 60_000);
  return { item, stream, publish, sent };
}

/** Expects one recording without a seam, and without a pause on the clock of the wall. */
async function expectNoStall(stream: Running, key: string, frames: number): Promise<void> {
  const { seam, reconnects, skippedItems, playable } = await stream.stats();
  expect({ reconnects, skippedItems, playable }).toEqual({ reconnects: 0, skippedItems: 0, playable: true });
  expect(seam.maxStepMs).toBeLessThanOrEqual(1000 / FPS + 1);
  await stream.stop();
  const [recording, ...more] = await studio.rtmp.recordings(key);
  expect(more).toEqual([]);
  const packets = await readPackets(recording as string);
  expectNoSeam(packets);
  expect(packets.filter(({ codec_type }) => codec_type === 'video').length).toBeGreaterThanOrEqual(frames);
  expect(await decodeErrors(recording as string)).toBe('');
}

test('chunks that are published while the stream is live play on without a seam, and then the item loops', async () => {
  const { item, stream, publish, sent } = await onAir('growing');
  const begun = performance.now();
  const before = (await stream.stats()).framesSent;
  for (let chunk = 2; chunk < CHUNKS; chunk++) {
    await sent((chunk - 2) * CHUNK_FRAMES + 1);
    await publish(chunk);
  }
  await publishIndex(storage, item.rendition, cut);
  await until('the second round', async () => (await stream.stats()).seam.count >= 1, 60_000);
  await sent((CHUNKS + 1) * CHUNK_FRAMES);
  const { framesSent, preparationBehind } = await stream.stats();
  const seconds = (performance.now() - begun) / 1000;
  expect((framesSent - before) / FPS).toBeGreaterThan(seconds - 2);
  expect(preparationBehind).toEqual({ count: 0, item: null, since: null });
  await expectNoStall(stream, 'growing', (CHUNKS + 1) * CHUNK_FRAMES);
}, 180_000);

test('while nothing more is prepared, it repeats what there is at a keyframe, says so, and later goes on', async () => {
  const { item, stream, publish } = await onAir('behind');
  const begun = performance.now();
  const before = (await stream.stats()).framesSent;
  const behind = await until(
    'it repeats',
    async () => {
      const { seam, preparationBehind } = await stream.stats();
      return seam.count >= 2 && preparationBehind;
    },
    60_000,
  );
  expect(behind).toMatchObject({ item: { id: 'behind', track: 'video' }, since: expect.any(String) });
  expect(behind.count).toBeGreaterThanOrEqual(2);
  const metrics = await (await fetch(`${stream.base}/metrics`)).text();
  expect(metrics).toMatch(/loopstream_streamer_preparation_behind_total\{track="video"\} [1-9]/);
  // The epoch has moved: the playhead of what is being made stands in the item, near its beginning.
  const { clock, leadMs } = await stream.stats();
  const elapsed = Date.now() + leadMs - Date.parse(clock.video?.epoch ?? '');
  expect((elapsed + 1000) % (CHUNKS * 4000)).toBeLessThan(12_000);
  for (let chunk = 2; chunk < CHUNKS; chunk++) await publish(chunk);
  await publishIndex(storage, item.rendition, cut);
  await until('it is no longer behind', async () => (await stream.stats()).preparationBehind.item === null, 60_000);
  const { count } = (await stream.stats()).seam;
  await until('a whole round', async () => (await stream.stats()).seam.count > count + 1, 90_000);
  const { framesSent } = await stream.stats();
  const seconds = (performance.now() - begun) / 1000;
  expect((framesSent - before) / FPS).toBeGreaterThan(seconds - 2);
  await expectNoStall(stream, 'behind', framesSent - before);
}, 240_000);
