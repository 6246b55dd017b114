/** Gathers small pieces into large ones: a socket brings 64 KiB at most, and each call of the file system has its price. */
import { settlesWithin } from '../../../lib/settle-within.ts';

const BATCH_BYTES = 2 ** 20;
/** A slow sender's bytes are passed on after this time. */
const HOLD_MS = 100;

/**
 * Yields the bytes in large pieces, in two buffers by turns: a piece must not be used any more when the one after the next is requested.
 * Rejects as `bytes` does.
 */
export async function* gather(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [filling, other] = [Buffer.allocUnsafeSlow(BATCH_BYTES), Buffer.allocUnsafeSlow(BATCH_BYTES)];
  let filled = 0;
  let dueMs = 0;
  const take = (): Buffer => {
    const batch = filling.subarray(0, filled);
    [filling, other] = [other, filling];
    filled = 0;
    return batch;
  };
  const pieces = bytes[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = pieces.next();
      if (filled > 0 && !(await settlesWithin(next, Math.max(0, dueMs - performance.now())))) yield take();
      const { done, value } = await next;
      if (done) break;
      for (let rest = value; rest.length > 0; ) {
        if (filled === 0) dueMs = performance.now() + HOLD_MS;
        const taken = rest.copy(filling, filled);
        filled += taken;
        rest = rest.subarray(taken);
        if (filled === filling.length) yield take();
      }
    }
    if (filled > 0) yield take();
  } finally {
    // A waiting source ends when its bytes come, or with its connection.
    void Promise.resolve(pieces.return?.()).catch(() => undefined);
  }
}
