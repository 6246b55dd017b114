import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_UNSTEADY_SECONDS,
  rankPictures,
  SteadyRate,
} from '../../../../../../src/core/pods/prepare/inspect/steady-rate.ts';

/** Measures pictures without B-frames, with a keyframe every second. */
function measure(times: readonly number[], framerate = 30) {
  const rate = new SteadyRate(framerate);
  for (const [at, time] of times.entries()) rate.add(time, at % framerate === 0);
  return rate.result();
}

const HOUR = 3600;

describe('the steady rate', () => {
  test('brings every picture within the limit of its turn, whatever the jitter', () => {
    const noise = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 60, maxLength: 300 });
    fc.assert(
      fc.property(noise, fc.double({ min: 29.5, max: 30.5, noNaN: true }), (jitter, framerate) => {
        const times = jitter.map((at, n) => 5 + n / framerate + at * 0.009);
        const found = measure(times.toSorted((a, b) => a - b));
        expect(found).toBeDefined();
        const first = Math.min(...times);
        const off = times.toSorted((a, b) => a - b).map((time, n) => time - first - n / (found?.framerate ?? 1));
        expect(Math.max(...off.map(Math.abs))).toBeLessThanOrEqual(MAX_UNSTEADY_SECONDS + 1e-6);
      }),
    );
  });

  test('is the file’s own over an hour, within a nanosecond a frame', () => {
    const found = measure(Array.from({ length: 29.985 * HOUR }, (_, n) => n / 29.985));
    expect(Math.abs((29.985 * HOUR) / (found?.framerate ?? 1) - HOUR)).toBeLessThan(0.0002);
  });

  test('is the preferred one where that fits', () => {
    expect(measure(Array.from({ length: 90 }, (_, n) => n / 30 + (n % 2) * 0.004))?.framerate).toBe(30);
  });

  test.each([
    ['two pictures are missing', Array.from({ length: 90 }, (_, n) => (n < 45 ? n : n + 2) / 30)],
    ['two pictures are shown at once', Array.from({ length: 90 }, (_, n) => (n === 60 ? 59 : n) / 30)],
    ['there is one picture', [0]],
    ['a time is no number', [0, Number.NaN, 2 / 30]],
  ])('is unknown: %s', (_what, times) => {
    expect(measure(times)).toBeUndefined();
  });

  test('counts the delay of B-frames', () => {
    const rate = new SteadyRate(30);
    for (const [at, slot] of [0, 3, 1, 2, 6, 4, 5].entries()) rate.add(slot / 29.98, at === 0);
    expect(rate.result()).toMatchObject({ reorderedFrames: 1 });
  });
});

test('pictures have their turns in the order of showing, those of the same time in that of decoding', () => {
  expect(rankPictures([0, 30, 10, 20])).toEqual([0, 3, 1, 2]);
  expect(rankPictures([5, 5, 1])).toEqual([1, 2, 0]);
  expect(rankPictures([])).toEqual([]);
});
