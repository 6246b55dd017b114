/**
 * Keeps the epoch of a track on air. The start of an item implies an epoch, which differs a little from the known one. Only a
 * difference beyond JOIN_MS or DRIFT moves the epoch. Pure: no I/O, no clock.
 */

/** A stream joins up to one GOP (4 s at most) behind its clock. Beyond this difference, the epoch moves instead. */
const JOIN_MS = 6000;
/** The epoch follows when the timeline has waited or a clock was set, but not after every item of a damaged list. */
const DRIFT = { longestMs: 1000, everyMs: 600_000 };

export interface ItemStart {
  /** The epoch that the start of the item implies. */
  epochMs: number;
  /** The epoch of the item's listing; undefined before it has one. */
  knownMs: number | undefined;
  /** The item before it ended early, by a skip or because it was not prepared further. */
  endedEarly: boolean;
  /** No item played before it, as at the start: it has joined where the clock stands. */
  rejoins: boolean;
  /** Now, on the monotonic clock. */
  monotonicMs: number;
}

export class EpochKeeper {
  #begun = false;
  /** Distance of the timeline behind its epoch. */
  #lagMs = 0;
  #movedMs = Number.NEGATIVE_INFINITY;

  /** How far the timeline is behind its epoch, in ms. */
  get lagMs(): number {
    return Math.round(this.#lagMs);
  }

  /** Records that an item begins, and returns the epoch of its listing from now on. */
  begin({ epochMs, knownMs, endedEarly, rejoins, monotonicMs }: ItemStart): number {
    const first = !this.#begun || rejoins;
    this.#begun = true;
    const behindMs = epochMs - (knownMs ?? epochMs);
    if (knownMs === undefined || endedEarly) return this.#set(epochMs);
    if (first) {
      if (Math.abs(behindMs) > JOIN_MS) return this.#set(epochMs);
      this.#lagMs = behindMs;
      return knownMs;
    }
    const drifted = Math.abs(behindMs - this.#lagMs) > DRIFT.longestMs;
    if (!drifted || monotonicMs - this.#movedMs <= DRIFT.everyMs) return knownMs;
    this.#movedMs = monotonicMs;
    return this.#set(epochMs);
  }

  #set(epochMs: number): number {
    this.#lagMs = 0;
    return epochMs;
  }
}
