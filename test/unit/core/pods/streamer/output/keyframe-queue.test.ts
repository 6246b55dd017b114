/** A preview of keyframes alone: what a decoder needs for each of them, and nothing else. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import {
  isAvcSequenceHeader,
  isKeyframe,
  parseFlv,
  TAG_AUDIO,
  TAG_VIDEO,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { KeyframeQueue } from '../../../../../../src/core/pods/streamer/output/keyframe-queue.ts';
import { type Segment, Segmenter } from '../../../../../../src/core/pods/streamer/timeline/segment.ts';
import type { OutTag } from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';

const HEADER = Buffer.from([0x17, 0, 0, 0, 0, 1, 100, 0, 31]);
const SOUND = Buffer.from([0xaf, 1, 7, 7]);
const picture = (timestampMs: number, keyframe: boolean, bytes = 3): OutTag => ({
  kind: 'frame',
  type: TAG_VIDEO,
  timestampMs,
  body: Buffer.concat([Buffer.from([keyframe ? 0x17 : 0x27, 1, 0, 0, 0]), Buffer.alloc(bytes, 9)]),
  keyframe,
  compositionMs: undefined,
});

function* makeSegments(bytes?: number): Generator<Segment> {
  const segmenter = new Segmenter();
  const tags: OutTag[] = [
    { kind: 'header', type: TAG_VIDEO, timestampMs: 0, body: HEADER, keyframe: false, compositionMs: undefined },
    picture(0, true, bytes),
    { kind: 'frame', type: TAG_AUDIO, timestampMs: 10, body: SOUND, keyframe: false, compositionMs: undefined },
    picture(33, false),
    picture(2_000, true, bytes),
    picture(2_033, false),
  ];
  for (const tag of tags) {
    const segment = segmenter.add(tag);
    if (segment) yield segment;
  }
  const last = segmenter.flush();
  if (last) yield last;
}

test('has each keyframe with its time, behind the configuration of the decoder', () => {
  const sink = new PassThrough();
  const queue = new KeyframeQueue({ profile: '720p30', sink });
  for (const segment of makeSegments()) queue.offer(segment);
  const tags = parseFlv(sink.read() as Buffer).filter(({ type }) => type !== 18);
  expect(tags.filter(isKeyframe).map(({ timestampMs }) => timestampMs)).toEqual([0, 2_000]);
  expect(tags.filter((tag) => !isKeyframe(tag)).every(isAvcSequenceHeader)).toBe(true);
  expect(isAvcSequenceHeader(tags[0] as never)).toBe(true);
});

test('a viewer who takes nothing is let go, and holds no memory', () => {
  const sink = new PassThrough();
  let isGone = false;
  const queue = new KeyframeQueue({ profile: '720p30', sink, onOverflow: () => (isGone = true) });
  for (let round = 0; round < 8; round += 1) for (const segment of makeSegments(2 ** 20)) queue.offer(segment);
  expect(isGone).toBe(true);
  expect(sink.readableLength + sink.writableLength).toBeLessThan(12 * 2 ** 20);
});
