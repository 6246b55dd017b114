/** Tests items whose renditions are chunks: complete, still being prepared, or damaged. */
import { EventEmitter, once } from 'node:events';
import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Chunk, chunkKey, entryKey, indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { ItemReader, type OpenOptions } from '../../../../../../src/core/pods/streamer/tracks/item-reader.ts';
import type { TrackKind } from '../../../../../../src/core/pods/streamer/tracks/rendition.ts';
import { VerifiedChunks } from '../../../../../../src/core/pods/streamer/tracks/verified-chunks.ts';
import { AUDIO_FRAME_TICKS } from '../../../../../../src/core/programme/ticks.ts';
import { cutRendition, publishChunk, publishIndex } from '../../../../../kit/make/chunks.ts';
import { buildIndex } from '../../../../../kit/make/streamer.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import {
  buildMedia,
  count,
  FPS,
  FRAME_TICKS,
  FRAMES,
  GOP,
  item,
  numberIn,
  publish,
  RecordedStorage,
} from './numbered-media.ts';

const key = item.rendition;

let dir: string;
let storage: RecordedStorage;
/** Emits `data` when a reader may have more tags. */
const read = new EventEmitter();
const readers: ItemReader[] = [];
beforeEach(() => {
  dir = tempDir();
  storage = new RecordedStorage(dir);
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});

async function open(
  kind: TrackKind = 'video',
  offsetTicks = 0,
  options: Pick<OpenOptions, 'verified'> = {},
): Promise<ItemReader> {
  const onData = () => read.emit('data');
  const reader = await ItemReader.open({ storage, item, kind, offsetTicks, onData, ...options });
  readers.push(reader);
  return reader;
}

async function playSounds(reader: ItemReader): Promise<number[]> {
  const sounds: number[] = [];
  for (let tag = await take(() => reader.takeAudio()); tag !== 'end'; tag = await take(() => reader.takeAudio()))
    sounds.push(numberIn(tag.body, 2));
  return sounds;
}

interface Played {
  pictures: number[];
  sounds: number[];
}

async function take(next: () => ReturnType<ItemReader['takeVideo']>) {
  for (;;) {
    const tag = next();
    if (tag !== 'wait') return tag;
    await once(read, 'data');
  }
}

/** Takes all that a splicer would, frame after frame; `onPicture` is called before each picture. */
async function play(reader: ItemReader, onPicture?: (n: number) => Promise<void>): Promise<Played> {
  const pictures: number[] = [];
  const sounds: number[] = [];
  for (let soundEnded = false; ; ) {
    await onPicture?.(pictures.length);
    const tag = await take(() => reader.takeVideo());
    if (tag === 'end') return { pictures, sounds: [...sounds, ...(await playSounds(reader))] };
    pictures.push(numberIn(tag.body, 5));
    while (!soundEnded && sounds.length * AUDIO_FRAME_TICKS < pictures.length * FRAME_TICKS) {
      const sound = await take(() => reader.takeAudio());
      soundEnded = sound === 'end';
      if (sound !== 'end') sounds.push(numberIn(sound.body, 2));
    }
  }
}

test('a rendition plays the same whatever its chunks, complete or found one by one, and from any frame', async () => {
  const media = buildMedia();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: FRAMES }),
      fc.nat(FRAMES - 1),
      fc.boolean(),
      async (frames, from, isComplete) => {
        await rm(dir, { recursive: true, force: true });
        const cut = cutRendition(media, { fps: FPS, frames });
        await publish(storage, cut, cut.bodies.length, isComplete);
        if (!isComplete) await publishIndex(storage, 'renditions/other', cut);
        const reader = await open('video', from * FRAME_TICKS + 17);
        const first = from - (from % GOP);
        expect(reader.startTicks).toBe(first * FRAME_TICKS);
        const { pictures, sounds } = await play(reader);
        expect(reader.error).toBeUndefined();
        expect(pictures).toEqual(count(first, FRAMES));
        expect(reader.videoFrames).toBe(FRAMES - first);
        expect(reader.ranOut).toBe(!isComplete);
        const [sound = 0] = sounds;
        expect(Math.abs(sound * AUDIO_FRAME_TICKS - first * FRAME_TICKS)).toBeLessThanOrEqual(AUDIO_FRAME_TICKS);
        expect(sounds).toEqual(count(sound, 469));
      },
    ),
    { numRuns: 40 },
  );
});

