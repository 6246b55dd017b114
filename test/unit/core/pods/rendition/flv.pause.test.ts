import { expect, test } from 'vitest';
import { encodeHeader, parseFlv, TAG_AUDIO, TAG_VIDEO } from '../../../../../src/core/pods/rendition/flv.ts';
import { Broadcaster } from '../../../../../src/core/pods/streamer/output/broadcaster.ts';
import {
  DEFAULT_AUDIO_HEADER,
  Splicer,
  type TimelineItem,
} from '../../../../../src/core/pods/streamer/timeline/splicer.ts';
import { until } from '../../../../kit/wait.ts';

function buildItem(frames: number): TimelineItem {
  let video = frames;
  let audio = Math.ceil((frames * 4000) / 2560);
  const tag = (type: typeof TAG_AUDIO | typeof TAG_VIDEO, body: number[]) =>
    ({ type, timestampMs: 0, body: Buffer.from(body), offset: 0 }) as const;
  return {
    id: 'a',
    name: 'A',
    videoHeader: Buffer.from([0x17, 0, 0, 0, 0, 1]),
    audioHeader: DEFAULT_AUDIO_HEADER,
    frameTicks: 4000,
    videoFrames: frames,
    delayFrames: 0,
    takeVideo: () => (video === 0 ? 'end' : tag(TAG_VIDEO, [video-- === frames ? 0x17 : 0x27, 1, 0, 0, 0, 9])),
    takeAudio: () => (audio-- > 0 ? tag(TAG_AUDIO, [0xaf, 1, 0, 0]) : 'end'),
    mute: () => undefined,
    close: () => undefined,
  };
}

test('a process that was stopped for a minute, again and again, goes on where it was: time passes, the timeline has no hole', async () => {
  let jumpedMs = 0;
  const clock = { now: () => new Date(), monotonicMs: () => performance.now() + jumpedMs };
  const splicer = new Splicer({ video: () => buildItem(45) });
  const broadcaster = new Broadcaster({ splicer, clock });
  const parts: Buffer[] = [];
  broadcaster.listen((segment) => parts.push(Buffer.concat(segment.parts)), { watched: true });
  const ended = new AbortController();
  const running = broadcaster.run(ended.signal);
  for (const pauses of [1, 2, 3]) {
    const bytes = broadcaster.stats().bytes;
    await until('media goes on', () => broadcaster.stats().bytes > bytes);
    jumpedMs += 60_000;
    await until('the pause is noticed', () => broadcaster.stats().rebased === pauses);
  }
  const { bytes } = broadcaster.stats();
  await until('media after it', () => broadcaster.stats().bytes > bytes);
  ended.abort();
  await running;
  const tags = parseFlv(Buffer.concat([encodeHeader({ audio: true, video: true }), ...parts]));
  for (const [type, longestMs] of [
    [TAG_VIDEO, 34],
    [TAG_AUDIO, 22],
  ] as const) {
    const times = tags.filter((tag) => tag.type === type && tag.body[1] === 1).map((tag) => tag.timestampMs);
    const steps = times.slice(1).map((time, n) => time - (times[n] ?? time));
    expect(steps.length).toBeGreaterThan(60);
    expect(Math.min(...steps)).toBeGreaterThan(0);
    expect(Math.max(...steps)).toBeLessThanOrEqual(longestMs);
  }
  // Each pause gives one lead, and none of the three minutes.
  expect(splicer.stats.videoFrames / 30).toBeLessThan(30);
});
