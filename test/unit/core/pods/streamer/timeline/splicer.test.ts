import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FlvTag, SILENT_FRAME, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import {
  DEFAULT_AUDIO_HEADER,
  type OutTag,
  Splicer,
  type TimelineItem,
} from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';
import { frameTicks } from '../../../../../../src/core/pods/streamer/timeline/ticks.ts';
import { AUDIO_FRAME_TICKS } from '../../../../../../src/core/programme/ticks.ts';

const AUDIO_FRAME_MS = 1024 / 48;

interface Shape {
  rate: [number, number];
  frames: number;
  /** The number of AAC frames beyond (or below) the pictures' duration. */
  extraAudio: number;
  delayFrames: number;
  /** The number of pictures that the file lacks compared with its index. */
  missing?: number;
  header?: number;
}

/** Tags by content: readers leave them unchanged, and a million seams need not make each anew. */
const videoTags = new Map<number, FlvTag>();
function videoTag(keyframe: boolean, compositionMs: number): FlvTag {
  const key = 2 * compositionMs + Number(keyframe);
  const known = videoTags.get(key);
  if (known) return known;
  const body = Buffer.from([keyframe ? 0x17 : 0x27, 1, 0, 0, 0, 9]);
  body.writeIntBE(compositionMs, 2, 3);
  const tag: FlvTag = { type: TAG_VIDEO, timestampMs: 0, body, offset: 0 };
  videoTags.set(key, tag);
  return tag;
}
const audioTags = Array.from({ length: 256 }, (_, n): FlvTag => {
  return { type: TAG_AUDIO, timestampMs: 0, body: Buffer.from([0xaf, 1, n, 1]), offset: 0 };
});
const audioTag = (n: number): FlvTag => audioTags[n % 256] as FlvTag;
const videoHeaders = [0, 1, 2, 3].map((n) => Buffer.from([0x17, 0, 0, 0, 0, n]));

/** Builds an item of a well-read rendition; `waits` makes it return `wait` now and then. */
function item(shape: Shape, waits?: () => boolean): TimelineItem {
  const ticks = frameTicks(...shape.rate) as number;
  const frameMs = (1000 * shape.rate[1]) / shape.rate[0];
  let video = shape.frames - (shape.missing ?? 0);
  const total = video;
  let audio = Math.max(0, Math.ceil((shape.frames * ticks) / AUDIO_FRAME_TICKS) + shape.extraAudio);
  return {
    id: 'id',
    name: 'name',
    videoHeader: videoHeaders[shape.header ?? 1],
    audioHeader: DEFAULT_AUDIO_HEADER,
    frameTicks: ticks,
    videoFrames: shape.frames,
    delayFrames: shape.delayFrames,
    takeVideo: () => {
      if (waits?.()) return 'wait';
      if (video === 0) return 'end';
      return videoTag(video-- === total, Math.round(shape.delayFrames * frameMs));
    },
    takeAudio: () => (waits?.() ? 'wait' : audio === 0 ? 'end' : audioTag(audio--)),
    mute: () => undefined,
    close: () => undefined,
  };
}

/** Steps until `count` frames came out; a 'wait' is retried. */
function run(splicer: Splicer, count: number): OutTag[] {
  const out: OutTag[] = [];
  for (let frames = 0, idle = 0; frames < count; ) {
    const tag = splicer.step();
    if (!tag) {
      if (++idle > 1000) throw new Error('the splicer does not go on');
      continue;
    }
    idle = 0;
    out.push(tag);
    if (tag.kind === 'frame') frames++;
  }
  return out;
}

const steps = (tags: OutTag[], type: number): number[] => {
  const times = tags.filter((t) => t.type === type && t.kind === 'frame').map((t) => t.timestampMs);
  return times.slice(1).map((t, i) => t - (times[i] as number));
};

/** Checks all steps at once: an assertion for each of a million steps takes longer than the steps. */
function expectSteps(tags: OutTag[], type: number, longestMs: number): void {
  const all = steps(tags, type);
  expect(Math.min(...all)).toBeGreaterThan(0);
  expect(Math.max(...all)).toBeLessThanOrEqual(longestMs + 1);
}

