/**
 * Decides whether a destination takes media, by ffmpeg's reports over time. ffmpeg does not report while it waits to write,
 * so reports are rare on a slow link. At a fifth of a bitrate of 2 Mbit/s they came at least every two seconds, which is no
 * stall; at a sixteenth they came more than five seconds apart, which is one (Linux, packets of 1500 bytes).
 * Pure: no I/O, no clock.
 */
export interface HealthTimeouts {
  /** Limit from the start until the destination accepts the stream. */
  connectMs: number;
  /** Limit without taken bytes while there is media to send. */
  stallMs: number;
}

/** Checks are half a second apart at most. In a longer gap this process did not run, and the rest of the gap does not count. */
const MAX_GAP_MS = 1000;

export class ConnectionHealth {
  readonly #timeouts: HealthTimeouts;
  #connectedAtMs: number | undefined;
  /** Time of the last growth, or the start before any, moved on by the time that this process did not run. */
  #takenMs: number;
  /** Until then there was nothing to send, or the destination had taken all of it: no fault. */
  #faultFromMs: number;
  #bytes: number | undefined;
  #lookedMs: number;

  constructor(timeouts: HealthTimeouts, nowMs: number) {
    this.#timeouts = timeouts;
    this.#takenMs = this.#faultFromMs = this.#lookedMs = nowMs;
  }

  /**
   * Records the transport's output bytes so far. The first bytes come after the publish was accepted, and growth between two
   * reports shows that the destination takes them.
   */
  report(bytes: number, nowMs: number): void {
    const grew = this.#bytes !== undefined && bytes > this.#bytes;
    this.#bytes = bytes;
    if (!grew) return;
    this.#takenMs = nowMs;
    this.#connectedAtMs ??= nowMs;
  }

  /** Records that there is nothing to send. */
  pause(nowMs: number): void {
    this.#faultFromMs = nowMs;
  }

  /** True while the destination takes media. */
  isConnected(nowMs: number): boolean {
    return this.#connectedAtMs !== undefined && nowMs - this.#takenMs <= this.#timeouts.stallMs;
  }

  /** Milliseconds since the destination accepted the stream; 0 before. */
  connectedMs(nowMs: number): number {
    return this.#connectedAtMs === undefined ? 0 : nowMs - this.#connectedAtMs;
  }

  /**
   * Returns the reason to end the connection, if there is one. The caller checks at least twice a second. A process that did not run
   * (its machine was suspended or overloaded) has sent nothing, and reads the waiting reports only after this check.
   */
  findFault(nowMs: number): 'connect_timeout' | 'stalled' | undefined {
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
