/**
 * Decides whether a destination that takes media again has recovered. One that hangs up again and again is in one lasting state, and each of
 * its short connections is no recovery. Pure: no I/O, no clock.
 */

/** A connection that ends before this was no recovery. */
const SHORT_MS = 10_000;
/** Time that the next connection has to hold after a short one. It doubles with each further one. */
const FIRST_HOLD_MS = 10_000;
/** The longest time that a connection has to hold. */
const LONGEST_HOLD_MS = 160_000;
/** A connection that ends before this multiple of its hold is one more of the same kind. */
const SAME_KIND = 3;
/** A connection that held for this multiple of its hold tells that the destination is healthy again. */
const HEALTHY = 12;

export class Recovery {
  /** Breaks of the same kind, one after the other. A single break after a longer connection needs no hold. */
  #breaks = 0;

  /** How long the current connection has to hold until it counts. */
  get holdMs(): number {
    return this.#breaks < 2 ? 0 : Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** (this.#breaks - 2));
  }

  /** A connection ended that the destination had accepted for `connectedMs`. */
  end(connectedMs: number): void {
    const holdMs = Math.max(FIRST_HOLD_MS, this.holdMs);
    if (connectedMs < SAME_KIND * holdMs) this.#breaks += 1;
    else if (connectedMs >= HEALTHY * holdMs) this.#breaks = 1;
    if (connectedMs < SHORT_MS) this.#breaks = Math.max(2, this.#breaks);
    this.#breaks = Math.min(this.#breaks, 2 + Math.log2(LONGEST_HOLD_MS / FIRST_HOLD_MS));
  }
}
