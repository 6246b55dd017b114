/**
 * Measures how long no destination took media, from when the stream was not live any more until it is again. A destination that hung up often
 * counts as back only once a connection has held (output/recovery.ts): media that it took until then is no part of the interruption.
 * Pure: no I/O, no clock.
 */
import { type Clock, exactTime } from '../../../lib/clock.ts';

/** A connection that breaks off is noticed at once. One that hangs takes no media for longer than this before it is given up. */
const NOTICED_MS = 2_000;

/** Times of the monotonic clock, in milliseconds. */
export interface Interruption {
  beganMs: number;
  /** When the connection that held first took media. */
  endedMs: number;
  /** Without the times in which a destination took media in between. */
  offAirMs: number;
}

/** As the pod reports it, in the times of the wall clock. */
export function describeInterruption(
  interruption: Interruption | undefined,
  clock: Clock,
): { startedAt: string; endedAt: string; offAirSeconds: number } | null {
  if (!interruption) return null;
  const [nowMs, monotonicMs] = [clock.now().getTime(), clock.monotonicMs()];
  const toTime = (ms: number) => exactTime(new Date(Math.round(nowMs - (monotonicMs - ms))));
  const { beganMs, endedMs, offAirMs } = interruption;
  return { startedAt: toTime(beganMs), endedAt: toTime(endedMs), offAirSeconds: Math.round(offAirMs) / 1000 };
}

export class Interruptions {
  #isLive = false;
  /** Until when media was taken; undefined before any was. */
  #takenMs: number | undefined;
  /** Media was taken since the last connection broke off. */
  #isTaking = false;
  #current: { beganMs: number; endedMs: number; offAirMs: number } | undefined;
  #last: Interruption | undefined;

  /** The last interruption that is over; undefined while one goes on. */
  get last(): Interruption | undefined {
    return this.#last;
  }

  /** Media was taken between two moments. */
  add(sinceMs: number, untilMs: number): void {
    if (!this.#isTaking) this.#resume(sinceMs);
    this.#takenMs = Math.max(this.#takenMs ?? untilMs, untilMs);
  }

  /** Something may have changed: whether the stream is live, whether a destination takes media. */
  look(nowMs: number, { isLive, isTaking }: { isLive: boolean; isTaking: boolean }): void {
    if (this.#isTaking && !isTaking) {
      this.#isTaking = false;
      if (this.#takenMs !== undefined && nowMs - this.#takenMs < NOTICED_MS) this.#takenMs = nowMs;
    }
    if (isLive === this.#isLive) return;
    this.#isLive = isLive;
    if (!isLive) {
      this.#last = undefined;
      if (this.#takenMs !== undefined) this.#current = { beganMs: this.#takenMs, endedMs: this.#takenMs, offAirMs: 0 };
      return;
    }
    if (!this.#isTaking) this.#resume(nowMs);
    this.#last = this.#current;
    this.#current = undefined;
  }

  #resume(sinceMs: number): void {
    this.#isTaking = true;
    if (this.#current && this.#takenMs !== undefined) {
      this.#current.offAirMs += Math.max(0, sinceMs - this.#takenMs);
      this.#current.endedMs = Math.max(sinceMs, this.#takenMs);
    }
    this.#takenMs = Math.max(this.#takenMs ?? sinceMs, sinceMs);
  }
}
