/**
 * Measures how long one connection was on air, never longer than the receiver saw. The interval begins with the first report
 * of taken media, which had arrived by then. It ends when the last taken media was sent, which had not arrived before. Media
 * on its way (in this process, in ffmpeg or in the kernel) does not count yet. The result is too short by the media taken
 * since the last report, and never too long.
 * Pure: no I/O, no clock.
 */

/** Between two moments of the monotonic clock, in milliseconds. */
export interface AirtimeInterval {
  sinceMs: number;
  untilMs: number;
}

/** Entries of half a second each. A kernel queues less for a connection, except at the lowest bitrates. */
const MOST_COUNTED = 600;

export class ConnectionAirtime {
  /** Media that was sent and not reported as taken. The receiver has some of it after `fromBytes` bytes in total. */
  #sent: { fromBytes: number; atMs: number }[] = [];
  /** The last counted entries, each with the total bytes at its end. */
  #counted: { fromBytes: number; ms: number }[] = [];
  readonly #sameBytes: boolean;
  #bytes = 0;
  #untilMs: number | undefined;

  /**
   * `sameBytes`: reports count the bytes that were sent. Where ffmpeg changes the container, any growth stands for all media
   * sent before.
   */
  constructor({ sameBytes }: { sameBytes: boolean }) {
    this.#sameBytes = sameBytes;
  }

  /** True once media was reported as taken: airtime counts from then on. */
  get hasBegun(): boolean {
    return this.#untilMs !== undefined;
  }

  /** Records sent media, which begins for the receiver after `fromBytes` bytes in total. */
  addSent(fromBytes: number, nowMs: number): void {
    this.#sent.push({ fromBytes: this.#sameBytes ? fromBytes : 0, atMs: nowMs });
  }

  /** Records a report of all bytes taken so far, and returns the airtime that it adds. */
  addTaken(bytes: number, nowMs: number): AirtimeInterval | undefined {
    if (bytes <= this.#bytes) return undefined;
    this.#bytes = bytes;
    const end = this.#sent.findIndex(({ fromBytes }) => fromBytes > bytes);
    const last = this.#sent.splice(0, end < 0 ? this.#sent.length : end).at(-1);
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
   * Records that the last `bytes` taken bytes did not arrive, and returns the milliseconds of counted airtime that were not
   * on air; 0 when that is less than `leastMs`.
   */
  revoke(bytes: number, leastMs = 0): number {
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
