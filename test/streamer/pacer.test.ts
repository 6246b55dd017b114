import { expect, test } from 'vitest';
import { DEFAULT_PACE, Pace } from '../../src/media/streamer/output/pacer.ts';

test('a lead is sent at once, and then as much as time has passed', () => {
  const pace = new Pace();
  expect(pace.due(5000, 0)).toBe(1000);
  expect(pace.due(5100, 1000)).toBe(1100);
  expect(pace.due(65_000, 60_900)).toBe(61_000);
  expect(pace.leadMs(65_000, 61_000)).toBe(1000);
});

test('batches keep their beat when one of them is late', () => {
  const pace = new Pace();
  pace.due(1000, 0);
  expect(pace.waitMs(1000)).toBe(100);
  expect(pace.waitMs(1130)).toBe(70);
  expect(pace.waitMs(1130, true)).toBe(370);
});

test('far behind, the time is given up instead of being sent all at once', () => {
  const pace = new Pace();
  pace.due(0, 0);
  expect(pace.due(60_000, 1000)).toBe(1000 + DEFAULT_PACE.leadMs);
  expect(pace.rebased).toBe(1);
  expect(pace.due(60_100, 2000)).toBe(2100);
});
