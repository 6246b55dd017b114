/** Tests items whose renditions are chunks: complete, still being prepared, or damaged. */
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../../../src/lib/clock.ts';
import { encodeHeader, encodeTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../src/media/rendition/flv.ts';
import { chunkKey, entryKey, indexKey } from '../../../../../src/media/rendition/index.ts';
import { DirectoryStorage } from '../../../../../src/media/storage/directory.ts';
import { type ReadRange, type Storage, StorageError } from '../../../../../src/media/storage/storage.ts';
import { AUDIO_FRAME_TICKS } from '../../../../../src/media/streamer/timeline/ticks.ts';
import { ItemReader } from '../../../../../src/media/streamer/tracks/item-reader.ts';
import type { TrackKind } from '../../../../../src/media/streamer/tracks/rendition.ts';
import { TrackPlayer } from '../../../../../src/media/streamer/tracks/track.ts';
import type { ProgramItem } from '../../../../../src/resources/stream/program.ts';
import { type CutRendition, cutRendition, publishChunk, publishIndex } from '../../../../kit/make/chunks.ts';
import { buildIndex, buildProgram } from '../../../../kit/make/streamer.ts';
import { until } from '../../../../kit/wait.ts';

const FPS = 30;
const FRAME_TICKS = 4000;
const GOP = 10;
const FRAMES = 300;
const item = { id: 'a', name: 'A', rendition: 'renditions/a.flv' };
const key = item.rendition;

let dir: string;
let storage: Recorded;
/** Emits `data` when a reader may have more tags. */
const read = new EventEmitter();
const readers: { close(): void }[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'growing-'));
  storage = new Recorded(dir);
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await rm(dir, { recursive: true, force: true });
});

/** A directory that records requests, and can be away or list too little. */
class Recorded extends DirectoryStorage {
  away = false;
  /** Number of the last chunks that a listing lacks. */
  unlisted = 0;
  asked: string[] = [];
  discarded: string[] = [];
  override head(name: string) {
    return this.#answer(name, () => super.head(name));
  }
  override read(name: string, range?: ReadRange, signal?: AbortSignal) {
    return this.#answer(name, () => super.read(name, range, signal));
  }
  override async *list(prefix: string) {
    const keys = [];
    for await (const name of super.list(prefix)) keys.push(name);
    yield* keys.slice(0, keys.length - 2 * this.unlisted);
  }
  async discard(name: string) {
    this.discarded.push(name);
  }
  async #answer<T>(name: string, answer: () => Promise<T>): Promise<T> {
    this.asked.push(name);
    if (this.away) throw new StorageError('unavailable', 'It is away.');
    return answer();
  }
}

/** Builds a rendition whose pictures and sounds hold their numbers; `pad` bytes make a picture larger. */
function buildMedia({ frames = FRAMES, pad = 100, hasVideo = true } = {}): Buffer {
  const numbered = (start: number[], n: number, more: number) => {
    const body = Buffer.alloc(start.length + 4 + more, 7);
    Buffer.from(start).copy(body);
    body.writeUInt32BE(n, start.length);
    return body;
  };
  const pictures = hasVideo
    ? Array.from({ length: frames }, (_, n) => ({
        at: Math.round((n * 1000) / FPS),
        tag: [TAG_VIDEO, numbered([n % GOP === 0 ? 0x17 : 0x27, 1, 0, 0, 0], n, pad)] as const,
      }))
    : [];
  const sounds = Array.from({ length: Math.round((frames * 48_000) / FPS / 1024) }, (_, n) => ({
    at: Math.round((n * 1024) / 48),
    tag: [TAG_AUDIO, numbered([0xaf, 1], n, 20)] as const,
  }));
  const tags = [...pictures, ...sounds].sort((a, b) => a.at - b.at || b.tag[0] - a.tag[0]);
  return Buffer.concat([
    encodeHeader({ audio: true, video: hasVideo }),
    ...(hasVideo ? [encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1, 100, 0, 31]))] : []),
    encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
    ...tags.map(({ at, tag: [type, body] }) => encodeTag(type, at, body)),
  ]);
}

const numberIn = (body: Buffer, from: number) => body.readUInt32BE(from);

async function publish(cut: CutRendition, chunks: number, isComplete = false): Promise<void> {
  for (let at = 0; at < chunks; at++) await publishChunk(storage, key, cut, at);
  if (isComplete) await publishIndex(storage, key, cut);
}

async function open(kind: TrackKind = 'video', offsetTicks = 0): Promise<ItemReader> {
  const reader = await ItemReader.open({ storage, item, kind, offsetTicks, onData: () => read.emit('data') });
  readers.push(reader);
  return reader;
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
    if (tag === 'end') {
      for (
        let sound = await take(() => reader.takeAudio());
        sound !== 'end';
        sound = await take(() => reader.takeAudio())
      )
        sounds.push(numberIn(sound.body, 2));
      return { pictures, sounds };
    }
    pictures.push(numberIn(tag.body, 5));
    while (!soundEnded && sounds.length * AUDIO_FRAME_TICKS < pictures.length * FRAME_TICKS) {
      const sound = await take(() => reader.takeAudio());
      soundEnded = sound === 'end';
      if (sound !== 'end') sounds.push(numberIn(sound.body, 2));
    }
  }
}

