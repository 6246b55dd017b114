import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Indexer } from '../../../../../../src/core/pods/prepare/transcode/indexer.ts';
import { ORIGIN_MS } from '../../../../../../src/core/pods/prepare/transcode/plan.ts';
import {
  encodedBytes,
  encodeTags,
  fileHeader,
  Rewriter,
} from '../../../../../../src/core/pods/prepare/transcode/rewriter.ts';
import {
  compositionTimeMs,
  type FlvTag,
  isAudioFrame,
  isVideoFrame,
  parseFlv,
  TAG_AUDIO,
  TAG_VIDEO,
  type TagType,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { audioFramesFor, audioSlotMs, videoSlotMs } from '../../../../../../src/core/pods/rendition/frame-times.ts';
import type { Chunk } from '../../../../../../src/core/pods/rendition/index.ts';
import { FRAMERATES, type Framerate } from '../../../../../../src/core/resources/stream/profile.ts';

const tag = (type: TagType, timestampMs: number, hex: string): FlvTag => ({
  type,
  timestampMs,
  body: Buffer.from(hex, 'hex'),
  offset: 0,
});
const HEADERS = [tag(TAG_VIDEO, 0, '17000000000164001effe100'), tag(TAG_AUDIO, 0, 'af001190')];
const IDR = '17010000000000000265ff';
const P = '27010000000000000241ff';
const pictures = (count: number, fps: Framerate) =>
  Array.from({ length: count }, (_, i) =>
    tag(TAG_VIDEO, ORIGIN_MS + videoSlotMs(i, fps), i % (2 * fps) === 0 ? IDR : P),
  );
/** A picture that is decoded at any time and shown in this slot. */
const shownAt = (slot: number, fps = 30) => {
  const shown = tag(TAG_VIDEO, ORIGIN_MS, P);
  shown.body.writeIntBE(Math.round((slot * 1000) / fps), 2, 3);
  return shown;
};
/** The encoder's output: one frame of run-up before zero. */
const sound = (count: number) =>
  Array.from({ length: count + 1 }, (_, i) => tag(TAG_AUDIO, ORIGIN_MS - 21 + audioSlotMs(i), 'af01aabb'));

function rewrite(tags: FlvTag[], framerate: Framerate | undefined, delayFrames = 0) {
  const rewriter = new Rewriter(framerate, { sound: false, videoFrames: undefined, delayFrames });
  const made = [...tags.flatMap((t) => rewriter.push(t)), ...rewriter.end()];
  const written = Buffer.alloc(encodedBytes(made));
  encodeTags(made, written);
  const flv = Buffer.concat([fileHeader(framerate), written]);
  return { flv, silentFrames: rewriter.silentFrames };
}

/** Cuts a file that arrives in pieces into chunks. */
function cut(flv: Buffer, framerate: Framerate | undefined, chunkSeconds?: number) {
  const indexer = new Indexer(framerate, chunkSeconds);
  const chunks: Chunk[] = [];
  let rest = Buffer.alloc(0);
  for (let at = 0; at < flv.length; at += 1000) {
    const data = Buffer.concat([rest, flv.subarray(at, at + 1000)]);
    const { used, cuts } = indexer.take(data);
    rest = data.subarray(used);
    chunks.push(...cuts.map(({ chunk }) => chunk));
  }
  const { last, totals } = indexer.end();
  return { ...totals, chunks: [...chunks, last] };
}

describe('sound alone of pictures in another rendition', () => {
  const frames = (tags: FlvTag[], mends = false) => {
    const rewriter = new Rewriter(undefined, { sound: mends, videoFrames: undefined, audioFrames: 100 });
    const made = [HEADERS[1] as FlvTag, ...tags].flatMap((one) => rewriter.push(one));
    const times = [...made, ...rewriter.end()].filter((one) => one.body[1] === 1).map((one) => one.timestampMs);
    return { times, silentFrames: rewriter.silentFrames };
  };
  const all = Array.from({ length: 100 }, (_, frame) => audioSlotMs(frame));

  test('is cut to their length, or filled with silence', () => {
    expect(frames(sound(120))).toEqual({ times: all, silentFrames: 0 });
    expect(frames(sound(90))).toEqual({ times: all, silentFrames: 10 });
  });

  test('keeps its holes and a late beginning, which are silent', () => {
    const late = sound(100).slice(21);
    expect(frames(late, true)).toEqual({ times: all, silentFrames: 20 });
    const holed = sound(100).filter((_, at) => at < 11 || at >= 21);
    expect(frames(holed, true)).toEqual({ times: all, silentFrames: 10 });
  });
});

describe('rewriting', () => {
  test('keeps the promises for any length of pictures and sound, in any order of arrival', () => {
    const anyCase = fc.record({
      fps: fc.constantFrom(...FRAMERATES),
      frames: fc.integer({ min: 1, max: 300 }),
      aac: fc.integer({ min: 1, max: 400 }),
      soundFirst: fc.boolean(),
    });
    const property = fc.property(anyCase, ({ fps, frames, aac, soundFirst }) => {
      const tracks = soundFirst ? [...sound(aac), ...pictures(frames, fps)] : [...pictures(frames, fps), ...sound(aac)];
      const { flv, silentFrames } = rewrite([...HEADERS, ...tracks], fps);
      const index = cut(flv, fps);
      expect(index.video?.frames).toBe(frames);
      expect(index.audio.frames).toBe(audioFramesFor(frames, fps));
      expect(silentFrames).toBe(Math.max(0, audioFramesFor(frames, fps) - aac));
    });
    fc.assert(property, { numRuns: 60 });
  });

  test('leaves the encoder’s run-up out and keeps the audible part', () => {
    const [lead, ...heard] = sound(3);
    if (!lead) throw new Error('no run-up');
    lead.body = Buffer.from('af01dead', 'hex');
    const { flv } = rewrite([...HEADERS, lead, ...heard], undefined);
    const bodies = parseFlv(flv).filter(({ type }) => type === TAG_AUDIO);
    expect(bodies.map(({ body }) => body.toString('hex'))).toEqual(['af001190', 'af01aabb', 'af01aabb', 'af01aabb']);
    expect(bodies.map(({ timestampMs }) => timestampMs)).toEqual([0, 0, 21, 43]);
  });

  test('skips the empty AAC header that ffmpeg may write first', () => {
    const { flv } = rewrite([tag(TAG_AUDIO, 0, 'af00'), ...HEADERS, ...pictures(2, 30), ...sound(3)], 30);
    expect(parseFlv(flv).filter(({ body }) => body.toString('hex').startsWith('af00'))).toHaveLength(1);
  });

  test('B-frames keep their slots; sound lies where its pictures are shown', () => {
    // In decoding order: I0 P4 B2 b1 b3 P7 b5 b6; the source was cut before b8, so P9 moves to its slot.
    const slots = [4, 2, 1, 3, 7, 5, 6, 9];
    const { flv } = rewrite(
      [...HEADERS, ...pictures(1, 30), ...slots.map((slot) => shownAt(slot)), ...sound(20)],
      30,
      2,
    );
    const tags = parseFlv(flv);
    const shown = tags
      .filter(isVideoFrame)
      .map((t) => Math.round(((t.timestampMs + compositionTimeMs(t)) * 30) / 1000));
    expect(shown).toEqual([0, 4, 2, 1, 3, 7, 5, 6, 8].map((slot) => slot + 2));
    expect(tags.find(isAudioFrame)?.timestampMs).toBe(videoSlotMs(2, 30));
    expect(cut(flv, 30).video?.frames).toBe(9);
  });

  test.each([
    ['a missing picture', [...pictures(2, 30), ...pictures(9, 30).slice(5)], '3 video frames are missing'],
    ['a hole in the sound', [...sound(3), ...sound(9).slice(6)], 'AAC frame 3 is at'],
    [
      'a picture reordered beyond the header',
      [...pictures(1, 30), shownAt(2), shownAt(1)],
      'further than its header says',
    ],
    ['a picture between two slots', [...pictures(1, 30), tag(TAG_VIDEO, ORIGIN_MS + 50, P)], 'between two frames'],
    ['two pictures at once', [...pictures(2, 30), shownAt(1)], 'together with another'],
    ['another configuration', [tag(TAG_VIDEO, ORIGIN_MS, '17000000000164002effe100')], 'configuration changes'],
    ['no picture at all', sound(3), 'has no video'],
  ])('%s is a broken promise', (_what, tags, message) => {
    expect(() => rewrite([...HEADERS, ...tags], 30)).toThrow(message);
  });
});

describe('the index', () => {
  test('points at the tag of each keyframe', () => {
    const { flv } = rewrite([...HEADERS, ...pictures(150, 30), ...sound(300)], 30);
    const index = cut(flv, 30);
    const keyframes = index.chunks[0]?.video?.keyframes ?? [];
    expect(keyframes.map(({ frame }) => frame)).toEqual([0, 60, 120]);
    for (const { offset } of keyframes) expect(flv.subarray(offset + 11, offset + 22).toString('hex')).toBe(IDR);
    expect(index).toMatchObject({ chunks: [{ sizeBytes: flv.length }], durationSeconds: 5 });
  });

  test('lists at most two keyframes a second', () => {
    const keyframes = pictures(40, 30).map((t) => ({ ...t, body: Buffer.from(IDR, 'hex') }));
    const { flv } = rewrite([...HEADERS, ...keyframes, ...sound(100)], 30);
    expect(cut(flv, 30).chunks[0]?.video?.keyframes.map(({ frame }) => frame)).toEqual([0, 15, 30]);
  });

  test('cuts chunks in front of keyframes, which together are the file', () => {
    const anyCase = fc.record({
      fps: fc.constantFrom(...FRAMERATES),
      frames: fc.integer({ min: 1, max: 900 }),
      chunkSeconds: fc.integer({ min: 1, max: 9 }),
    });
    const property = fc.property(anyCase, ({ fps, frames, chunkSeconds }) => {
      const { flv } = rewrite([...HEADERS, ...pictures(frames, fps), ...sound(2 * frames)], fps);
      const { chunks } = cut(flv, fps, chunkSeconds);
      // A GOP lasts two seconds.
      const step = 2 * Math.ceil(chunkSeconds / 2) * fps;
      expect(chunks.map(({ firstFrame }) => firstFrame)).toEqual(chunks.map((_, i) => i * step));
      expect(chunks.reduce((sum, chunk) => sum + chunk.frames, 0)).toBe(frames);
      let begin = 0;
      for (const { sizeBytes, sha256, video } of chunks) {
        const bytes = flv.subarray(begin, begin + sizeBytes);
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
        const [first] = video?.keyframes ?? [];
        expect(bytes.subarray((first?.offset ?? 0) + 11, (first?.offset ?? 0) + 22).toString('hex')).toBe(IDR);
        expect(begin > 0 && first?.offset).toBe(begin > 0 && 0);
        begin += sizeBytes;
      }
      expect(begin).toBe(flv.length);
    });
    fc.assert(property, { numRuns: 40 });
  });

  test('cuts sound alone after as many AAC frames as fit', () => {
    const { flv } = rewrite([tag(TAG_AUDIO, 0, 'af001190'), ...sound(200)], undefined);
    const { chunks, audio } = cut(flv, undefined, 1);
    expect(audio.frames).toBe(200);
    expect(chunks.map(({ firstFrame }) => firstFrame)).toEqual([0, 47, 94, 141, 188]);
    expect(chunks.every(({ video }) => video === undefined)).toBe(true);
  });

  test.each([
    ['a keyframe that is missing', (hex: string, frame: number) => (frame > 0 ? P : hex)],
    ['a keyframe that is no IDR', (hex: string) => hex.replace('65ff', '41ff')],
  ])('refuses %s', (_what, spoil) => {
    const spoilt = pictures(150, 30).map((t, frame) => ({
      ...t,
      body: Buffer.from(spoil(t.body.toString('hex'), frame), 'hex'),
    }));
    expect(() => cut(rewrite([...HEADERS, ...spoilt, ...sound(300)], 30).flv, 30)).toThrow(
      expect.objectContaining({ name: 'BrokenPromiseError' }),
    );
  });

  test('refuses a file that was cut off, and one of another frame rate', () => {
    const { flv } = rewrite([...HEADERS, ...pictures(90, 30), ...sound(300)], 30);
    expect(() => cut(flv.subarray(0, flv.length - 3), 30)).toThrow(expect.objectContaining({ name: 'FlvError' }));
    expect(() => cut(flv, 25)).toThrow(expect.objectContaining({ name: 'BrokenPromiseError' }));
    expect(() => cut(flv, undefined)).toThrow(expect.objectContaining({ name: 'BrokenPromiseError' }));
  });
});
