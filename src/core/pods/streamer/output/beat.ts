/** Waits with the batches of the broadcaster: waits of several parts then wake the process at the same time, and not each at its own. */
import type { Clock } from '../../../lib/clock.ts';

/** A batch comes at least twice a second. */
const HALF_BATCH_MS = 250;

interface Beat {
  onBatch(check: () => void): () => void;
}

/** Resolves with the batch that is nearest to `ms` from now, or when the signal is aborted. Without batches it waits for the signal. */
export function sleepOnBeat(beat: Beat, clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const dueMs = clock.monotonicMs() + ms - HALF_BATCH_MS;
    const done = () => {
      unwatch();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const unwatch = beat.onBatch(() => {
      if (clock.monotonicMs() >= dueMs) done();
    });
    signal.addEventListener('abort', done);
  });
}
