import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTicks, frameAt, frameTicks } from '../../../../src/core/pods/streamer/timeline/ticks.ts';
import {
  advance,
  computePlayhead,
  correctDuration,
  countTicksBefore,
  findItem,
  type Loop,
  orderRound,
  resumeAfter,
} from '../../../../src/core/programme/playhead.ts';
import { TICKS_PER_SECOND, ticksToMs } from '../../../../src/core/programme/ticks.ts';

const loops = fc.record({
  mode: fc.constantFrom('sequential' as const, 'shuffle' as const),
  seed: fc.integer(),
  durations: fc.array(fc.integer({ min: 1, max: 1e7 }), { minLength: 1, maxLength: 12 }),
});

test('a shuffled round plays every item once, and none twice in a row', () => {
  fc.assert(
    fc.property(loops, fc.integer({ min: 0, max: 1e6 }), (loop, round) => {
      const order = orderRound(loop, round);
      expect([...order].sort((a, b) => a - b)).toEqual(loop.durations.map((_, i) => i));
      if (order.length > 1) expect(orderRound(loop, round + 1)[0]).not.toBe(order.at(-1));
    }),
  );
});

test('different seeds and rounds are in different orders', () => {
  const orders = new Set<string>();
  const durations = Array.from({ length: 10 }, () => 1);
  for (let seed = 0; seed < 10; seed++)
    for (let round = 0; round < 20; round++) orders.add(orderRound({ mode: 'shuffle', seed, durations }, round).join());
  expect(orders.size).toBeGreaterThan(195);
});

test('playing on from a position reaches the clock’s place at every later time', () => {
  fc.assert(
    fc.property(loops, fc.nat(1e9), fc.nat(1e8), (loop: Loop, start, later) => {
      let position = computePlayhead(loop, start);
      if (!position) throw new Error('nothing plays');
      let end = start - position.offsetTicks;
      for (let n = 0; n < 500; n++) {
        const ticks = loop.durations[findItem(loop, position) ?? -1] ?? 0;
        if (start + later < end + ticks) {
          expect(computePlayhead(loop, start + later)).toEqual({ ...position, offsetTicks: start + later - end });
          return;
        }
        end += ticks;
        position = advance(loop, position);
      }
    }),
  );
});

test('before its epoch a loop stands at its beginning; with nothing to play it stands nowhere', () => {
  const loop: Loop = { mode: 'sequential', seed: 1, durations: [0, 10, 20] };
  expect(computePlayhead(loop, -5)).toEqual({ round: 0, turn: 1, offsetTicks: 0 });
  expect(computePlayhead({ ...loop, durations: [] }, 5)).toBeUndefined();
  expect(computePlayhead({ ...loop, durations: [0, 0] }, 5)).toBeUndefined();
});

test('a new version goes on behind the item that plays, or with the item that the clock says', () => {
  const loop: Loop = { mode: 'sequential', seed: 1, durations: [100, 100, 100] };
  expect(resumeAfter(loop, 0, { playing: 1, round: 4 })).toEqual({ round: 4, turn: 2, offsetTicks: 0 });
  expect(resumeAfter(loop, 0, { playing: 2, round: 0 })).toEqual({ round: 1, turn: 0, offsetTicks: 0 });
  expect(resumeAfter(loop, 150, { playing: undefined, round: 9 })).toEqual({ round: 0, turn: 1, offsetTicks: 0 });
  expect(resumeAfter({ ...loop, durations: [0] }, 5, { playing: 0, round: 0 })).toBeUndefined();
});

test('rounds of a short list do not put the epoch of a long one centuries back', () => {
  const day = 86_400 * TICKS_PER_SECOND;
  const loop: Loop = { mode: 'shuffle', seed: 1, durations: [day, day, day] };
  expect(resumeAfter(loop, 0, { playing: 0, round: 1e6 })).toMatchObject({ offsetTicks: 0 });
  expect(
    countTicksBefore(loop, resumeAfter(loop, 0, { playing: 0, round: 1e6 }) ?? { round: 1e6, turn: 0 }),
  ).toBeLessThan(4 * day);
});

test('a corrected duration moves the epoch, so that a pod that knows it from the start computes the same playhead', () => {
  fc.assert(
    fc.property(loops, fc.nat(1e4), fc.nat(11), fc.nat(11), fc.nat(1e7), (loop, round, turn, item, ticks) => {
      const count = loop.durations.length;
      const at = { round, turn: turn % count, offsetTicks: 0 };
      const playing = findItem(loop, at) ?? 0;
      if (item % count === playing) return;
      const corrected = correctDuration(loop, item % count, ticks, at);
      if (!corrected) {
        // Returns nothing: an assertion's result would count as the property's own verdict.
        expect(loop.durations[item % count]).toBe(ticks);
        return;
      }
      const epoch = -countTicksBefore(loop, at) + corrected.shiftTicks;
      expect(computePlayhead(corrected.loop, -epoch)).toEqual(at);
    }),
  );
  const day = 86_400 * TICKS_PER_SECOND;
  const short: Loop = { mode: 'sequential', seed: 1, durations: [1000, 0] };
  expect(correctDuration(short, 1, day, { round: 1e6, turn: 0 })).toBeUndefined();
});

test('a position that was reached at a moment is where the clock says, by the epoch that it gives', () => {
  fc.assert(
    fc.property(loops, fc.nat(1e4), fc.nat(11), fc.nat(1e9), (loop, round, at, now) => {
      const position = { round, turn: at % loop.durations.length, offsetTicks: 0 };
      const epoch = now - countTicksBefore(loop, position);
      expect(computePlayhead(loop, now - epoch)).toEqual(position);
    }),
  );
});

test('frames at every rate of a profile are whole ticks, and milliseconds do not drift in a year', () => {
  expect(frameTicks(30000, 1001)).toBe(4004);
  expect(frameTicks(120_001, 1)).toBeUndefined();
  expect(frameTicks(1, 61)).toBeUndefined();
  const frames = 60 * 86_400 * 365;
  expect(ticksToMs(frames * (frameTicks(60, 1) ?? 0))).toBe(365 * 86_400_000);
  expect(ticksToMs(TICKS_PER_SECOND / 60)).toBe(17);
});

test('frames at any other rate are where their count says, at any time of a day, and are found there', () => {
  const [num, den] = [1_000_000_000, 33_350_008];
  const ticks = frameTicks(num, den) ?? 0;
  expect(Number.isInteger(ticks)).toBe(false);
  for (let frame = 0; frame < 30 * 86_400; frame += 997) {
    const exact = Number((BigInt(frame) * BigInt(TICKS_PER_SECOND) * BigInt(den) * 1000n) / BigInt(num)) / 1000;
    expect(Math.abs(countTicks(frame, ticks) - exact)).toBeLessThanOrEqual(0.502);
    expect(frameAt(countTicks(frame, ticks), ticks)).toBe(frame);
  }
});