const count = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

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
        await publish(cut, cut.bodies.length, isComplete);
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

test('sound alone plays from any chunk, about where it was joined', async () => {
  const cut = cutRendition(buildMedia({ hasVideo: false }), { fps: FPS, frames: 100 });
  expect(cut.bodies.length).toBe(5);
  await publish(cut, 5, true);
  for (const from of [0, 1, 99, 100, 250, 468]) {
    const reader = await open('audio', from * AUDIO_FRAME_TICKS);
    const sounds: number[] = [];
    for (let tag = await take(() => reader.takeAudio()); tag !== 'end'; tag = await take(() => reader.takeAudio()))
      sounds.push(numberIn(tag.body, 2));
    const [first = 0] = sounds;
    expect(Math.abs(first - from)).toBeLessThanOrEqual(2);
    expect(sounds).toEqual(count(first, 469));
    expect(reader.ticks).toBe(469 * AUDIO_FRAME_TICKS);
  }
});

test('chunks that appear while it plays are played, and it ends where the index says, later or sooner than expected', async () => {
  for (const expectedFrames of [FRAMES, 280, 340]) {
    await rm(dir, { recursive: true, force: true });
    // Large pictures: the reader is no more than a chunk ahead of what is taken.
    const cut = cutRendition(buildMedia({ pad: 20_000 }), { fps: FPS, frames: 30, expectedFrames });
    await publish(cut, 2);
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
  await publish(cut, 1);
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
  await publish(cut, 3);
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
  await publish(cut, 5);
  storage.unlisted = 2;
  expect((await open('video', 215 * FRAME_TICKS)).startTicks).toBe(210 * FRAME_TICKS);
  expect((await open('video', 255 * FRAME_TICKS)).startTicks).toBe(0);
});

test('a storage that is away at the end of what is prepared ends the item with its code, without a stall', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(cut, 1);
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
  await publish(cut, 3, true);
  const name = chunkKey(key, 100);
  await storage.write(name, damage(cut.bodies[1] as Buffer));
  const reader = await open();
  const { pictures } = await play(reader);
  expect(reader.error).toMatchObject({ code: 'item_invalid', message });
  expect(storage.discarded).toEqual([name]);
  expect(pictures.length).toBeLessThanOrEqual(200);
  await storage.write(name, cut.bodies[1] as Buffer);
  expect((await play(await open())).pictures).toEqual(count(0, FRAMES));
});

test('a damaged entry or index ends the item at a chunk, or refuses it, and is dropped from the cache', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(cut, 2);
  await storage.write(entryKey(key, 100), Buffer.from('{"version":2,'));
  const reader = await open();
  expect((await play(reader)).pictures).toEqual(count(0, 100));
  expect(reader.error).toMatchObject({ code: 'item_invalid' });
  expect(storage.discarded).toContain(entryKey(key, 100));
  await storage.write(indexKey(key), Buffer.from(JSON.stringify({ ...cut.index, chunks: cut.index.chunks.slice(1) })));
  await expect(open()).rejects.toMatchObject({ code: 'item_invalid', message: 'The chunks do not follow each other.' });
});

test('an index that does not fit the chunks before it ends the item', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(cut, 1);
  const reader = await open();
  const other = cutRendition(buildMedia(), { fps: FPS, frames: 150 });
  for (let at = 0; at < 2; at++) await storage.write(chunkKey(key, at * 150), other.bodies[at] as Buffer);
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

test('headers and the delay of pictures change with the chunk whose tags are taken', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  const second = cut.index.chunks[1];
  if (!second?.video) throw new Error('no second chunk');
  const other = Buffer.from([0x17, 0, 0, 0, 0, 1, 77, 0, 31]).toString('base64');
  Object.assign(second.video, { header: other, delayFrames: 2 });
  await publish(cut, 3, true);
  const reader = await open();
  const seen: string[] = [];
  await play(reader, async (n) => {
    const said = `${reader.delayFrames} ${reader.videoHeader?.[6]}`;
    if (seen.at(-1)?.endsWith(said) !== true) seen.push(`${n}: ${said}`);
  });
  expect(seen).toEqual(['0: 0 100', '101: 2 77', '201: 0 100']);
});

/** Opens the track of a list; `clock` is the system's by default. */
async function openTrack(items: ProgramItem[], clock: Clock = systemClock): Promise<TrackPlayer> {
  const ended = new AbortController();
  const program = buildProgram(items, { epoch: clock.now().toISOString() });
  const track = new TrackPlayer({
    storage: storage as Storage,
    kind: 'video',
    clock,
    log: pino({ level: 'silent' }),
    signal: ended.signal,
    onData: () => undefined,
  });
  readers.push(track, { close: () => ended.abort() });
  await track.load(program, program.video);
  return track;
}

