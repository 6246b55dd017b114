/**
 * Tracks the largest step between two timestamps of a track over the last minutes, one by one.
 * Pure: no I/O, no clock.
 */

const MINUTE_MS = 60_000;

export class LargestSteps {
  /** The largest step of each minute that had one, oldest first. */
  #minutes: { minute: number; ms: number }[] = [];
  #before: number | undefined;
  readonly #kept: number;

  /** `kept`: minutes, with the one that runs. */
  constructor(kept = 60) {
    this.#kept = kept;
  }

  /** Adds the next timestamp in milliseconds, at a moment of the monotonic clock. */
  add(timestampMs: number, nowMs: number): void {
    const ms = timestampMs - (this.#before ?? timestampMs);
    this.#before = timestampMs;
    const minute = Math.floor(nowMs / MINUTE_MS);
    const last = this.#minutes.at(-1);
    if (last?.minute === minute) {
      last.ms = Math.max(last.ms, ms);
    } else {
      this.#minutes.push({ minute, ms });
      this.#forget(minute);
    }
  }

  /** Returns the largest step of these minutes; 0 when there was none. */
  largestMs(nowMs: number): number {
    this.#forget(Math.floor(nowMs / MINUTE_MS));
    return this.#minutes.reduce((largest, { ms }) => Math.max(largest, ms), 0);
  }

  #forget(minute: number): void {
    while ((this.#minutes[0]?.minute ?? minute) <= minute - this.#kept) this.#minutes.shift();
  }
}
