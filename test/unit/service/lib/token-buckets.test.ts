import { expect, test } from 'vitest';
import type { Clock } from '../../../../src/core/lib/clock.ts';
import { createTokenBuckets } from '../../../../src/service/lib/token-buckets.ts';

let nowMs = 0;
const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };

test('a bucket begins full, refills steadily and holds no more than a minute’s worth', () => {
  const buckets = createTokenBuckets(600, clock);
  expect(buckets.getLevel('ada')).toBe(600);
  buckets.take('ada', 500);
  expect(buckets.getLevel('ada')).toBe(100);
  nowMs += 1000;
  expect(buckets.getLevel('ada')).toBe(110);
  nowMs += 3_600_000;
  expect(buckets.getLevel('ada')).toBe(600);
});

test('more may be taken than is there, and has to refill before there is some again', () => {
  const buckets = createTokenBuckets(600, clock);
  buckets.take('ada', 1200);
  expect(buckets.getLevel('ada')).toBe(-600);
  nowMs += 30_000;
  buckets.take('ada', 100);
  expect(buckets.getLevel('ada')).toBe(-400);
  nowMs += 100_000;
  expect(buckets.getLevel('ada')).toBe(600);
});

test('each key has a bucket of its own, and debts outlive the sweep of full ones', () => {
  const buckets = createTokenBuckets(600, clock);
  buckets.take('ada', 6000);
  buckets.take('bob', 1);
  nowMs += 120_000;
  buckets.take('eve', 1);
  expect(['ada', 'bob', 'eve'].map(buckets.getLevel)).toEqual([-4200, 600, 599]);
});
