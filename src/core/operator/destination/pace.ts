/**
 * Decides how long the Secret of a destination is not read. Nothing announces an edit by kubectl or External Secrets, since Secrets are
 * not watched. It takes effect within a minute on air, unless so many are on air that their reads have to be shared.
 */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { holdsDestination } from '../../resources/destination/spec.ts';
import type { Caches } from '../caches/caches.ts';

/** The use of a destination: by a stream on air, by one that is not, or by none. */
export type DestinationUse = 'onAir' | 'used' | 'unused';

/** A pod takes up its new files within seconds of their update. */
const PAUSE_MS: Record<DestinationUse, number> = { onAir: 25_000, used: 100_000, unused: 600_000 };

/**
 * Reads in a second of destinations on air, and as many of the others. A read costs a millisecond of processor time here and as much in
 * kube-apiserver: 10,000 streams on air that asked for a Secret every 25 s would take half a core of each.
 */
const READS_PER_SECOND = 10;
/** Streams on air are counted once in this time. */
const COUNT_MS = 10_000;

/** Returns the milliseconds until the Secret of a destination with this use is read again, without jitter. */
export type Pace = (use: DestinationUse) => number;

export function createPace(caches: Pick<Caches, 'streams' | 'destinations'>, clock: Clock = systemClock): Pace {
  let onAir = 0;
  let countedMs = Number.NEGATIVE_INFINITY;
  const countOnAir = (): number => {
    const nowMs = clock.now().getTime();
    if (nowMs - countedMs >= COUNT_MS) {
      countedMs = nowMs;
      onAir = caches.streams.list().filter(({ status }) => holdsDestination(status?.phase)).length;
    }
    return onAir;
  };
  return (use) => {
    const sharing = use === 'onAir' ? countOnAir() : caches.destinations.stats().objects;
    return Math.max(PAUSE_MS[use], (sharing / READS_PER_SECOND) * 1000);
  };
}
