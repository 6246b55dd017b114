/**
 * The bytes of a request for as long as they come fast enough. What ends here has been kept, and the client goes on from there:
 * resumable uploads are made for it.
 */
import type { Readable } from 'node:stream';
import { settlesWithin } from '../../lib/settles.ts';

/** The rate is an average over so long. */
const WINDOW_MS = 30_000;

export interface Pace {
  /** 0 is as slow as one likes. */
  minBytesPerSecond: number;
  /** When it aborts, no more is read. */
  signal: AbortSignal;
}

/** Ends, without an error, with the body, with its connection, with the signal, and when it is too slow. */
export async function* inTime(body: Readable, { minBytesPerSecond, signal }: Pace): AsyncGenerator<Buffer> {
  const leastBytes = (minBytesPerSecond * WINDOW_MS) / 1000;
  const windowMs = minBytesPerSecond > 0 ? WINDOW_MS : Number.POSITIVE_INFINITY;
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  let waitedMs = 0;
  let bytes = 0;
  for (;;) {
    const next = chunks.next();
    for (let came = false; !came; ) {
      // Only the sender's time counts: what takes the bytes may be slow as well.
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
