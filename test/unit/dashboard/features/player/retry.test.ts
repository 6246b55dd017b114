import { expect, test } from 'vitest';
import { failuresAfter, GOOD_PLAY_MS, retryDelay } from '../../../../../src/dashboard/features/player/retry.ts';

test('a broken preview is tried again quickly first and never less often than every ten seconds', () => {
  expect([0, 1, 2, 3, 4, 50, 5000].map(retryDelay)).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  expect(retryDelay(-1)).toBe(1000);
});

test('a preview that played well begins again with the shortest wait', () => {
  expect(failuresAfter(4, 0)).toBe(5);
  expect(failuresAfter(4, GOOD_PLAY_MS - 1)).toBe(5);
  expect(retryDelay(failuresAfter(4, GOOD_PLAY_MS) - 1)).toBe(1000);
});
