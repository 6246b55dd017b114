/**
 * Pace: how far the timeline should have come. It runs with the monotonic clock, a lead ahead of it, in steps of one batch.
 * Pure: no I/O, no clock.
 */

export interface PaceOptions {
  /** Media sent before it is due, so that a receiver has something in hand at once. */
  leadMs: number;
  batchMs: number;
  /** The same while only destinations listen, which have the lead in hand: each batch wakes two processes of a stream. */
  restBatchMs?: number;
  /** Further behind than this, the time is given up: a receiver would rather wait than get it all at once. */
  maxBehindMs: number;
}

export const DEFAULT_PACE: PaceOptions = { leadMs: 1000, batchMs: 100, restBatchMs: 500, maxBehindMs: 2000 };

export class Pace {
  readonly #options: PaceOptions;
  #startMs: number | undefined;
  /** Timeline milliseconds at #startMs. */
  #originMs = 0;
  /** Times that the timeline was set anew because it had fallen behind. */
  rebased = 0;

  constructor(options: PaceOptions = DEFAULT_PACE) {
    this.#options = options;
  }

  /** Timeline milliseconds to be sent by now, when `sentMs` have been sent. */
  due(nowMs: number, sentMs: number): number {
    const { leadMs, maxBehindMs } = this.#options;
    if (this.#startMs === undefined) this.#set(nowMs, sentMs);
    const due = this.#at(nowMs) + leadMs;
    if (due - sentMs <= leadMs + maxBehindMs) return due;
    this.rebased++;
    this.#set(nowMs, sentMs);
    return sentMs + leadMs;
  }

  /** Milliseconds until the next batch; a late one does not move those after it. */
  waitMs(nowMs: number, resting = false): number {
    const { batchMs: watched, restBatchMs = watched } = this.#options;
    const batchMs = resting ? restBatchMs : watched;
    return batchMs - ((nowMs - (this.#startMs ?? nowMs)) % batchMs);
  }

  /** Milliseconds of media that have been sent ahead of their time. */
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
