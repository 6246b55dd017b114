/**
 * Admits one request at a time to each upload, across servers: two senders would overwrite each other's bytes. The later request
 * wins, since its client lost the earlier connection; the earlier one is asked to end. The library's own locker polls without a
 * pause, and knows only one server.
 */
import { ERRORS, type Lock, type Locker, type RequestRelease } from '@tus/server';
import type { Lease, Leases } from '../../db/leases.ts';

/** Longest time for storage to keep the bytes of the earlier request. */
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

  /** Returns whether bytes may still be stored: false once another server may have taken over. */
  isHeld(id: string): boolean {
    return this.#holders.get(id)?.lease?.isHeld() ?? false;
  }

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