test('sound alone plays from any chunk, about where it was joined, as far as it is prepared', async () => {
  const cut = cutRendition(buildMedia({ hasVideo: false }), { fps: FPS, frames: 100 });
  expect(cut.bodies.length).toBe(5);
  for (const [chunks, isComplete] of [
    [3, false],
    [5, true],
  ] as const) {
    await publish(storage, cut, chunks, isComplete);
    for (const from of [0, 1, 99, 100, 250, 299, isComplete ? 468 : 0]) {
      const reader = await open('audio', from * AUDIO_FRAME_TICKS);
      const sounds = await playSounds(reader);
      const [first = 0] = sounds;
      expect(Math.abs(first - from)).toBeLessThanOrEqual(2);
      expect(sounds).toEqual(count(first, isComplete ? 469 : 300));
      expect(reader).toMatchObject({ ranOut: !isComplete, error: undefined, ticks: 469 * AUDIO_FRAME_TICKS });
    }
  }
});

test('the sound of a video that is being prepared plays on a track of songs', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 2);
  const reader = await open('audio', 150 * FRAME_TICKS);
  expect(reader.ticks).toBe(469 * AUDIO_FRAME_TICKS);
  await publishChunk(storage, key, cut, 2);
  const sounds = await playSounds(reader);
  const [first = 0] = sounds;
  expect(Math.abs(first * AUDIO_FRAME_TICKS - 150 * FRAME_TICKS)).toBeLessThanOrEqual(AUDIO_FRAME_TICKS);
  expect(sounds).toEqual(count(first, 469));
});

test('chunks that appear while it plays are played, and it ends where the index says, later or sooner than expected', async () => {
  for (const expectedFrames of [FRAMES, 280, 340]) {
    await rm(dir, { recursive: true, force: true });
    // Large pictures: the reader is no more than a chunk ahead of what is taken.
    const cut = cutRendition(buildMedia({ pad: 20_000 }), { fps: FPS, frames: 30, expectedFrames });
    await publish(storage, cut, 2);
    const reader = await open();
    expect(reader.ticks).toBe(expectedFrames * FRAME_TICKS);
    let published = 2;
    const { pictures, sounds } = await play(reader, async (n) => {
      expect(reader.videoFrames).toBeGreaterThanOrEqual(Math.min(n + 1, FRAMES));
      if (published < 10 && n >= 30 * (published - 1)) await publishChunk(storage, key, cut, published++);
      if (n === 285) await publishIndex(storage, key, cut);
    });
    expect(reader.error).toBeUndefined();
    expect(reader.ranOut).toBe(false);
    expect(pictures).toEqual(count(0, FRAMES));
    expect(sounds).toEqual(count(0, 469));
    expect(reader.videoFrames).toBe(FRAMES);
    expect(reader.ticks).toBe(FRAMES * FRAME_TICKS);
  }
});

test('while the next chunk is not there, it is asked for once in a second of media, and in the end the item runs out', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 150, expectedFrames: 300 });
  await publish(storage, cut, 1);
  const reader = await open();
  storage.asked = [];
  const { pictures } = await play(reader);
  expect(pictures).toEqual(count(0, 150));
  expect(reader).toMatchObject({ ranOut: true, error: undefined, videoFrames: 150, preparedFrames: 150 });
  const asked = storage.asked.filter((name) => name === entryKey(key, 150)).length;
  expect(asked).toBeGreaterThanOrEqual(2);
  expect(asked).toBeLessThanOrEqual(5);
});

test('an item that is joined where nothing is prepared yet begins at its beginning', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 50 });
  await publish(storage, cut, 3);
  const reader = await open('video', 200 * FRAME_TICKS);
  expect(reader.startTicks).toBe(0);
  expect((await play(reader)).pictures).toEqual(count(0, 150));
  // A chunk is missing in front of a later one, as while several Jobs prepare.
  await publishChunk(storage, key, cut, 5);
  const later = await open('video', 255 * FRAME_TICKS);
  expect(later.startTicks).toBe(250 * FRAME_TICKS);
  expect((await open('video', 220 * FRAME_TICKS)).startTicks).toBe(0);
});

