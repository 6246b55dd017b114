/**
 * Whether the clock on the wall goes as the one that only goes forward. Timers follow the second and schedules the first: a
 * wall clock that was set, or a machine that slept, leaves timers that come at the wrong moment. What waits is looked at
 * again every ten minutes at the latest, which mends it; sooner does a restart, which liveness asks for (as cert-manager
 * does). What is on air stays there. Pure: no I/O.
 */
import type { Clock } from '../../lib/clock.ts';

/** Clocks that are only slewed stay far below this. */
const TOLERANCE_MS = 60_000;

/** Answers by how many milliseconds the wall clock has jumped since now, or undefined while it has not. */
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
