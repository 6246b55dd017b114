/**
 * Watches how fast a server sends. The caller adds only time that it spends on waiting for the server: a storage that takes
 * bytes slowly is not the server's fault. Pure: no I/O, no clock.
 */

/** Seconds over which a rate is averaged; the first of these windows is free. */
export const WINDOW_SECONDS = 30;

export class ServerSpeed {
  readonly #minBytesPerSecond: number;
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;
  #isFirst = true;

  /** A rate of 0 is kept by every server. */
  constructor(minBytesPerSecond: number, windowSeconds = WINDOW_SECONDS) {
    this.#minBytesPerSecond = minBytesPerSecond;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Takes what came after so long a wait. Returns the rate in bytes a second when it is too low, else undefined. */
  add(bytes: number, waitedMs: number): number | undefined {
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
    if (this.#waitedMs < this.#windowMs) return undefined;
    const rate = (this.#bytes * 1000) / this.#waitedMs;
    const tooLow = !this.#isFirst && rate < this.#minBytesPerSecond;
    this.#isFirst = false;
    this.#bytes = 0;
    this.#waitedMs = 0;
    return tooLow ? rate : undefined;
  }
}
