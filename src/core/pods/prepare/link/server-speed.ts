/**
 * Measures how fast a server sends. The caller adds only the time that it waits for the server: a slow storage is not
 * the server's fault. Pure: no I/O, no clock.
 */

/** Seconds of the window for an average; the first window is free. */
export const WINDOW_SECONDS = 30;

export class ServerSpeed {
  readonly #minBytesPerSecond: number;
  readonly #windowMs: number;
  #waitedMs = 0;
  #bytes = 0;
  #isFirst = true;

  /** A limit of 0 allows any rate. */
  constructor(minBytesPerSecond: number, windowSeconds = WINDOW_SECONDS) {
    this.#minBytesPerSecond = minBytesPerSecond;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Adds bytes that came after a wait. Returns the rate in bytes a second when it is too low, else undefined. */
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
