import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import {
  isAvcSequenceHeader,
  isKeyframe,
  parseFlv,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { OutputQueue } from '../../../../../../src/core/pods/streamer/output/output-queue.ts';
import { type Segment, Segmenter } from '../../../../../../src/core/pods/streamer/timeline/segment.ts';
import { DEFAULT_AUDIO_HEADER, type OutTag } from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';

const HEADER = Buffer.from([0x17, 0, 0, 0, 0, 1]);
const tag = (timestampMs: number, kind: OutTag['kind'], body: Buffer, type: OutTag['type'] = TAG_VIDEO): OutTag => ({
  type,
  timestampMs,
  body,
  compositionMs: kind === 'frame' && type === TAG_VIDEO ? 66 : undefined,
  kind,
  keyframe: kind === 'frame' && body[0] === 0x17,
});

/** A stream at 10 pictures a second, a keyframe every second, a segment for each picture. */
function segments(seconds: number): Segment[] {
  const segmenter = new Segmenter();
  segmenter.add(tag(0, 'header', HEADER));
  segmenter.add(tag(0, 'header', DEFAULT_AUDIO_HEADER, TAG_AUDIO));
  const made: Segment[] = [];
  for (let ms = 0; ms < seconds * 1000; ms += 100) {
    const closed = segmenter.add(tag(ms, 'frame', Buffer.from([ms % 1000 === 0 ? 0x17 : 0x27, 1, 0, 0, 0, 7])));
    if (closed) made.push(closed);
    const flushed = segmenter.flush();
    if (flushed) made.push(flushed);
  }
  return made;
}

/** A sink that takes nothing until its release. */
function slowSink() {
  const chunks: Buffer[] = [];
  let release: (() => void) | undefined;
  let open = false;
  const sink = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _, done) => {
      chunks.push(chunk);
      if (open) done();
      else release = done;
    },
  });
  return {
    sink,
    data: () => Buffer.concat(chunks),
    open: () => {
      open = true;
      release?.();
    },
  };
}

test('a viewer who joins in the middle begins at a keyframe, behind file header, metadata and decoder headers', () => {
  const { sink, data, open } = slowSink();
  open();
  const queue = new OutputQueue({ profile: '720p30', sink });
  for (const segment of segments(5).slice(13)) queue.offer(segment);
  const tags = parseFlv(data());
  expect(tags.slice(0, 4).map((t) => t.type)).toEqual([TAG_SCRIPT, TAG_VIDEO, TAG_AUDIO, TAG_VIDEO]);
  expect(isAvcSequenceHeader(tags[1] as (typeof tags)[0])).toBe(true);
  expect(isKeyframe(tags[3] as (typeof tags)[0])).toBe(true);
  expect(tags[1]?.timestampMs).toBe(2000);
  expect(tags[3]?.timestampMs).toBe(2000);
  expect(tags[3]?.body.readIntBE(2, 3)).toBe(66);
  expect(queue.dropped).toBe(0);
});

test('a slow receiver loses whole GOPs, counted, and continues at a keyframe with headers, after any time', async () => {
  const { sink, data, open } = slowSink();
  const queue = new OutputQueue({ profile: '720p30', sink });
  const all = segments(60);
  for (const segment of all.slice(0, 555)) queue.offer(segment);
  expect(queue.dropped).toBeGreaterThanOrEqual(40);
  open();
  await new Promise((resolve) => setImmediate(resolve));
  for (const segment of all.slice(555)) queue.offer(segment);
  await new Promise((resolve) => setImmediate(resolve));
  const tags = parseFlv(data()).filter((t) => t.type === TAG_VIDEO);
  const frames = tags.filter((t) => !isAvcSequenceHeader(t));
  for (const [i, frame] of frames.entries()) {
    const step = frame.timestampMs - (frames[i - 1]?.timestampMs ?? frame.timestampMs - 100);
    expect(step).toBeGreaterThan(0);
    if (step === 100) continue;
    expect(isKeyframe(frame)).toBe(true);
    // The frames before it end at the end of a GOP.
    expect(frames[i - 1]?.timestampMs ?? 0).toSatisfy((ms: number) => ms % 1000 === 900);
    expect(isAvcSequenceHeader(tags[tags.indexOf(frame) - 1] as (typeof tags)[0])).toBe(true);
  }
  expect(frames.at(-1)?.timestampMs).toBe(59_900);
});

test('the queue is bounded in bytes and time while nothing is taken', () => {
  const { sink } = slowSink();
  const queue = new OutputQueue({ profile: '720p30', sink });
  const all = segments(600);
  let most = 0;
  for (const segment of all) {
    queue.offer(segment);
    most = Math.max(most, queue.queuedBytes);
  }
  const perSecond = all.slice(0, 10).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  // The rest of the current GOP, four seconds behind it, and headers.
  expect(most).toBeLessThan(6 * perSecond);
  expect(queue.dropped).toBeGreaterThan(590);
  queue.close();
  expect(queue.queuedBytes).toBe(0);
});

test('a slow viewer is dropped instead', () => {
  const { sink } = slowSink();
  let gone = 0;
  const queue = new OutputQueue({ profile: '720p30', sink, onOverflow: () => gone++ });
  for (const segment of segments(20)) queue.offer(segment);
  expect(gone).toBe(1);
  expect(queue.dropped).toBe(0);
});

test('each queued part has the number of bytes that a receiver needs to have anything of it', () => {
  const { sink, data, open } = slowSink();
  open();
  const told: number[] = [];
  const queue = new OutputQueue({ profile: '720p30', sink, onHanded: (fromBytes) => told.push(fromBytes) });
  const all = segments(2);
  for (const segment of all) queue.offer(segment);
  const ends = parseFlv(data()).map(({ offset, body }) => offset + 11 + body.length + 4);
  expect(told).toHaveLength(all.length);
  // Each report is at the end of a tag, and earlier data ends sooner.
  expect(told.every((bytes) => ends.includes(bytes))).toBe(true);
  expect(told.at(-1)).toBe(data().length);
});
