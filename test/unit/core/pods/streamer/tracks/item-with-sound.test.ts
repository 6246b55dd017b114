/** Tests items that play with a sound of their own, apart from their pictures. */
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../../../src/core/lib/clock.ts';
import { TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import { chunkKey, indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { Splicer } from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';
import type { ItemError } from '../../../../../../src/core/pods/streamer/tracks/item-error.ts';
import { type OpenedItem, openItem } from '../../../../../../src/core/pods/streamer/tracks/item-with-sound.ts';
import { TrackPlayer } from '../../../../../../src/core/pods/streamer/tracks/track.ts';
import { cutRendition } from '../../../../../kit/make/chunks.ts';
import { buildProgram } from '../../../../../kit/make/streamer.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';
import {
  buildMedia,
  FPS,
  FRAME_TICKS,
  FRAMES,
  GOP,
  item,
  numberIn,
  publishWhole,
  RecordedStorage,
} from './numbered-media.ts';

const SOUND = 'renditions/loud.flv';
/** A sound has longer bodies than the rendition’s own. */
const LOUD_PAD = 40;
const MS_PER_SOUND = 1024 / 48;
/** Half an AAC frame, and what rounding to milliseconds adds. */
const LARGEST_SKEW_MS = MS_PER_SOUND / 2 + 1;

const buildSound = (frames = FRAMES) =>
  cutRendition(buildMedia({ hasVideo: false, soundPad: LOUD_PAD, frames }), { fps: FPS, frames: 100 });

class HangingStorage extends RecordedStorage {
  hangs = '';
  override head(name: string) {
    return this.hangs !== '' && name.startsWith(this.hangs) ? new Promise<never>(() => undefined) : super.head(name);
  }
}

let storage: HangingStorage;
const cleanups: (() => void)[] = [];
beforeEach(async () => {
  storage = new HangingStorage(tempDir());
  await publishWhole(storage, item.rendition, cutRendition(buildMedia({ pad: 6000 }), { fps: FPS, frames: 100 }));
});
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function open(offsetTicks = 0) {
  const faults: ItemError[] = [];
  const onSoundFault = (error: ItemError) => faults.push(error);
  const options = { storage, item, kind: 'video', offsetTicks, soundKey: SOUND, onSoundFault } as const;
  const opened = await openItem({ ...options, onData: () => undefined });
  cleanups.push(() => opened.item.close());
  return { opened, faults };
}

interface Heard {
  pictures: number[];
  /** A sound: whether it is the one apart, and its time in the item minus its time on air. `undefined` is silence. */
  sounds: ({ isApart: boolean; skewMs: number } | undefined)[];
}

/** Plays an item to its end as the engine does. */
async function play({ reader, item: opened }: OpenedItem): Promise<Heard> {
  let turns = 0;
  const splicer = new Splicer({ video: () => (turns++ === 0 ? opened : 'none') });
  const heard: Heard = { pictures: [], sounds: [] };
  const startMs = (reader.startTicks * 1000) / 120_000;
  const frames = reader.videoFrames;
  while (heard.pictures.length < frames) {
    const tag = splicer.step();
    if (!tag) await setImmediate();
    else if (tag.kind === 'header') continue;
    else if (tag.type === TAG_VIDEO) heard.pictures.push(numberIn(tag.body, 5));
    else {
      const isSilent = tag.body.length < 20;
      const skewMs = isSilent ? 0 : numberIn(tag.body, 2) * MS_PER_SOUND - startMs - tag.timestampMs;
      heard.sounds.push(isSilent ? undefined : { isApart: tag.body.length > 6 + 20, skewMs });
    }
  }
  splicer.close();
  return heard;
}

const largestSkewMs = ({ sounds }: Heard) => Math.max(...sounds.map((one) => Math.abs(one?.skewMs ?? 0)));

describe('an item with a sound', () => {
  test.each([
    ['from its beginning', 0],
    ['at a keyframe', GOP * 3],
    ['between two keyframes', 47],
    ['in another chunk of both', 212],
    ['near its end', FRAMES - 3],
  ])('is heard with it alone, within half an AAC frame of its pictures, joined %s', async (_where, frame) => {
    await publishWhole(storage, SOUND, buildSound());
    const { opened, faults } = await open(frame * FRAME_TICKS);
    const heard = await play(opened);
    const first = frame - (frame % GOP);
    expect(heard.pictures).toHaveLength(FRAMES - first);
    expect(heard.pictures[0]).toBe(first);
    expect(heard.sounds.filter((one) => !one?.isApart)).toEqual([]);
    expect(heard.sounds.length).toBeGreaterThan(((FRAMES - first) / FPS) * (1000 / MS_PER_SOUND) - 2);
    expect(largestSkewMs(heard)).toBeLessThanOrEqual(LARGEST_SKEW_MS);
    expect(faults).toEqual([]);
  });

  const sound = buildSound();
  const [firstChunk, secondChunk] = sound.index.chunks.map((chunk) => chunkKey(SOUND, chunk)) as [string, string];
  test.each<[string, string, () => Promise<void>]>([
    ['is not there', 'item_missing', async () => undefined],
    [
      'has a damaged index',
      'item_invalid',
      async () => {
        await publishWhole(storage, SOUND, sound);
        await storage.write(indexKey(SOUND), Buffer.from('{"version":3}'));
      },
    ],
    [
      'lacks its first chunk',
      'item_missing',
      async () => {
        await publishWhole(storage, SOUND, sound);
        await storage.delete(firstChunk);
      },
    ],
    ['is another one’s', 'item_invalid', () => publishWhole(storage, SOUND, buildSound(FRAMES / 2))],
    [
      'has pictures',
      'item_invalid',
      () => publishWhole(storage, SOUND, cutRendition(buildMedia(), { fps: FPS, frames: 100 })),
    ],
    [
      'is asked for in vain',
      'storage_unavailable',
      async () => {
        storage.hangs = SOUND;
      },
    ],
  ])('is heard with that of its rendition where the sound %s', async (_what, code, prepare) => {
    await prepare();
    const { opened, faults } = await open();
    expect(faults).toMatchObject([{ code }]);
    const heard = await play(opened);
    expect(heard.pictures).toHaveLength(FRAMES);
    expect(heard.sounds.filter((one) => one === undefined || one.isApart)).toEqual([]);
    expect(largestSkewMs(heard)).toBeLessThanOrEqual(LARGEST_SKEW_MS);
  });

  test.each<[string, string, () => Promise<void>]>([
    ['is gone', 'item_missing', () => storage.delete(secondChunk)],
    ['is damaged', 'item_invalid', () => storage.write(secondChunk, Buffer.alloc(sound.bodies[1]?.length ?? 0, 1))],
  ])(
    'goes on with that of its rendition where a part of the sound %s: in time, behind some silence',
    async (_what, code, damage) => {
      await publishWhole(storage, SOUND, sound);
      await damage();
      const { opened, faults } = await open();
      const heard = await play(opened);
      expect(faults).toMatchObject([{ code }]);
      expect(heard.pictures).toHaveLength(FRAMES);
      const kinds = heard.sounds.map((one) => (one ? (one.isApart ? 'apart' : 'own') : 'silence'));
      expect(kinds.filter((kind, i) => kind !== kinds[i - 1])).toEqual(['apart', 'silence', 'own']);
      expect(kinds.filter((kind) => kind === 'apart')).toHaveLength(100);
      expect(kinds.filter((kind) => kind === 'silence').length * MS_PER_SOUND).toBeLessThan(4000);
      expect(largestSkewMs(heard)).toBeLessThanOrEqual(LARGEST_SKEW_MS);
    },
  );
});

describe('a track', () => {
  async function load(songs: boolean) {
    const lines: string[] = [];
    const sink = new Writable({
      write: (line, _, done) => {
        lines.push(String(line));
        done();
      },
    });
    const ended = new AbortController();
    const track = new TrackPlayer({
      storage,
      kind: 'video',
      clock: systemClock,
      log: pino(sink),
      signal: ended.signal,
      onData: () => undefined,
    });
    cleanups.push(
      () => track.close(),
      () => ended.abort(),
    );
    const program = buildProgram([{ ...item, sound: SOUND }], {
      ...(songs && { audio: { mode: 'sequential', items: [{ id: 's', name: 'S', rendition: 'renditions/s.flv' }] } }),
    });
    await track.load(program, program.video);
    return { track, lines };
  }
  const next = (track: TrackPlayer) =>
    until('the next item', () => {
      const found = track.next();
      return typeof found === 'string' ? undefined : found;
    });

  test('counts each turn in which a sound failed, logs the sound once, and does not call its item broken', async () => {
    const { track, lines } = await load(false);
    for (let turn = 0; turn < 3; turn++) (await next(track)).close();
    await until('a fourth turn', () => track.stats().soundFaults === 4);
    expect(lines.filter((line) => line.includes(SOUND))).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ item: item.id, storageKey: SOUND, code: 'item_missing' });
    expect(track.stats()).toMatchObject({ broken: [], skipped: {} });
  });

  test('reads nothing of a sound while songs are played', async () => {
    await publishWhole(storage, SOUND, buildSound());
    const { track } = await load(true);
    const opened = await next(track);
    opened.mute();
    await until('its second turn', () => track.stats().next !== null && track.next() !== 'wait');
    expect(storage.asked.some((key) => key.startsWith(item.rendition))).toBe(true);
    expect(storage.asked.filter((key) => key.startsWith(SOUND))).toEqual([]);
    opened.close();
  });
});