const rates: [number, number][] = [
  [24, 1],
  [25, 1],
  [30, 1],
  [60, 1],
  [24000, 1001],
  [30000, 1001],
  // The own rate of a copied source: 29.98 and 29.985 frames a second, in whole nanoseconds.
  [1_000_000_000, 33_355_570],
  [1_000_000_000, 33_350_008],
];
const anyShape = fc.record({
  rate: fc.constantFrom(...rates),
  frames: fc.integer({ min: 1, max: 90 }),
  extraAudio: fc.integer({ min: -20, max: 20 }),
  delayFrames: fc.integer({ min: 0, max: 16 }),
  missing: fc.constant(0),
  header: fc.integer({ min: 1, max: 3 }),
});

describe('for any list of items', () => {
  test('timestamps increase strictly, and no step is longer than one frame and a millisecond', () => {
    fc.assert(
      fc.property(
        fc.array(anyShape, { minLength: 1, maxLength: 6 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
        (shapes, pattern) => {
          let n = 0;
          let k = 0;
          const waits = () => (pattern[k++ % pattern.length] as boolean) && k % 3 === 0;
          const next = () => (waits() ? ('wait' as const) : item(shapes[n++ % shapes.length] as Shape, waits));
          const splicer = new Splicer({ video: next });
          const tags = run(splicer, 2000);
          const longest = Math.max(...shapes.map((s) => (1000 * s.rate[1]) / s.rate[0]));
          expectSteps(tags, TAG_VIDEO, longest);
          expectSteps(tags, TAG_AUDIO, AUDIO_FRAME_MS);
          expect(Math.abs(splicer.stats.avSkewMs)).toBeLessThanOrEqual(AUDIO_FRAME_MS);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('every picture is shown in its own slot, for any B-frame delay of its item', () => {
    fc.assert(
      fc.property(fc.array(anyShape, { minLength: 2, maxLength: 5 }), (list) => {
        const shapes = list.map((s) => ({ ...s, rate: [30, 1] as [number, number] }));
        let n = 0;
        const splicer = new Splicer({ video: () => item(shapes[n++ % shapes.length] as Shape), delayTicks: 16 * 4000 });
        const shown = run(splicer, 800)
          .filter((t) => t.type === TAG_VIDEO && t.kind === 'frame')
          .map((t) => t.timestampMs + (t.compositionMs ?? 0));
        expect(shown).toEqual(shown.map((_, i) => Math.floor(((i + 16) * 1000) / 30 + 0.5)));
      }),
    );
  });

  test('a file that ends before its index says does not pull sound and picture apart', () => {
    fc.assert(
      fc.property(
        fc.array(anyShape, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 30 }),
        (list, missing) => {
          const shapes = list.map((s) => ({ ...s, missing: Math.min(missing, s.frames - 1) }));
          let n = 0;
          const splicer = new Splicer({ video: () => item(shapes[n++ % shapes.length] as Shape) });
          expectSteps(run(splicer, 1000), TAG_AUDIO, AUDIO_FRAME_MS);
          expect(Math.abs(splicer.stats.avSkewMs)).toBeLessThanOrEqual(AUDIO_FRAME_MS + 1);
        },
      ),
    );
  });

  test('sound that loops by itself is never cut, and neither track leaves a hole', () => {
    fc.assert(
      fc.property(
        fc.array(anyShape, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 }),
        (shapes, songs) => {
          let v = 0;
          let a = 0;
          const song = (): TimelineItem => {
            const frames = songs[a++ % songs.length] as number;
            let left = frames;
            return { ...item(shapes[0] as Shape), takeAudio: () => (left-- > 0 ? audioTag(left) : 'end') };
          };
          const splicer = new Splicer({ video: () => item(shapes[v++ % shapes.length] as Shape), audio: song });
          const tags = run(splicer, 1500);
          expectSteps(tags, TAG_AUDIO, AUDIO_FRAME_MS);
          expect(splicer.stats.silentFrames).toBe(0);
          const last = (type: number) => tags.findLast((t) => t.type === type && t.kind === 'frame')?.timestampMs ?? 0;
          expect(Math.abs(last(TAG_AUDIO) - last(TAG_VIDEO))).toBeLessThanOrEqual(17 * 42 + AUDIO_FRAME_MS);
        },
      ),
    );
  });
});

test('sound and picture stay within one AAC frame after a million seams', () => {
  const shapes: Shape[] = [
    { rate: [30, 1], frames: 2, extraAudio: 0, delayFrames: 0 },
    { rate: [30, 1], frames: 3, extraAudio: 1, delayFrames: 2 },
    { rate: [30, 1], frames: 1, extraAudio: -1, delayFrames: 1 },
  ];
  let n = 0;
  let worst = 0;
  const splicer = new Splicer({ video: () => item(shapes[n++ % 3] as Shape) });
  while (splicer.stats.seams < 1_000_000) {
    splicer.step();
    worst = Math.max(worst, Math.abs(splicer.stats.avSkewMs));
  }
  expect(worst).toBeLessThanOrEqual(AUDIO_FRAME_MS);
  expect(splicer.stats.maxVideoStepMs).toBeLessThanOrEqual(34);
  expect(splicer.stats.maxAudioStepMs).toBeLessThanOrEqual(22);
});

test('well-made items lose at most one AAC frame a seam and never need silence', () => {
  let n = 0;
  const shape: Shape = { rate: [30, 1], frames: 219, extraAudio: 0, delayFrames: 0 };
  const splicer = new Splicer({
    video: () => {
      n++;
      return item(shape);
    },
  });
  run(splicer, 50_000);
  expect(splicer.stats.silentFrames).toBe(0);
  expect(splicer.stats.seams).toBe(n - 1);
});

test('a decoder header comes before the first frame and again where it changes, and only there', () => {
  let n = 0;
  const splicer = new Splicer({
    video: () =>
      item({ rate: [30, 1], frames: 10, extraAudio: 0, delayFrames: 0, header: Math.floor(n++ / 2) % 2 === 0 ? 1 : 2 }),
  });
  const tags = run(splicer, 250);
  const headers = tags.filter((t) => t.type === TAG_VIDEO && t.kind === 'header');
  const pictures = tags.filter((t) => t.type === TAG_VIDEO && t.kind === 'frame').length;
  expect(tags.find((t) => t.type === TAG_VIDEO)?.kind).toBe('header');
  expect(headers).toHaveLength(Math.ceil(pictures / 20));
  expect(tags.filter((t) => t.type === TAG_AUDIO && t.kind === 'header')).toHaveLength(1);
  for (const header of headers) {
    const after = tags.slice(tags.indexOf(header) + 1).find((t) => t.type === TAG_VIDEO);
    expect(after?.keyframe).toBe(true);
    expect(after?.timestampMs).toBe(header.timestampMs);
  }
});

test('no item at hand makes it wait, and it goes on without a hole', () => {
  let ready = false;
  const splicer = new Splicer({
    video: () => (ready ? item({ rate: [30, 1], frames: 30, extraAudio: 0, delayFrames: 0 }) : 'none'),
  });
  expect(splicer.step()).toBeUndefined();
  ready = true;
  const before = run(splicer, 40);
  ready = false;
  while (splicer.step());
  ready = true;
  const all = [...before, ...run(splicer, 200)];
  expect(all.length).toBeGreaterThan(200);
  expect(splicer.stats.maxVideoStepMs).toBeLessThanOrEqual(34);
});

test('while no sound of its own can be played, there is silence', () => {
  const splicer = new Splicer({
    video: () => item({ rate: [30, 1], frames: 30, extraAudio: 0, delayFrames: 0 }),
    audio: () => 'none',
  });
  const sound = run(splicer, 100).filter((t) => t.type === TAG_AUDIO && t.kind === 'frame');
  expect(sound.length).toBeGreaterThan(30);
  expect(sound.every((t) => t.body === SILENT_FRAME)).toBe(true);
});

/** An item whose chunks were made in different ways: header and delay belong to the picture that was taken last. */
function buildParts(parts: readonly { frames: number; delayFrames: number }[]): TimelineItem {
  const pictures = parts.flatMap((part, header) => Array.from({ length: part.frames }, () => ({ ...part, header })));
  let { delayFrames = 0, header = 0 } = pictures[0] ?? {};
  let video = 0;
  let audio = 0;
  return {
    ...item({ rate: [30, 1], frames: pictures.length, extraAudio: 0, delayFrames: 0 }),
    get videoHeader() {
      return videoHeaders[header % 4];
    },
    get delayFrames() {
      return delayFrames;
    },
    takeVideo: () => {
      const picture = pictures[video];
      if (!picture) return 'end';
      const isFirst = video++ === 0 || picture.header !== header;
      ({ delayFrames, header } = picture);
      return videoTag(isFirst, Math.round((delayFrames * 1000) / 30));
    },
    takeAudio: () => ({
      type: TAG_AUDIO,
      timestampMs: 0,
      body: Buffer.from([0xaf, 1, audio >> 8, audio++ & 255]),
      offset: 0,
    }),
  };
}

test('within an item whose delay and header change from chunk to chunk, sound stays with its pictures', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ frames: fc.integer({ min: 1, max: 40 }), delayFrames: fc.integer({ min: 0, max: 16 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 0, max: 16 * 4000 }),
      (parts, delayTicks) => {
        const frames = parts.reduce((sum, part) => sum + part.frames, 0);
        let n = 0;
        const splicer = new Splicer({ video: () => (n++ === 0 ? buildParts(parts) : 'none'), delayTicks });
        const tags: OutTag[] = [];
        for (let tag = splicer.step(); tag; tag = splicer.step()) tags.push(tag);
        const out = (type: number) => tags.filter((tag) => tag.type === type && tag.kind === 'frame');
        const shown = out(TAG_VIDEO).map((tag) => tag.timestampMs + (tag.compositionMs ?? 0));
        expect(shown).toHaveLength(frames);
        if (frames > 1) expectSteps(tags, TAG_VIDEO, 1000 / 30);
        for (const [at, time] of shown.entries()) expect(time).toBeGreaterThan(shown[at - 1] ?? -1);
        for (const { timestampMs, body } of out(TAG_AUDIO)) {
          if (body === SILENT_FRAME) continue;
          const ticks = body.readUInt16BE(2) * AUDIO_FRAME_TICKS;
          const heardAt = [-1, 2].map((more) => {
            const picture = Math.max(0, Math.floor((ticks + more * AUDIO_FRAME_TICKS) / 4000));
            return (shown[picture] ?? Number.NaN) + (ticks - picture * 4000) / 120;
          });
          // Where pictures are shown later from one on, an AAC frame is heard with those before or behind.
          const [early = 0, late = 0] = heardAt;
          if (late - early <= 1) expect(Math.abs(timestampMs - early)).toBeLessThanOrEqual(AUDIO_FRAME_MS / 2 + 2);
        }
        const headers = tags.filter(({ type, kind }) => type === TAG_VIDEO && kind === 'header');
        expect(headers).toHaveLength(parts.length);
      },
    ),
    { numRuns: 300 },
  );
});

test('an item plays to the end that it tells late, sooner or later than expected', () => {
  for (const frames of [20, 30, 40]) {
    let taken = 0;
    const growing = (): TimelineItem => {
      const plain = item({ rate: [30, 1], frames, extraAudio: 0, delayFrames: 0 });
      taken = 0;
      return {
        ...plain,
        get videoFrames() {
          return taken < 15 ? 30 : frames;
        },
        takeVideo: () => {
          taken++;
          return plain.takeVideo();
        },
      };
    };
    const splicer = new Splicer({ video: growing });
    const tags = run(splicer, 1000);
    expectSteps(tags, TAG_VIDEO, 1000 / 30);
    expectSteps(tags, TAG_AUDIO, AUDIO_FRAME_MS);
    expect(splicer.stats.silentFrames).toBe(0);
    expect(Math.abs(splicer.stats.avSkewMs)).toBeLessThanOrEqual(AUDIO_FRAME_MS / 2);
    const keyframes = tags.filter((tag) => tag.type === TAG_VIDEO && tag.keyframe).map((tag) => tag.timestampMs);
    expect(keyframes).toEqual(keyframes.map((_, at) => Math.floor((at * frames * 1000) / 30 + 0.5)));
  }
});
