/**
 * The rules by which one of several processes leads, as client-go's leaderelection has them. Pure: no I/O, no clock.
 *
 * A Lease (coordination.k8s.io/v1) names its holder. Whoever else wants it waits until the Lease has not changed for its
 * duration. The times that are written into it are for people: the clocks of two machines may differ by hours, so each
 * process measures with its own monotonic clock since it last saw the Lease change, and compares no time of another.
 * The holder counts from before it sent its last renewal, the others from after they saw it; so the holder has stopped
 * (renewDeadline) before another may begin (duration), as long as no clock runs half as fast again as another.
 */

export interface LeaseSpec {
  /** Absent or empty: nobody holds it. */
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  /** MicroTime, when the holder got it. */
  acquireTime?: string;
  /** MicroTime, when the holder last renewed it. */
  renewTime?: string;
  /** How often it has gone from one holder to another. */
  leaseTransitions?: number;
}

/** The Lease as it was when it was last seen to change. */
export interface Sighting {
  /** Its resourceVersion: the API server raises it for each change and for nothing else. */
  version: string;
  spec: LeaseSpec;
  /** Of our monotonic clock. */
  atMs: number;
}

/**
 * What we know after a look. `found` is undefined when there is no Lease: one that was deleted by hand is still held as far
 * as its holder knows, so that what we saw before stays valid until it expires.
 */
export function sight(
  before: Sighting | undefined,
  found: { version: string; spec: LeaseSpec } | undefined,
  nowMs: number,
): Sighting | undefined {
  if (!found || found.version === before?.version) return before;
  return { ...found, atMs: nowMs };
}

/** How long `me` has to wait until it may take the Lease; 0 when it may now. A Lease that names no duration has ours. */
export function waitMs(seen: Sighting | undefined, me: string, nowMs: number, durationMs: number): number {
  const holder = seen?.spec.holderIdentity;
  if (!seen || !holder || holder === me) return 0;
  const seconds = seen.spec.leaseDurationSeconds;
  return Math.max(0, seen.atMs + (seconds === undefined ? durationMs : seconds * 1000) - nowMs);
}

/** RFC 3339 with six digits of a second, as Kubernetes writes a MicroTime. */
export const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

/** The Lease in the hand of `me`: renewed when `me` held it before, else taken over. */
export function heldBy(me: string, before: LeaseSpec | undefined, now: Date, durationMs: number): LeaseSpec {
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

/** The Lease in nobody's hand, for the next one to take at once. */
export function released(before: LeaseSpec, now: Date): LeaseSpec {
  const time = microTime(now);
  return {
    leaseDurationSeconds: 1,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: before.leaseTransitions ?? 0,
  };
}
