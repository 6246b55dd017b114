import { afterEach, expect, test, vi } from 'vitest';
import { backoffMs, exponentialMs } from '../../../../src/core/lib/backoff.ts';

const BACKOFF = { baseMs: 100, maxMs: 1_000 };

afterEach(() => {
  vi.restoreAllMocks();
});

test('the wait doubles with each attempt up to its limit, however many have failed', () => {
  const waits = [0, 1, 2, 3, 4, 5_000].map((attempt) => exponentialMs(BACKOFF, attempt));
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('half of the wait is random', () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  expect(backoffMs(BACKOFF, 1)).toBe(100);
  random.mockReturnValue(1);
  expect(backoffMs(BACKOFF, 1)).toBe(200);
});
