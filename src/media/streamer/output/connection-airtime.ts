/**
 * For how long one connection was on air, seen from here so that whoever receives has seen no less: from the report that first
 * showed that media was taken, which was there by then, to the moment at which the media was handed over that was taken last,
 * which was not there before. What is handed over and not taken yet, be it in this process, in ffmpeg or in the kernel, does not
 * count until it is. So a connection is told too short by what was taken since the last report, and never too long.
 * Pure: no I/O, no clock.
 */

/** Between two moments of the monotonic clock, in milliseconds. */
export interface Interval {
  sinceMs: number;
  untilMs: number;
}

/** Of half a second each: what a kernel keeps for a connection is less, but for the lowest of bitrates. */
const MOST_COUNTED = 600;

export class Taken {
  /** Media that was handed over and is not known to be taken: from how many bytes in all on the receiver has some of it. */
  #handed: { fromBytes: number; atMs: number }[] = [];
  /** What was counted last, each with the bytes at whose taking it ends. */
  #counted: { fromBytes: number; ms: number }[] = [];
  readonly #sameBytes: boolean;
  #bytes = 0;
  #untilMs: number | undefined;

  /**
   * `sameBytes`: the bytes that are reported are those that are handed over. Where they are put into another container, any
   * growth of them stands for all that was handed over before.
   */
  constructor({ sameBytes }: { sameBytes: boolean }) {
    this.#sameBytes = sameBytes;
  }

  /** Some of it is known to be taken: from here on all that is taken counts. */
  get begun(): boolean {
    return this.#untilMs !== undefined;
  }

  /** Media was handed over, which begins for the receiver when it has taken `fromBytes` in all. */
  handed(fromBytes: number, nowMs: number): void {
    this.#handed.push({ fromBytes: this.#sameBytes ? fromBytes : 0, atMs: nowMs });
  }

  /** So many bytes are taken in all: answers the time on air that is known by it and was not before. */
  reported(bytes: number, nowMs: number): Interval | undefined {
    if (bytes <= this.#bytes) return undefined;
    this.#bytes = bytes;
    const end = this.#handed.findIndex(({ fromBytes }) => fromBytes > bytes);
    const last = this.#handed.splice(0, end < 0 ? this.#handed.length : end).at(-1);
    if (last === undefined) return undefined;
    const sinceMs = this.#untilMs;
    this.#untilMs ??= nowMs;
    if (sinceMs === undefined || last.atMs <= sinceMs) return undefined;
    this.#untilMs = last.atMs;
    this.#counted.push({ fromBytes: last.fromBytes, ms: last.atMs - sinceMs });
    if (this.#counted.length > MOST_COUNTED) this.#counted.shift();
    return { sinceMs, untilMs: last.atMs };
  }

  /**
   * So many of the bytes that were taken have come to nobody: answers how much of what was counted was not on air, in
   * milliseconds; 0 when it is less than `leastMs`.
   */
  lost(bytes: number, leastMs = 0): number {
    if (bytes <= 0 || !this.#sameBytes) return 0;
    const received = this.#bytes - bytes;
    const kept = this.#counted.findIndex(({ fromBytes }) => fromBytes > received);
    const gone = kept < 0 ? [] : this.#counted.slice(kept);
    const ms = gone.reduce((sum, one) => sum + one.ms, 0);
    if (ms < leastMs) return 0;
    this.#counted.splice(this.#counted.length - gone.length);
    return ms;
  }
}