/** Plays a track as a splicer does, and returns what each item played. */
async function* playTrack(track: TrackPlayer) {
  for (;;) {
    const next = await until('the next item', () => {
      const found = track.next();
      return typeof found === 'string' ? undefined : found;
    });
    const pictures: number[] = [];
    await until('its end', () => {
      for (let tag = next.takeVideo(); tag !== 'wait'; tag = next.takeVideo()) {
        if (tag === 'end') return true;
        pictures.push(numberIn(tag.body, 5));
        while (typeof next.takeAudio() !== 'string');
      }
      return false;
    });
    yield { id: next.id, pictures };
    next.close();
  }
}

test('an item that runs out repeats, is behind until it has been played further, and goes on where it is prepared', async () => {
  const cut = cutRendition(buildMedia({ pad: 6000 }), { fps: FPS, frames: 100 });
  await publish(cut, 1);
  const track = await openTrack([item]);
  const turns = playTrack(track);
  const turn = async () => (await turns.next()).value?.pictures;
  const epoch = () => Date.parse(track.stats().clock?.epoch ?? '');
  expect(await turn()).toEqual(count(0, 100));
  const before = epoch();
  expect(track.stats().preparationBehind).toEqual({ count: 0, item: null, since: null });
  expect(await turn()).toEqual(count(0, 100));
  // The whole item counts as played: a replacement stands in its second round.
  expect(before - epoch()).toBeGreaterThan(8000);
  const { since } = track.stats().preparationBehind;
  expect(track.stats().preparationBehind).toEqual({ count: 1, item: expect.objectContaining({ id: 'a' }), since });
  await publishChunk(storage, key, cut, 1);
  // The item was opened before, with one chunk.
  expect(await turn()).toEqual(count(0, 200));
  expect(track.stats().preparationBehind).toEqual({ count: 2, item: null, since: null });
  await publishChunk(storage, key, cut, 2);
  await publishIndex(storage, key, cut);
  expect(await turn()).toEqual(count(0, 300));
  expect(track.stats().preparationBehind.count).toBe(3);
  expect(await turn()).toEqual(count(0, 300));
  expect(track.stats()).toMatchObject({ preparationBehind: { count: 3, item: null }, broken: [], skipped: {} });
});

test('of several items, one that runs out is followed by the next one', async () => {
  const cut = cutRendition(buildMedia(), { fps: FPS, frames: 100 });
  await publish(cut, 1);
  const media = buildMedia({ frames: 60 });
  const whole = { id: 'b', name: 'B', rendition: 'renditions/b.flv' };
  await storage.write(whole.rendition, media);
  await storage.write(indexKey(whole.rendition), Buffer.from(JSON.stringify(buildIndex(media, FPS))));
  const track = await openTrack([item, whole]);
  const turns = playTrack(track);
  expect((await turns.next()).value).toEqual({ id: 'a', pictures: count(0, 100) });
  expect((await turns.next()).value).toEqual({ id: 'b', pictures: count(0, 60) });
  await until('it is behind', () => track.stats().preparationBehind.item?.id === 'a');
  await publish(cut, 3, true);
  expect((await turns.next()).value?.id).toBe('a');
  await until('it is prepared', () => track.stats().preparationBehind.item === null);
});

test('the epoch puts a replacement where the track is, after an item that ran out and one of another length than expected', async () => {
  let nowMs = Date.parse('2026-01-02T03:04:05Z');
  const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const cut = cutRendition(buildMedia({ pad: 6000 }), { fps: FPS, frames: 100, expectedFrames: 340 });
  await publish(cut, 1);
  const track = await openTrack([item], clock);
  const turns = playTrack(track);
  const play = async () => {
    const frames = (await turns.next()).value?.pictures.length ?? 0;
    nowMs += (frames * 1000) / FPS;
    return frames;
  };
  /** Frames from the epoch to now. */
  const elapsed = () => Math.round(((nowMs - Date.parse(track.stats().clock?.epoch ?? '')) * FPS) / 1000);
  expect(await play()).toBe(100);
  expect(elapsed()).toBe(100);
  await publishChunk(storage, key, cut, 1);
  expect(await play()).toBe(200);
  // The first round counts as whole.
  expect(elapsed()).toBe(340 + 200);
  await publishChunk(storage, key, cut, 2);
  await publishIndex(storage, key, cut);
  expect(await play()).toBe(300);
  // Its true length is known now: a replacement counts the rounds before with it.
  expect(elapsed()).toBe(2 * 300 + 300);
  expect(await play()).toBe(300);
  expect(elapsed()).toBe(3 * 300 + 300);
  expect(track.stats().loopCount).toBe(3);
});
