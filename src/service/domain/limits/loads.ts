/**
 * Bounds the reads of single objects from Kubernetes that a cache does not contain. Another server may have created such an object a
 * moment ago; but anybody can make up an id, and each would be a read. Only ids that lead to nothing count, so honest clients meet no
 * limit.
 */
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { setNewest } from '../../../core/lib/newest.ts';
import { createTokenBuckets } from '../../lib/token-buckets.ts';

/** Ids that lead to nothing, of an account in a minute on this server. */
const MISSES_PER_MINUTE = 60;
/** Time in which such an id is not read again; an object may get its name later. */
const MISSING_MS = 10_000;
/** Such ids that are remembered: of 150 accounts at their limit, for that time. */
const MAX_KEPT = 1500;

export interface LoadLimit {
  /** Calls `read`, which returns whether the object exists, unless the account has asked for too many missing ones. */
  load(accountId: string, id: string, read: () => Promise<boolean>): Promise<void>;
}

export function createLoadLimit(clock: Clock = systemClock): LoadLimit {
  const misses = createTokenBuckets(MISSES_PER_MINUTE, clock);
  const missing = new Map<string, number>();
  return {
    async load(accountId, id, read) {
      const key = `${accountId} ${id}`;
      const nowMs = clock.monotonicMs();
      if (nowMs - (missing.get(key) ?? Number.NEGATIVE_INFINITY) < MISSING_MS) return;
      if (misses.getLevel(accountId) < 1) return;
      // Taken beforehand: requests at once cannot all have the last one.
      misses.take(accountId, 1);
      if (await read()) misses.take(accountId, -1);
      else setNewest(missing, key, nowMs, MAX_KEPT);
    },
  };
}
