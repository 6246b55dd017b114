/**
 * Reads the body of a request while it is fast enough. The bytes so far are kept, and the client of a resumable upload continues
 * from there.
 */
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../../core/lib/settle-within.ts';

/** Window of the average. */
const WINDOW_MS = 30_000;

export interface MinimumRate {
  /** 0 disables the limit. */
  minBytesPerSecond: number;
  /** Aborting it ends the reading. */
  signal: AbortSignal;
}

/** Ends without an error with the body, its connection, the signal, or a rate below the limit. */
export async function* readAtRate(body: Readable, { minBytesPerSecond, signal }: MinimumRate): AsyncGenerator<Buffer> {
  const leastBytes = (minBytesPerSecond * WINDOW_MS) / 1000;
  const windowMs = minBytesPerSecond > 0 ? WINDOW_MS : Number.POSITIVE_INFINITY;
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let waitedMs = 0;
  let bytes = 0;
  for (;;) {
    const next = chunks.next();
    for (let came = false; !came; ) {
      // Only the sender's time counts: the consumer may be slow as well.
      const since = performance.now();
      came = await settlesWithin(next, windowMs - waitedMs, signal);
      waitedMs += performance.now() - since;
      if (signal.aborted || (waitedMs >= windowMs && bytes < leastBytes)) return void next.catch(() => undefined);
      if (waitedMs >= windowMs) [waitedMs, bytes] = [0, 0];
    }
    const value = await next.then(
      (result) => (result.done ? undefined : result.value),
      () => undefined,
    );
    if (value === undefined) return;
    bytes += value.length;
    yield value;
  }
}
