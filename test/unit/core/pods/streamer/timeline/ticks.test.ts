import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FlvTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import {
  DEFAULT_AUDIO_HEADER,
  type NextItem,
  type OutTag,
  Splicer,
  type TimelineItem,
} from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';
import { frameTicks } from '../../../../../../src/core/pods/streamer/timeline/ticks.ts';
import { AUDIO_FRAME_TICKS } from '../../../../../../src/core/programme/ticks.ts';

const AUDIO_FRAME_MS = 1024 / 48;
const LONGEST_FRAME_MS = 1001 / 24;
const RATES: [number, number][] = [
  [24, 1],
  [25, 1],
  [30, 1],
  [60, 1],
  [24000, 1001],
  [30000, 1001],
];

/** The source of a frame: the sound of the pictures' items, or a song. */
const OF_PICTURES = 1;
const OF_SONG = 2;

interface Clip {
  rate: [number, number];
  frames: number;
  /** Pictures that are played: the item may be cut, or damaged, anywhere. */
  played: number;
  /** AAC frames more or fewer than fit. */
  extraAudio: number;
  delayFrames: number;
}

const clip = fc
  .record({
    rate: fc.constantFrom(...RATES),
    frames: fc.integer({ min: 1, max: 90 }),
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
    isCut: fc.boolean(),
    extraAudio: fc.integer({ min: -20, max: 20 }),
    delayFrames: fc.integer({ min: 0, max: 16 }),
  })
  .map(({ cut, isCut, ...c }): Clip => ({ ...c, played: isCut ? Math.max(1, Math.floor(c.frames * cut)) : c.frames }));
const songs = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 });
/** The times of switches, in output frames; without songs there is no list. */
const switches = fc.array(fc.record({ at: fc.nat(1500), songs: fc.option(songs, { nil: undefined }) }), {
  maxLength: 6,
});

const sound = (value: number): FlvTag => ({
  type: TAG_AUDIO,
  timestampMs: 0,
  body: Buffer.from([0xaf, 1, value, 0]),
  offset: 0,
});

function buildItem({ rate, frames, played, extraAudio, delayFrames }: Clip, waits: () => boolean) {
  const ticks = frameTicks(...rate) as number;
  const fits = Math.ceil((frames * ticks) / AUDIO_FRAME_TICKS);
  let video = played;
  let audio = Math.max(0, fits + extraAudio);
  let muted = false;
  const body = () => {
    const bytes = Buffer.from([video === played ? 0x17 : 0x27, 1, 0, 0, 0, 9]);
    bytes.writeIntBE(Math.round((delayFrames * 1000 * rate[1]) / rate[0]), 2, 3);
    return bytes;
  };
  const item: TimelineItem = {
    id: 'clip',
    name: 'Clip',
    videoHeader: Buffer.from([0x17, 0, 0, 0, 0, delayFrames]),
    audioHeader: DEFAULT_AUDIO_HEADER,
    frameTicks: ticks,
    videoFrames: frames,
    delayFrames,
    takeVideo: () => {
      if (waits()) return 'wait';
      if (video === 0) return 'end';
      const tag: FlvTag = { type: TAG_VIDEO, timestampMs: 0, body: body(), offset: 0 };
      video--;
      return tag;
    },
    takeAudio: () => {
      if (muted) throw new Error('nobody was to take its sound');
      return waits() ? 'wait' : audio-- > 0 ? sound(OF_PICTURES) : 'end';
    },
    mute: () => {
      muted = true;
    },
    close: () => undefined,
  };
  return item;
}

/** A list of songs with these numbers of AAC frames, each played whole. */
function buildList(lengths: readonly number[], waits: () => boolean): NextItem {
  let n = 0;
  return () => {
    if (waits()) return 'wait';
    let left = lengths[n++ % lengths.length] ?? 1;
    const clipOfSong: Clip = { rate: [30, 1], frames: 1, played: 1, extraAudio: 0, delayFrames: 0 };
    return {
      ...buildItem(clipOfSong, waits),
      takeAudio: () => (waits() ? 'wait' : left-- > 0 ? sound(OF_SONG) : 'end'),
    };
  };
}

const steps = (tags: OutTag[], type: number): number[] => {
  const times = tags.filter((t) => t.type === type && t.kind === 'frame').map((t) => t.timestampMs);
  return times.slice(1).map((t, i) => t - (times[i] as number));
};

test('for any cut, switch, gap or delay, in either track: no step too long, none back, never apart', () => {
  fc.assert(
    fc.property(
      fc.array(clip, { minLength: 1, maxLength: 6 }),
      switches,
      fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
      (clips, list, pattern) => {
        let k = 0;
        const waits = () => (pattern[k++ % pattern.length] as boolean) && k % 3 === 0;
        let n = 0;
        const next = () => (waits() ? ('wait' as const) : buildItem(clips[n++ % clips.length] as Clip, waits));
        const splicer = new Splicer({ video: next });
        const tags: OutTag[] = [];
        let apart = 0;
        for (let frames = 0, idle = 0; frames < 1500; ) {
          for (const { songs } of list.filter(({ at }) => at === frames))
            splicer.setAudio(songs && buildList(songs, waits));
          const tag = splicer.step();
          if (!tag && ++idle > 1000) throw new Error('it does not go on');
          if (!tag) continue;
          idle = 0;
          tags.push(tag);
          apart = Math.max(apart, Math.abs(splicer.stats.avSkewMs));
          if (tag.kind === 'frame') frames++;
        }
        const [video, audio] = [steps(tags, TAG_VIDEO), steps(tags, TAG_AUDIO)];
        expect(Math.min(...video, ...audio)).toBeGreaterThan(0);
        expect(Math.max(...video)).toBeLessThanOrEqual(LONGEST_FRAME_MS + 1);
        expect(Math.max(...audio)).toBeLessThanOrEqual(AUDIO_FRAME_MS + 1);
        expect(apart).toBeLessThanOrEqual(AUDIO_FRAME_MS);
      },
    ),
    { numRuns: 500 },
  );
});

test('a list of songs comes and goes between two items of the pictures, and each reports its time', () => {
  const never = () => false;
  const shape: Clip = { rate: [30, 1], frames: 30, played: 30, extraAudio: 0, delayFrames: 0 };
  const splicer = new Splicer({ video: () => buildItem(shape, never) });
  const heard: { at: number; value: number }[] = [];
  const run = (until: number) => {
    while (splicer.stats.videoFrames < until) {
      const tag = splicer.step();
      if (tag?.kind === 'frame' && tag.type === TAG_AUDIO) heard.push({ at: tag.timestampMs, value: tag.body[2] ?? 0 });
    }
  };
  const told: string[] = [];
  run(10);
  splicer.setAudio(buildList([3], never), () => told.push('never, because another came first'));
  splicer.setAudio(buildList([7], never), () => told.push('songs'));
  run(25);
  expect(told).toEqual([]);
  run(40);
  expect(told).toEqual(['songs']);
  splicer.setAudio(undefined, () => told.push('none'));
  run(100);
  expect(told).toEqual(['songs', 'none']);
  for (const { at, value } of heard) {
    const songs = at >= 1000 - AUDIO_FRAME_MS && at < 2000 + AUDIO_FRAME_MS;
    if (at < 1000 - AUDIO_FRAME_MS || at > 2000 + AUDIO_FRAME_MS) expect(value).toBe(OF_PICTURES);
    if (songs && at > 1000 + AUDIO_FRAME_MS && at < 2000 - AUDIO_FRAME_MS) expect(value).toBe(OF_SONG);
  }
  expect(splicer.stats.silentFrames).toBe(0);
});
