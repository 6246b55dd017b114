/**
 * Decides which of several processes leads, by the rules of client-go's leaderelection. Pure: no I/O, no clock.
 *
 * A Lease (coordination.k8s.io/v1) names its holder. A candidate waits until the Lease has not changed for its
 * duration. The times written into it are for humans, since the clocks of two machines may differ by hours. Each
 * process measures with its own monotonic clock since it last saw the Lease change.
 *
 * The holder counts from before it sent its last renewal, candidates from after they saw it. So the holder has stopped
 * (renewDeadline) before another begins (duration), unless one clock runs half as fast again as another.
 */

import type { LeaseSpec } from './core.ts';

/** The Lease as of the last observed change. */
export interface LeaseSighting {
  /** Its resourceVersion: the API server raises it for each change and for nothing else. */
  version: string;
  spec: LeaseSpec;
  /** Time of our monotonic clock. */
  atMs: number;
}

/**
 * Updates the sighting after a read. `found` is undefined when there is no Lease. Its holder still holds a Lease that
 * somebody deleted by hand, so the previous sighting stays valid until it expires.
 */
export function recordSighting(
  before: LeaseSighting | undefined,
  found: { version: string; spec: LeaseSpec } | undefined,
  nowMs: number,
): LeaseSighting | undefined {
  if (!found || found.version === before?.version) return before;
  return { ...found, atMs: nowMs };
}

/**
 * Returns how long `me` has to wait until it may take the Lease; 0 when it may now. A Lease that names no duration has
 * ours.
 */
export function waitMs(seen: LeaseSighting | undefined, me: string, nowMs: number, durationMs: number): number {
  const holder = seen?.spec.holderIdentity;
  if (!seen || !holder || holder === me) return 0;
  const seconds = seen.spec.leaseDurationSeconds;
  return Math.max(0, seen.atMs + (seconds === undefined ? durationMs : seconds * 1000) - nowMs);
}

/** RFC 3339 with six digits of a second, as Kubernetes writes a MicroTime. */
export const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

/** Returns the Lease held by `me`: renewed when `me` held it before, else taken over. */
export function buildHeldLease(me: string, before: LeaseSpec | undefined, now: Date, durationMs: number): LeaseSpec {
  const time = microTime(now);
  const renewed = before?.holderIdentity === me;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    holderIdentity: me,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: (renewed ? before.acquireTime : undefined) ?? time,
    renewTime: time,
    leaseTransitions: before && !renewed ? transitions + 1 : transitions,
  };
}

/** Returns the Lease without a holder, for the next candidate to take at once. */
export function buildReleasedLease(before: LeaseSpec, now: Date): LeaseSpec {
  const time = microTime(now);
  return {
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: before.leaseTransitions ?? 0,
  };
}
