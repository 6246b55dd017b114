/** Tests lists whose items are still being prepared. */
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../../../../src/core/lib/clock.ts';
import { indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import type { Storage } from '../../../../../../src/core/pods/storage/storage.ts';
import { TrackPlayer } from '../../../../../../src/core/pods/streamer/tracks/track.ts';
import type { ProgramItem } from '../../../../../../src/core/resources/stream/playing.ts';
import { cutRendition, publishChunk, publishIndex } from '../../../../../kit/make/chunks.ts';
import { buildIndex, buildProgram } from '../../../../../kit/make/streamer.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';
import { buildMedia, count, FPS, item, numberIn, publish, RecordedStorage } from './numbered-media.ts';

const key = item.rendition;

let dir: string;
let storage: RecordedStorage;
const cleanups: (() => void)[] = [];
beforeEach(() => {
  dir = tempDir();
  storage = new RecordedStorage(dir);
});
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
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
  cleanups.push(
    () => track.close(),
    () => ended.abort(),
  );
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
  await publish(storage, cut, 1);
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
  await publish(storage, cut, 1);
  const media = buildMedia({ frames: 60 });
  const whole = { id: 'b', name: 'B', rendition: 'renditions/b.flv' };
  await storage.write(whole.rendition, media);
  await storage.write(indexKey(whole.rendition), Buffer.from(JSON.stringify(buildIndex(media, FPS))));
  const track = await openTrack([item, whole]);
  const turns = playTrack(track);
  expect((await turns.next()).value).toEqual({ id: 'a', pictures: count(0, 100) });
  expect((await turns.next()).value).toEqual({ id: 'b', pictures: count(0, 60) });
  await until('it is behind', () => track.stats().preparationBehind.item?.id === 'a');
  await publish(storage, cut, 3, true);
  expect((await turns.next()).value?.id).toBe('a');
  await until('it is prepared', () => track.stats().preparationBehind.item === null);
});

test('the epoch puts a replacement where the track is, after an item that ran out and one of another length than expected', async () => {
  let nowMs = Date.parse('2026-01-02T03:04:05Z');
  const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const cut = cutRendition(buildMedia({ pad: 6000 }), { fps: FPS, frames: 100, expectedFrames: 340 });
  await publish(storage, cut, 1);
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