test('an item is joined where it is prepared, also while a listing is old', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 50 });
  await publish(storage, cut, 5);
  storage.unlisted = 2;
  expect((await open('video', 215 * FRAME_TICKS)).startTicks).toBe(210 * FRAME_TICKS);
  expect((await open('video', 255 * FRAME_TICKS)).startTicks).toBe(0);
  storage.list = async function* () {
    yield* [];
    throw new StorageError('unavailable', 'It lists nothing.');
  };
  expect((await open('video', 215 * FRAME_TICKS)).startTicks).toBe(210 * FRAME_TICKS);
});

test('a storage that is away at the end of what is prepared ends the item with its code, without a stall', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 1);
  const reader = await open();
  storage.away = true;
  const { pictures } = await play(reader);
  expect(pictures).toEqual(count(0, 100));
  expect(reader.ranOut).toBe(false);
  expect(reader.error).toMatchObject({ code: 'storage_unavailable' });
});

const flip = (data: Buffer, at: number) => Buffer.from(data.with(at, (data[at] ?? 0) ^ 1));

test.each([
  [
    'with another byte',
    (body: Buffer) => flip(body, body.length - 30),
    'The content of the rendition differs from its index.',
  ],
  ['that is shorter', (body: Buffer) => body.subarray(0, -1), 'The size of the rendition differs from its index.'],
])('a chunk %s ends the item with an error, and is dropped from the cache', async (_, damage, message) => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 3, true);
  const name = chunkKey(key, cut.index.chunks[1] as Chunk);
  await storage.write(name, damage(cut.bodies[1] as Buffer));
  const reader = await open();
  const { pictures } = await play(reader);
  expect(reader.error).toMatchObject({ code: 'item_invalid', message });
  expect(storage.discarded).toEqual([name]);
  expect(pictures.length).toBeLessThanOrEqual(200);
  await storage.write(name, cut.bodies[1] as Buffer);
  expect((await play(await open())).pictures).toEqual(count(0, FRAMES));
});

test('a chunk is verified in each version that it has, also behind rounds in which it was as its index says', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 3, true);
  const verified = new VerifiedChunks();
  const playRound = async () => {
    const reader = await open('video', 0, { verified });
    return { ...(await play(reader)), error: reader.error };
  };
  for (let round = 0; round < 3; round++)
    expect(await playRound()).toMatchObject({ pictures: count(0, FRAMES), error: undefined });
  const name = chunkKey(key, cut.index.chunks[1] as Chunk);
  const whole = cut.bodies[1] as Buffer;
  await storage.write(name, flip(whole, whole.length - 30));
  for (let round = 0; round < 2; round++)
    expect((await playRound()).error).toMatchObject({
      message: 'The content of the rendition differs from its index.',
    });
  expect(storage.discarded).toEqual([name, name]);
  await storage.write(name, whole);
  expect(await playRound()).toMatchObject({ pictures: count(0, FRAMES), error: undefined });
});

test('a damaged entry or index ends the item at a chunk, or refuses it, and is dropped from the cache', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 2);
  await storage.write(entryKey(key, 100), Buffer.from('{"version":2,'));
  const reader = await open();
  expect((await play(reader)).pictures).toEqual(count(0, 100));
  expect(reader.error).toMatchObject({ code: 'item_invalid' });
  expect(storage.discarded).toContain(entryKey(key, 100));
  await storage.write(indexKey(key), Buffer.from(JSON.stringify({ ...cut.index, chunks: cut.index.chunks.slice(1) })));
  await expect(open()).rejects.toMatchObject({ code: 'item_invalid', message: 'The chunks do not follow each other.' });
});

test('a chunk that the storage shows later than its entry is played once it is there, without an error', async () => {
  const cut = cutRendition(buildMedia({ pad: 20_000 }), { fps: FPS, frames: 100 });
  await publish(storage, cut, 3);
  const late = chunkKey(key, cut.index.chunks[1] as Chunk);
  for (const times of [1, 2, 3]) {
    storage.late.set(late, times);
    const reader = await open();
    const { pictures } = await play(reader, () => storage.settle());
    expect(reader.error).toBeUndefined();
    expect(pictures).toEqual(count(0, FRAMES));
  }
  // While it does not show it at all, the chunk is not prepared.
  storage.late.set(late, 1000);
  const reader = await open();
  expect((await play(reader)).pictures).toEqual(count(0, 100));
  expect(reader).toMatchObject({ ranOut: true, error: undefined, preparedFrames: 100 });
});

