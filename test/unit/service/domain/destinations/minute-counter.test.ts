/** Tests how many attempts an account may begin within a minute. */
import { expect, test } from 'vitest';
import type { Clock } from '../../../../../src/core/lib/clock.ts';
import { createMinuteCounter } from '../../../../../src/service/domain/destinations/minute-counter.ts';

function clockAt() {
  let ms = 1_000_000;
  const clock = { monotonicMs: () => ms, now: () => new Date(ms) } as unknown as Clock;
  return { clock, pass: (more: number) => (ms += more) };
}

test('each counts for a minute, for its own account alone', () => {
  const { clock, pass } = clockAt();
  const pace = createMinuteCounter(clock);
  expect([pace.begin('ada').before, pace.begin('ada').before, pace.begin('bob').before]).toEqual([0, 1, 0]);
  pass(59_000);
  expect(pace.begin('ada').before).toBe(2);
  pass(2_000);
  expect([pace.count('ada'), pace.count('bob')]).toEqual([1, 0]);
});

test('a refused attempt does not count, so that retries do not lock an account out', () => {
  const { clock } = clockAt();
  const pace = createMinuteCounter(clock);
  pace.begin('ada');
  for (let i = 0; i < 10; i += 1) {
    const { before, undo } = pace.begin('ada');
    expect(before).toBe(1);
    undo();
  }
});
