import { expect, test } from 'vitest';
import { decideRestart, MAX_ENDS } from '../../../../tools/process/restart-policy.ts';

const decisions = (times: readonly number[]) => times.map((_, i) => decideRestart(times.slice(0, i + 1)));

test('each end within a minute doubles the pause, and the fifth is the last', () => {
  expect(decisions([0, 1_000, 2_000, 3_000, 4_000])).toEqual([
    { restart: true, pauseMs: 500 },
    { restart: true, pauseMs: 1_000 },
    { restart: true, pauseMs: 2_000 },
    { restart: true, pauseMs: 4_000 },
    { restart: false },
  ]);
});

test('ends that are a minute old count no more: a part that ends now and then goes on for ever', () => {
  const everyQuarterMinute = Array.from({ length: 100 }, (_, i) => i * 15_000);
  expect(decisions(everyQuarterMinute).every(({ restart }) => restart)).toBe(true);
  expect(decideRestart([0, 100_000])).toEqual({ restart: true, pauseMs: 500 });
});

test('four ends long ago and four now are not five in a minute', () => {
  const times = [0, 1, 2, 3, 60_001, 60_002, 60_003, 60_004];
  expect(decideRestart(times)).toEqual({ restart: true, pauseMs: 4_000 });
  expect(times.length).toBeGreaterThan(MAX_ENDS);
});

test('the fifth end just within the minute is one too many, and one just after it is not', () => {
  expect(decideRestart([0, 1, 2, 3, 59_999])).toEqual({ restart: false });
  expect(decideRestart([0, 1, 2, 3, 60_000])).toMatchObject({ restart: true });
});
