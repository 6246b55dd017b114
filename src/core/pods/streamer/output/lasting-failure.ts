/**
 * Decides which failure a destination shows while it fails again and again. The same trouble ends attempts in several ways: a server that
 * restarts refuses one connection and resets the next. Pure: no I/O, no clock.
 */

import type { FailureCode } from '../../../lib/codes/destinations.ts';
import type { Failure } from '../../../protocol/codes.ts';

/** A code that was shown before is shown again once it has been the only one for this long. */
const ALONE_MS = 60_000;
/** Kubernetes brings a pod and the settings of its destinations there one after the other: until then, nothing is wrong. */
const SETTLE_MS = 15_000;

export class LastingFailure {
  #shown: Failure | null = null;
  /** Codes that were shown since the destination was last healthy. */
  readonly #codes = new Set<FailureCode>();
  #latest: { code: FailureCode; sinceMs: number } | undefined;

  get shown(): Failure | null {
    return this.#shown;
  }

  get latestCode(): FailureCode | undefined {
    return this.#latest?.code;
  }

  /** Records the failure of an attempt. Returns whether it is shown from now on. Other words of the same code are nothing new. */
  add(failure: Failure, nowMs: number): boolean {
    const { code } = failure;
    if (this.#latest?.code !== code) this.#latest = { code, sinceMs: nowMs };
    if (code === 'not_configured' && nowMs - this.#latest.sinceMs < SETTLE_MS) return false;
    const isKnown = this.#codes.has(code);
    this.#codes.add(code);
    if (isKnown && (this.#shown?.code === code || nowMs - this.#latest.sinceMs < ALONE_MS)) return false;
    this.#shown = failure;
    return true;
  }

  /** The settings of the destination have changed: the next failure is a new one, and the last one is shown until then. */
  expectNew(): void {
    this.#codes.clear();
    this.#latest = undefined;
  }

  /** The destination is healthy. */
  clear(): void {
    this.expectNew();
    this.#shown = null;
  }
}
