/**
 * Whether a destination takes media: what its transport has reported, against the time. ffmpeg's reports stop while it waits
 * for room in the kernel's buffer, and Linux makes it wait until a third of that buffer is free, which on a slow link takes
 * longer than a stall may. So before a destination is given up, the kernel's own count of bytes is asked for.
 * Pure: no I/O, no clock.
 */
export interface Timeouts {
  /** From start until the destination has accepted the stream. */
  connectMs: number;
  /** Without bytes taken while there is media to send. */
  stallMs: number;
}

/** Without a report of growth for this long, the kernel is worth asking. */
const DOUBT_MS = 1000;

export class Health {
  readonly #timeouts: Timeouts;
  readonly #startedMs: number;
  #connectedAtMs: number | undefined;
  #takenMs: number;
  /** Until then nothing was there to be sent, so a destination that took nothing is not at fault. */
  #faultFromMs: number;
  #bytes: number | undefined;
  #queued: number | undefined;

  constructor(timeouts: Timeouts, nowMs: number) {
    this.#timeouts = timeouts;
    this.#startedMs = this.#takenMs = this.#faultFromMs = nowMs;
  }

  /**
   * The transport reports its output so far. Its first bytes come after the publish was accepted, and growth from one report
   * to the next says that they are taken.
   */
  reported(bytes: number, nowMs: number): void {
    const grew = this.#bytes !== undefined && bytes > this.#bytes;
    this.#bytes = bytes;
    if (!grew) return;
    this.#takenMs = nowMs;
    this.#queued = undefined;
    this.#connectedAtMs ??= nowMs;
  }

  /** Bytes that the kernel holds for the destination; undefined where that cannot be known. Fewer than before were taken. */
  queued(bytes: number | undefined, nowMs: number): void {
    if (bytes !== undefined && this.#queued !== undefined && bytes < this.#queued) this.#takenMs = nowMs;
    this.#queued = bytes;
  }

  /** There is nothing to send. */
  silent(nowMs: number): void {
    this.#faultFromMs = nowMs;
  }

  /** Whether to ask the kernel. */
  inDoubt(nowMs: number): boolean {
    return this.#connectedAtMs !== undefined && nowMs - this.#takenMs > DOUBT_MS;
  }

  /** The destination takes media. */
  connected(nowMs: number): boolean {
    return this.#connectedAtMs !== undefined && nowMs - this.#takenMs <= this.#timeouts.stallMs;
  }

  /** Since when it has accepted the stream, in milliseconds; 0 when it has not. */
  connectedMs(nowMs: number): number {
    return this.#connectedAtMs === undefined ? 0 : nowMs - this.#connectedAtMs;
  }

  /** Why it is to be given up, if it is. */
  verdict(nowMs: number): 'connect_timeout' | 'stalled' | undefined {
    const { connectMs, stallMs } = this.#timeouts;
    if (this.#connectedAtMs === undefined) {
      return nowMs - Math.max(this.#startedMs, this.#faultFromMs) > connectMs ? 'connect_timeout' : undefined;
    }
    return nowMs - Math.max(this.#takenMs, this.#faultFromMs) > stallMs ? 'stalled' : undefined;
  }
}
