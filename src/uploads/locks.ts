/**
 * One request at a time for each upload, in this server. The later one is the client's, whose connection was lost without our
 * knowing: the earlier one is asked to end. (The library's own locker asks again and again without a pause.)
 */
import { ERRORS, type Lock, type Locker, type RequestRelease } from '@tus/server';

/** Storage may take so long to keep what the earlier request has brought. */
const PATIENCE_MS = 30_000;

interface Holder {
  askToEnd: RequestRelease;
  ended: Promise<void>;
  end: () => void;
}

export class Locks implements Locker {
  readonly #holders = new Map<string, Holder>();

  newLock(id: string): Lock {
    return {
      lock: (signal, askToEnd) => this.#lock(id, signal, askToEnd),
      unlock: async () => {
        this.#holders.get(id)?.end();
        this.#holders.delete(id);
      },
    };
  }

  /** Rejects with the library's ERR_LOCK_TIMEOUT. */
  async #lock(id: string, signal: AbortSignal, askToEnd: RequestRelease): Promise<void> {
    const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    late.addEventListener('abort', () => resolve(), { once: true });
    for (let holder = this.#holders.get(id); holder; holder = this.#holders.get(id)) {
      if (late.aborted) throw ERRORS.ERR_LOCK_TIMEOUT;
      await holder.askToEnd();
      await Promise.race([holder.ended, over]);
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#holders.set(id, { askToEnd, ended, end });
  }
}
