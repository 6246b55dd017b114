/** Limits how often something may happen. Pure: no I/O, no clock. */

/** Limits events to one for each `everyMs` in the long run, after a burst. */
export interface Rate {
  everyMs: number;
  burst: number;
}

/**
 * Returns the new value of `paidUntilMs` where one more event is within the rate, and undefined where it is not. The value starts at
 * minus infinity. This is the generic cell rate algorithm (ITU-T I.371).
 */
export function admit({ everyMs, burst }: Rate, paidUntilMs: number, nowMs: number): number | undefined {
  const next = Math.max(paidUntilMs, nowMs) + everyMs;
  return next - nowMs > burst * everyMs ? undefined : next;
}
