/**
 * Tells when the wall clock has jumped against the monotonic clock. Timers follow the monotonic clock and schedules the wall clock:
 * after the wall clock was set, or the machine slept, timers come at the wrong moment. Every key that waits is reconciled within
 * ten minutes, which mends it; a restart mends it sooner, which liveness asks for (as cert-manager does). Streams on air stay on
 * air. Pure: no I/O.
 */
import type { Clock } from '../../lib/clock.ts';

/** Clocks that are only slewed stay far below this. */
const TOLERANCE_MS = 60_000;

/** Returns by how many milliseconds the wall clock has jumped since now; undefined while it has not. */
export function clockHealth(clock: Clock): () => number | undefined {
  const offset = () => clock.now().getTime() - clock.monotonicMs();
  const atStart = offset();
  return () => {
    const jumpedMs = Math.round(offset() - atStart);
    return Math.abs(jumpedMs) > TOLERANCE_MS ? jumpedMs : undefined;
  };
}

/** Describes a jump of the wall clock since now; undefined while there is none. */
export function describeClockJump(clock: Clock): () => string | undefined {
  const readJump = clockHealth(clock);
  return () => {
    const jumpedMs = readJump();
    return jumpedMs === undefined ? undefined : `the wall clock jumped by ${jumpedMs} ms`;
  };
}
