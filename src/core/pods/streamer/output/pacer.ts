/**
 * Computes how far the timeline should have come: with the monotonic clock, a lead ahead of it, in steps of one batch.
 * Pure: no I/O, no clock.
 */

export interface PacerOptions {
  /** Media sent before it is due, so that a receiver has something in hand at once. */
  leadMs: number;
  batchMs: number;
  /** Batches while only outputs listen. Receivers have the lead to play from, and each batch wakes two processes of a stream. */
  restBatchMs?: number;
  /** Further behind than this, the pacer skips the lost time instead of sending a burst. */
  maxBehindMs: number;
}

export const DEFAULT_PACING: PacerOptions = { leadMs: 1000, batchMs: 100, restBatchMs: 500, maxBehindMs: 2000 };

export class Pacer {
  readonly #options: PacerOptions;
  #startMs: number | undefined;
  /** Timeline milliseconds at #startMs. */
  #originMs = 0;
  /** Times that the pacer skipped lost time. */
  rebased = 0;

  constructor(options: PacerOptions = DEFAULT_PACING) {
    this.#options = options;
  }

  /** Returns the timeline milliseconds that are due by now, when `sentMs` have been sent. */
  due(nowMs: number, sentMs: number): number {
    const { leadMs, maxBehindMs } = this.#options;
    if (this.#startMs === undefined) this.#set(nowMs, sentMs);
    const due = this.#at(nowMs) + leadMs;
    if (due - sentMs <= leadMs + maxBehindMs) return due;
    this.rebased++;
    this.#set(nowMs, sentMs);
    return sentMs + leadMs;
  }

  /** Returns the milliseconds until the next batch; a late batch does not move the ones after it. */
  waitMs(nowMs: number, resting = false): number {
    const { batchMs: watched, restBatchMs = watched } = this.#options;
    const batchMs = resting ? restBatchMs : watched;
    return batchMs - ((nowMs - (this.#startMs ?? nowMs)) % batchMs);
  }

  /** Returns the milliseconds of media sent ahead of time. */
  leadMs(nowMs: number, sentMs: number): number {
    return this.#startMs === undefined ? 0 : sentMs - this.#at(nowMs);
  }

  #at(nowMs: number): number {
    return this.#originMs + nowMs - (this.#startMs ?? nowMs);
  }

  #set(nowMs: number, sentMs: number): void {
    this.#startMs = nowMs;
    this.#originMs = sentMs;
  }
}
