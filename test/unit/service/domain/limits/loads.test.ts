import { expect, test } from 'vitest';
import type { Clock } from '../../../../../src/core/lib/clock.ts';
import { createLoadLimit } from '../../../../../src/service/domain/limits/loads.ts';

function startLoads() {
  let nowMs = 0;
  const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const { load } = createLoadLimit(clock);
  let reads = 0;
  return {
    /** Loads ids, which exist or not, at once; returns how many of them were read. */
    async countReads(accountId: string, ids: readonly string[], exists: boolean): Promise<number> {
      const before = reads;
      const read = async () => {
        reads += 1;
        return exists;
      };
      await Promise.all(ids.map((id) => load(accountId, id, read)));
      return reads - before;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}
const makeIds = (count: number, prefix = 'a') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

test('ids that lead to nothing are read sixty times a minute for an account, and others as before', async () => {
  const { countReads, pass } = startLoads();
  expect(await countReads('mallory', makeIds(200), false)).toBe(60);
  expect(await countReads('ada', makeIds(200), false)).toBe(60);
  pass(30_000);
  expect(await countReads('mallory', makeIds(200, 'b'), false)).toBe(30);
});

test('objects that are there have no limit', async () => {
  const { countReads } = startLoads();
  for (const prefix of makeIds(20, 'round-')) expect(await countReads('ada', makeIds(50, prefix), true)).toBe(50);
});

test('an id that led to nothing is read again after ten seconds', async () => {
  const { countReads, pass } = startLoads();
  for (let i = 0; i < 100; i += 1) await countReads('ada', ['a'], false);
  pass(9999);
  expect(await countReads('ada', ['a'], false)).toBe(0);
  pass(1);
  expect(await countReads('ada', ['a'], true)).toBe(1);
});
