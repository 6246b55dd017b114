/**
 * Decides whether a destination that takes media again has recovered. One that hangs up again and again is in one lasting state, and none
 * of its short connections is a recovery. Pure: no I/O, no clock.
 */

/**
 * The shortest time that a connection has to hold after one that did not last: a destination that hangs up within 15 s again and again is
 * never healthy in between, whatever its rhythm. After a single break of a longer connection, the next one need not hold for any time.
 */
const SHORTEST_HOLD_MS = 20_000;
/** A connection of this length shows a healthy destination, whatever was before. No connection has to hold for longer. */
const HEALTHY_MS = 300_000;

export class Recovery {
  #holdMs = 0;
  /** The longest of the connections that ended since the destination was healthy. */
  #longestMs = 0;

  /** How long the current connection has to hold until it counts. */
  get holdMs(): number {
    return this.#holdMs;
  }

  /**
   * A connection ended that the destination had accepted for `connectedMs`. The next one counts at once if this was the first to break
   * and had lasted a while. Otherwise it has to hold for twice as long as the longest of them did: what hangs up after the same time each
   * turn never does, whatever that time is. Returns whether the connection had counted.
   */
  end(connectedMs: number): boolean {
    const hasHeld = connectedMs >= this.#holdMs;
    if (connectedMs >= HEALTHY_MS) {
      this.#holdMs = this.#longestMs = 0;
      return hasHeld;
    }
    const isFirst = this.#longestMs === 0 && connectedMs >= SHORTEST_HOLD_MS;
    this.#longestMs = Math.max(this.#longestMs, connectedMs);
    this.#holdMs = isFirst ? 0 : Math.min(HEALTHY_MS, Math.max(SHORTEST_HOLD_MS, 2 * this.#longestMs));
    return hasHeld;
  }
}
