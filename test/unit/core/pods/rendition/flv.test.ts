import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compositionTimeMs,
  encodeHeader,
  encodeMetaData,
  encodeTag,
  FlvError,
  FlvParser,
  type FlvTag,
  isAacSequenceHeader,
  isAudioFrame,
  isAvcEndOfSequence,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  parseFlv,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../../../src/core/pods/rendition/flv.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const dir = tempDir();

const file = join(dir, 'clip.flv');
execFileSync('ffmpeg', [
  ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=s=160x90:r=30:d=2', '-f', 'lavfi', '-i', 'sine=r=48000:d=2'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-c:a', 'aac', file],
]);
const clip = readFileSync(file);

const encode = (tags: FlvTag[]): Buffer =>
  Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    ...tags.map((t) => encodeTag(t.type, t.timestampMs, t.body)),
  ]);

describe('a file that ffmpeg wrote', () => {
  const tags = parseFlv(clip);

  test('has every frame, header and keyframe where they are', () => {
    expect(tags.filter(isVideoFrame)).toHaveLength(60);
    expect(tags.filter(isKeyframe)).toHaveLength(4);
    expect(tags.filter(isAvcSequenceHeader)).toHaveLength(1);
    expect(tags.filter(isAacSequenceHeader)).toHaveLength(1);
    expect(tags.filter(isAvcEndOfSequence)).toHaveLength(1);
    expect(tags.filter(isAudioFrame).length).toBeGreaterThanOrEqual(94);
    expect(tags.filter(isVideoFrame).every((t) => compositionTimeMs(t) === 0)).toBe(true);
    for (const tag of tags) expect(clip[tag.offset]).toBe(tag.type);
  });

  test('can be read on from any keyframe offset', () => {
    const keyframe = tags.filter(isKeyframe)[2];
    const parser = new FlvParser(keyframe?.offset);
    const rest = parser.push(clip.subarray(keyframe?.offset));
    parser.end();
    expect(rest).toEqual(tags.slice(tags.findIndex((t) => t.offset === keyframe?.offset)));
  });

  test('gives the same tags however it is cut into chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        const parser = new FlvParser();
        const got: FlvTag[] = [];
        for (let at = 0, i = 0; at < clip.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          got.push(...parser.push(clip.subarray(at, at + size)));
          at += size;
        }
        parser.end();
        expect(got).toEqual(tags);
      }),
      { numRuns: 30 },
    );
  });

  test('is copied only where a tag spans two chunks', () => {
    const parser = new FlvParser();
    const cut = clip.length >> 1;
    const chunks = [clip.subarray(0, cut), Buffer.from(clip.subarray(cut))];
    const copied = chunks
      .flatMap((chunk) => parser.push(chunk))
      .filter(({ body }) => !chunks.some((chunk) => chunk.buffer === body.buffer));
    expect(copied.length).toBeLessThanOrEqual(1);
  });
});

test('written tags are read back, with all 32 bits of the timestamp', () => {
  const tag = fc.record({
    type: fc.constantFrom(TAG_AUDIO, TAG_VIDEO, TAG_SCRIPT),
    timestampMs: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    body: fc.uint8Array({ maxLength: 300 }).map((b) => Buffer.from(b)),
  });
  fc.assert(
    fc.property(fc.array(tag), (list) => {
      const tags = list.map((t) => ({ ...t, offset: 0 }));
      const back = parseFlv(encode(tags));
      expect(back.map(({ type, timestampMs, body }) => ({ type, timestampMs, body: body.toString('hex') }))).toEqual(
        list.map((t) => ({ ...t, body: t.body.toString('hex') })),
      );
    }),
  );
});

test('a timestamp beyond 32 bits wraps', () => {
  const data = Buffer.concat([
    encodeHeader({ audio: true, video: false }),
    encodeTag(TAG_AUDIO, 2 ** 32 + 5, Buffer.alloc(3)),
  ]);
  expect(parseFlv(data)[0]?.timestampMs).toBe(5);
});

test('an empty AAC header is no header', () => {
  expect(isAacSequenceHeader({ type: TAG_AUDIO, body: Buffer.from([0xaf, 0]) })).toBe(false);
  expect(isAacSequenceHeader({ type: TAG_AUDIO, body: Buffer.from([0xaf, 0, 0x11, 0x90]) })).toBe(true);
});

test('metadata is read by ffprobe', () => {
  const head = parseFlv(clip).filter((t) => t.type !== TAG_SCRIPT);
  const meta = { type: TAG_SCRIPT, timestampMs: 0, offset: 0, body: encodeMetaData({ title: 'loop', width: 160 }) };
  const out = execFileSync('ffprobe', ['-v', 'error', '-show_entries', 'format_tags=title', '-of', 'csv=p=0', '-'], {
    input: encode([meta as FlvTag, ...head]),
  });
  expect(out.toString().trim()).toBe('loop');
});

test('truncated or damaged input ends in an FlvError and nothing else', () => {
  const mutation = fc.record({
    flips: fc.array(fc.tuple(fc.nat(clip.length - 1), fc.nat(255)), { maxLength: 8 }),
    cut: fc.nat(clip.length),
    chunk: fc.integer({ min: 100, max: clip.length }),
  });
  fc.assert(
    fc.property(mutation, ({ flips, cut, chunk }) => {
      const data = Buffer.from(clip.subarray(0, cut));
      for (const [at, value] of flips) if (at < data.length) data[at] = value;
      const parser = new FlvParser();
      let bodies = 0;
      try {
        for (let at = 0; at < data.length; at += chunk)
          for (const tag of parser.push(data.subarray(at, at + chunk))) {
            bodies += tag.body.length;
            isKeyframe(tag);
            compositionTimeMs(tag);
          }
        parser.end();
      } catch (error) {
        expect(error).toBeInstanceOf(FlvError);
      }
      expect(bodies).toBeLessThanOrEqual(data.length);
    }),
    { numRuns: 2000 },
  );
});
