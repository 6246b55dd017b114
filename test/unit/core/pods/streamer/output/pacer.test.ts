import { expect, test } from 'vitest';
import { DEFAULT_PACING, Pacer } from '../../../../../../src/core/pods/streamer/output/pacer.ts';

test('a lead is sent at once, and then as much as time has passed', () => {
  const pacer = new Pacer();
  expect(pacer.due(5000, 0)).toBe(1000);
  expect(pacer.due(5100, 1000)).toBe(1100);
  expect(pacer.due(65_000, 60_900)).toBe(61_000);
  expect(pacer.leadMs(65_000, 61_000)).toBe(1000);
});

test('batches keep their beat when one of them is late', () => {
  const pacer = new Pacer();
  pacer.due(1000, 0);
  expect(pacer.waitMs(1000)).toBe(100);
  expect(pacer.waitMs(1130)).toBe(70);
  expect(pacer.waitMs(1130, true)).toBe(370);
});

test('far behind, the time is given up instead of being sent all at once', () => {
  const pacer = new Pacer();
  pacer.due(0, 0);
  expect(pacer.due(60_000, 1000)).toBe(1000 + DEFAULT_PACING.leadMs);
  expect(pacer.rebased).toBe(1);
  expect(pacer.due(60_100, 2000)).toBe(2100);
});
