/** Finds edits that leave a stream on air without a destination that receives it. Pure: no I/O, no clock. */
import type { LiveStats } from '../../api/api.ts';

/**
 * Returns the destinations that receive the stream now, where an edit removes all of them; none while one of them stays, and where
 * nobody receives it. Without statistics each of `before` may receive it.
 */
export function findLastDestinations(
  before: readonly string[],
  after: readonly string[],
  stats: Pick<LiveStats, 'destinations'> | undefined,
): readonly string[] {
  const connected = new Set(stats?.destinations.filter((one) => one.connected).map(({ id }) => id));
  const receiving = stats ? before.filter((id) => connected.has(id)) : before;
  return receiving.some((id) => after.includes(id)) ? [] : receiving;
}
