/**
 * The epoch of a track on air. Where its items begin tells which epoch would have put them there; that differs a little from
 * the one it has, and only what is more than a little moves it. Pure: no I/O, no clock.
 */

/** Joining, a stream stands up to a GOP (2 s) behind its clock; further away than this the clock is set instead. */
const JOIN_MS = 4000;
/** When the timeline has waited, or a clock was set: the epoch follows, but not after every item of a list that is damaged. */
const DRIFT = { longestMs: 1000, everyMs: 600_000 };

export interface Begin {
  /** The epoch by which the item begins when it does. */
  epochMs: number;
  /** The epoch of its listing; undefined when it has none yet. */
  knownMs: number | undefined;
  /** A skip has brought it. */
  skipped: boolean;
  /** Now, by a clock that never goes back. */
  monotonicMs: number;
}

export class EpochKeeper {
  #begun = false;
  /** How far the timeline stands behind its epoch. */
  #lagMs = 0;
  #setRightMs = Number.NEGATIVE_INFINITY;

  /** An item begins: the epoch of its listing from now on. */
  begin({ epochMs, knownMs, skipped, monotonicMs }: Begin): number {
    const first = !this.#begun;
    this.#begun = true;
    const behindMs = epochMs - (knownMs ?? epochMs);
    if (knownMs === undefined || skipped) return this.#set(epochMs);
    if (first) {
      if (Math.abs(behindMs) > JOIN_MS) return this.#set(epochMs);
      this.#lagMs = behindMs;
      return knownMs;
    }
    const drifted = Math.abs(behindMs - this.#lagMs) > DRIFT.longestMs;
    if (!drifted || monotonicMs - this.#setRightMs <= DRIFT.everyMs) return knownMs;
    this.#setRightMs = monotonicMs;
    return this.#set(epochMs);
  }

  #set(epochMs: number): number {
    this.#lagMs = 0;
    return epochMs;
  }
}
