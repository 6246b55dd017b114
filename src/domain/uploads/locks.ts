/**
 * One request at a time for each upload, on whichever server it comes: of two senders at once one would write over a part of
 * what the other has sent. The later one is the client's, whose connection was lost without our knowing: the earlier one is
 * asked to end. (The library's own locker asks again and again without a pause, and knows one server only.)
 */
import { ERRORS, type Lock, type Locker, type RequestRelease } from '@tus/server';
import type { Lease, Leases } from '../../db/leases.ts';

/** Storage may take so long to keep what the earlier request has brought. */
const PATIENCE_MS = 30_000;

interface Holder {
  askToEnd: RequestRelease;
  ended: Promise<void>;
  end: () => void;
  /** Missing while another server has it. */
  lease?: Lease;
}

export class Locks implements Locker {
  readonly #leases: Leases;
  readonly #holders = new Map<string, Holder>();

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  newLock(id: string): Lock {
    return {
      lock: (signal, askToEnd) => this.#lock(id, signal, askToEnd),
      unlock: () => this.#unlock(id),
    };
  }

  /** Whether what comes for it now may be kept: false once another server may have taken over. */
  isHeld(id: string): boolean {
    return this.#holders.get(id)?.lease?.isHeld() ?? false;
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
    const holder: Holder = { askToEnd, ended, end };
    this.#holders.set(id, holder);
    try {
      holder.lease = await this.#leases.take(`upload ${id}`, { signal: late, askToEnd: () => void askToEnd() });
    } catch (error) {
      await this.#unlock(id);
      throw late.aborted ? ERRORS.ERR_LOCK_TIMEOUT : error;
    }
  }

  async #unlock(id: string): Promise<void> {
    const holder = this.#holders.get(id);
    await holder?.lease?.release();
    this.#holders.delete(id);
    holder?.end();
  }
}
