/**
 * The largest step between two timestamps of a track over the last hour, in an hour's worth of minutes.
 * Pure: no I/O, no clock.
 */

const MINUTE_MS = 60_000;
const MINUTES = 60;

export class LargestSteps {
  /** The largest of each minute that had one, oldest first. */
  #minutes: { minute: number; ms: number }[] = [];
  #before: number | undefined;

  /** The next timestamp, in milliseconds, at a moment of a clock that never goes back. */
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

  /** 0 when there was none. */
  largestMs(nowMs: number): number {
    this.#forget(Math.floor(nowMs / MINUTE_MS));
    return this.#minutes.reduce((largest, { ms }) => Math.max(largest, ms), 0);
  }

  #forget(minute: number): void {
    while ((this.#minutes[0]?.minute ?? minute) <= minute - MINUTES) this.#minutes.shift();
  }
}
