/**
 * Whether a destination takes media: what its transport has reported, against the time. ffmpeg's reports stop while it waits
 * to write, so a slow link makes them rare: at a fifth of a bitrate of 2 Mbit/s they came every two seconds at the latest,
 * which is no stall; at a sixteenth more than five seconds apart, which is one (Linux, packets of 1500 bytes).
 * Pure: no I/O, no clock.
 */
export interface Timeouts {
  /** From start until the destination has accepted the stream. */
  connectMs: number;
  /** Without bytes taken while there is media to send. */
  stallMs: number;
}

/** Of the time between two looks, which are half a second apart, no more counts: the rest we did not run. */
const MAX_GAP_MS = 1000;

export class Health {
  readonly #timeouts: Timeouts;
  #connectedAtMs: number | undefined;
  /** The last time that more had been taken, or the start, before there was one; later by as long as we did not run since. */
  #takenMs: number;
  /** Until then nothing was there to be sent, or what was sent was taken: a destination was not at fault. */
  #faultFromMs: number;
  #bytes: number | undefined;
  #lookedMs: number;

  constructor(timeouts: Timeouts, nowMs: number) {
    this.#timeouts = timeouts;
    this.#takenMs = this.#faultFromMs = this.#lookedMs = nowMs;
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
    this.#connectedAtMs ??= nowMs;
  }

  /** There is nothing to send. */
  silent(nowMs: number): void {
    this.#faultFromMs = nowMs;
  }

  /** The destination takes media. */
  connected(nowMs: number): boolean {
    return this.#connectedAtMs !== undefined && nowMs - this.#takenMs <= this.#timeouts.stallMs;
  }

  /** Since when it has accepted the stream, in milliseconds; 0 when it has not. */
  connectedMs(nowMs: number): number {
    return this.#connectedAtMs === undefined ? 0 : nowMs - this.#connectedAtMs;
  }

  /**
   * Why it is to be given up, if it is. To be asked twice a second: a process that did not run meanwhile (its machine was
   * suspended, or had no time for it) has sent nothing, and sees what was taken only after this.
   */
  verdict(nowMs: number): 'connect_timeout' | 'stalled' | undefined {
    const missedMs = Math.max(0, nowMs - this.#lookedMs - MAX_GAP_MS);
    this.#lookedMs = nowMs;
    this.#takenMs = Math.min(nowMs, this.#takenMs + missedMs);
    this.#faultFromMs = Math.max(this.#takenMs, Math.min(nowMs, this.#faultFromMs + missedMs));
    const connecting = this.#connectedAtMs === undefined;
    const limitMs = connecting ? this.#timeouts.connectMs : this.#timeouts.stallMs;
    if (nowMs - this.#faultFromMs <= limitMs) return undefined;
    return connecting ? 'connect_timeout' : 'stalled';
  }
}
