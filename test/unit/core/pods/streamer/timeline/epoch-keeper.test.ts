import { expect, test } from 'vitest';
import { EpochKeeper, type ItemStart } from '../../../../../../src/core/pods/streamer/timeline/epoch-keeper.ts';

const KNOWN = 1_000_000;
const begin = (keeper: EpochKeeper, byMs: number, more: Partial<ItemStart> = {}) =>
  keeper.begin({ epochMs: KNOWN + byMs, knownMs: KNOWN, endedEarly: false, rejoins: false, monotonicMs: 0, ...more }) -
  KNOWN;

test('joining at the keyframe before the place moves nothing, then or at the seams that follow', () => {
  const keeper = new EpochKeeper();
  for (const byMs of [1900, 1910, 1890, 2400]) expect(begin(keeper, byMs)).toBe(0);
});

test('a stream that began much later than its clock said has its own from there', () => {
  expect(begin(new EpochKeeper(), 30_000)).toBe(30_000);
});

test('a timeline that has waited takes its epoch along, at most once in ten minutes', () => {
  const keeper = new EpochKeeper();
  begin(keeper, 0);
  expect(begin(keeper, 3000, { monotonicMs: 1 })).toBe(3000);
  expect(begin(keeper, 6000, { monotonicMs: 500_000 })).toBe(0);
  expect(begin(keeper, 6000, { monotonicMs: 600_002 })).toBe(6000);
});

test('a skip and a new version always move it', () => {
  const keeper = new EpochKeeper();
  begin(keeper, 0);
  expect(begin(keeper, -500, { endedEarly: true })).toBe(-500);
  expect(keeper.begin({ epochMs: 7, knownMs: undefined, endedEarly: false, rejoins: false, monotonicMs: 0 })).toBe(7);
});

test('an item that joins behind the slate moves it no more than the first one does', () => {
  const keeper = new EpochKeeper();
  begin(keeper, 0);
  expect(begin(keeper, 1900, { rejoins: true })).toBe(0);
  expect(begin(keeper, 30_000, { rejoins: true })).toBe(30_000);
});
