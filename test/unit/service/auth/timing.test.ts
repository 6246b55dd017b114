import { expect, test } from 'vitest';
import { computeRemainingMs, hideDuration } from '../../../../src/service/auth/timing.ts';

test('however long it took, the answer comes at the same time, or at the next', async () => {
  for (const took of [0.1, 3, 80, 249.9]) expect(took + computeRemainingMs(took)).toBe(250);
  expect(computeRemainingMs(250)).toBe(0);
  expect(251 + computeRemainingMs(251)).toBe(500);
});

test('a request that reveals nothing is not delayed', async () => {
  let now = 1000;
  const waited: number[] = [];
  const clock = { now: () => new Date(), monotonicMs: () => now };
  const wait = async (ms: number) => void waited.push(ms);
  const work = async () => {
    now += 90;
    return 401;
  };
  expect(await hideDuration(work, (status) => status !== 200, { clock, wait })).toBe(401);
  expect(await hideDuration(work, (status) => status === 200, { clock, wait })).toBe(401);
  expect(waited).toEqual([160]);
});