test('a chunk of a complete rendition that the storage is late to show plays on', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 3, true);
  storage.late.set(chunkKey(key, cut.index.chunks[1] as Chunk), 2);
  const reader = await open();
  expect((await play(reader)).pictures).toEqual(count(0, FRAMES));
  expect(reader.error).toBeUndefined();
});

test('an entry that is damaged does no harm once there is an index', async () => {
  const cut = cutRendition(buildMedia({ pad: 20_000 }), { fps: FPS, frames: 100 });
  await publish(storage, cut, 3);
  const reader = await open();
  await storage.write(entryKey(key, 200), Buffer.from('{"version":3,'));
  const { pictures } = await play(reader, async (n) => {
    if (n === 10) await publishIndex(storage, key, cut);
  });
  expect(pictures).toEqual(count(0, FRAMES));
  expect(reader.error).toBeUndefined();
});

test('a chunk that has another number of frames than its index says ends the item with an error', async () => {
  const cut = cutRendition(buildMedia({ pad: 20_000 }), { fps: FPS, frames: 100 });
  const [first, second] = cut.index.chunks as [Chunk, Chunk];
  first.frames = 110;
  second.firstFrame = 110;
  second.frames = 90;
  for (const keyframe of second.video?.keyframes ?? []) keyframe.frame += keyframe.frame === 100 ? 10 : 0;
  second.video?.keyframes.splice(1, 1);
  await publish(storage, cut, 3, true);
  for (const kind of ['video', 'audio'] as const) {
    const reader = await open(kind);
    if (kind === 'video') await play(reader);
    else await playSounds(reader);
    expect(reader.error).toMatchObject({ code: 'item_invalid', message: /another number of frames/ });
  }
});

test('an index that does not fit the chunks before it ends the item', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(storage, cut, 1);
  const reader = await open();
  const other = cutRendition(buildMedia(), { fps: FPS, frames: 150 });
  for (const [at, chunk] of other.index.chunks.entries())
    await storage.write(chunkKey(key, chunk), other.bodies[at] as Buffer);
  await publishIndex(storage, key, other);
  expect((await play(reader)).pictures).toEqual(count(0, 100));
  expect(reader.error).toMatchObject({ code: 'item_invalid' });
});

test('a rendition of an earlier release plays from any frame', async () => {
  const media = buildMedia();
  await storage.write(key, media);
  await storage.write(indexKey(key), Buffer.from(JSON.stringify(buildIndex(media, FPS))));
  for (const from of [0, 9, 10, 155, 299]) {
    const { pictures } = await play(await open('video', from * FRAME_TICKS));
    expect(pictures).toEqual(count(from - (from % GOP), FRAMES));
  }
  await storage.write(key, flip(media, media.length - 30));
  await expect(open()).rejects.toMatchObject({ code: 'item_invalid' });
});

test('a rendition of version 2, whose chunks are named by their first frame alone, plays complete or growing', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  for (const [at, entry] of cut.entries.entries()) {
    await storage.write(chunkKey(key, entry.chunk, 2), cut.bodies[at] as Buffer);
    await storage.write(entryKey(key, entry.chunk.firstFrame), Buffer.from(JSON.stringify({ ...entry, version: 2 })));
  }
  expect((await play(await open())).pictures).toEqual(count(0, FRAMES));
  await storage.write(indexKey(key), Buffer.from(JSON.stringify({ ...cut.index, version: 2 })));
  const reader = await open();
  expect((await play(reader)).pictures).toEqual(count(0, FRAMES));
  expect(reader).toMatchObject({ error: undefined, ranOut: false });
});

test('headers and the delay of pictures change with the chunk whose tags are taken', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  const second = cut.index.chunks[1];
  if (!second?.video) throw new Error('no second chunk');
  const other = Buffer.from([0x17, 0, 0, 0, 0, 1, 77, 0, 31]).toString('base64');
  Object.assign(second.video, { header: other, delayFrames: 2 });
  await publish(storage, cut, 3, true);
  const reader = await open();
  const seen: string[] = [];
  await play(reader, async (n) => {
    const said = `${reader.delayFrames} ${reader.videoHeader?.[6]}`;
    if (seen.at(-1)?.endsWith(said) !== true) seen.push(`${n}: ${said}`);
  });
  expect(seen).toEqual(['0: 0 100', '101: 2 77', '201: 0 100']);
});
