/** Keeps keyframes, and forgets the oldest ones before they fill the memory. */
import { expect, test } from 'vitest';
import { Keyframes } from '../../../../../src/core/platform/watch/keyframes.ts';
import {
  isAvcSequenceHeader,
  isKeyframe,
  parseFlv,
  TAG_AUDIO,
  TAG_VIDEO,
} from '../../../../../src/core/pods/rendition/flv.ts';

const header = (profile: number) =>
  ({ type: TAG_VIDEO, timestampMs: 0, body: Buffer.from([0x17, 0, 0, 0, 0, profile]) }) as const;
const picture = (timestampMs: number, frame = 0x17, bytes = 1) =>
  ({
    type: TAG_VIDEO,
    timestampMs,
    body: Buffer.concat([Buffer.from([frame, 1, 0, 0, 0]), Buffer.alloc(bytes, 7)]),
  }) as const;

test('gives each keyframe behind the configuration that it needs, once', () => {
  const keyframes = new Keyframes();
  const tags = [header(1), picture(0), picture(40, 0x27), picture(2_000), header(2), picture(4_000)];
  expect(tags.map((tag) => keyframes.push(tag))).toEqual([false, true, false, true, false, true]);
  const file = parseFlv(Buffer.concat(keyframes.take()));
  expect(file.map((tag) => [tag.timestampMs, isKeyframe(tag), isAvcSequenceHeader(tag)])).toEqual([
    [0, false, true],
    [0, true, false],
    [2_000, true, false],
    [4_000, false, true],
    [4_000, true, false],
  ]);
  expect(keyframes.take()).toEqual([]);
});

test('knows that there is video which it cannot pick', () => {
  const keyframes = new Keyframes();
  keyframes.push({ type: TAG_AUDIO, timestampMs: 0, body: Buffer.from([0xaf, 1, 2]) });
  expect(keyframes.newestVideoMs).toBeUndefined();
  // Enhanced RTMP: HEVC behind a four-character code.
  keyframes.push({ type: TAG_VIDEO, timestampMs: 40, body: Buffer.from([0x91, 0x68, 0x76, 0x63, 0x31, 1]) });
  expect([keyframes.newestVideoMs, keyframes.newest]).toEqual([40, undefined]);
});

test('keeps the newest of very large keyframes', () => {
  const keyframes = new Keyframes();
  keyframes.push(header(1));
  for (let index = 0; index < 20; index += 1) keyframes.push(picture(index * 1_000, 0x17, 4 * 2 ** 20));
  const bytes = keyframes.take().reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeLessThan(13 * 2 ** 20);
  expect(bytes).toBeGreaterThan(4 * 2 ** 20);
});

test('keeps a configuration once however often it is repeated, and none that is larger than any is', () => {
  const keyframes = new Keyframes();
  const large = { ...header(9), body: Buffer.concat([header(9).body, Buffer.alloc(2 ** 20)]) };
  for (let index = 0; index < 20; index += 1) {
    keyframes.push(header(1));
    keyframes.push(large);
    keyframes.push(picture(index * 1_000));
  }
  const file = parseFlv(Buffer.concat(keyframes.take()));
  expect(file.filter(isAvcSequenceHeader).map(({ body }) => body)).toEqual([header(1).body]);
});
