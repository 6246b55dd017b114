import { expect, test } from 'vitest';
import { SendingRate } from '../../../../../../src/core/pods/streamer/output/sending-rate.ts';

function measure(seconds: number, bytesPerSecond: (second: number) => number, speed = 1): SendingRate {
  const rate = new SendingRate();
  let bytes = 0;
  for (let second = 0; second <= seconds; second++) {
    rate.add({ atMs: second * 1000, bytes, mediaMs: second * 1000 * speed });
    bytes += bytesPerSecond(second);
  }
  return rate;
}

test('the last minute counts, and nothing is said of a few seconds', () => {
  expect(measure(4, () => 125_000).read()).toBeNull();
  expect(measure(5, () => 125_000).read()).toEqual({ bitrateKbps: 1000, pace: 1 });
  expect(measure(200, (second) => (second < 140 ? 1_000_000 : 125_000)).read()?.bitrateKbps).toBe(1000);
});

test('a destination that takes less than the stream has is slower than 1', () => {
  expect(measure(60, () => 1, 0.8).read()?.pace).toBe(0.8);
});
