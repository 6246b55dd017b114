import { expect, test } from 'vitest';
import { sleepOnBeat } from '../../../../../../src/core/pods/streamer/output/beat.ts';

/** Batches at the given times of one clock. */
function makeBeat() {
  const checks = new Set<() => void>();
  let nowMs = 0;
  return {
    beat: {
      onBatch: (check: () => void) => {
        checks.add(check);
        return () => void checks.delete(check);
      },
    },
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    batchAt: (ms: number) => {
      nowMs = ms;
      for (const check of checks) check();
    },
    waiting: () => checks.size,
  };
}

test('it ends with the batch that is nearest, also where batches come a little early or late', async () => {
  const { beat, clock, batchAt, waiting } = makeBeat();
  let ended = false;
  const wait = sleepOnBeat(beat, clock, 2000, new AbortController().signal).then(() => {
    ended = true;
  });
  for (const ms of [499, 1001, 1498]) batchAt(ms);
  await Promise.resolve();
  expect(ended).toBe(false);
  batchAt(1999);
  await wait;
  expect(waiting()).toBe(0);
});

test('an abort ends it at once, before it and meanwhile', async () => {
  const { beat, clock, waiting } = makeBeat();
  const abort = new AbortController();
  const wait = sleepOnBeat(beat, clock, 2000, abort.signal);
  expect(waiting()).toBe(1);
  abort.abort();
  await wait;
  await sleepOnBeat(beat, clock, 2000, abort.signal);
  expect(waiting()).toBe(0);
});
