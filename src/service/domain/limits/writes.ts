/**
 * Bounds what an account writes to Kubernetes in a minute, on this server. Kubernetes' database keeps each revision of an object as a
 * whole until its next compaction, and refuses all writes of the cluster when it is full. Quotas bound what is stored; this bounds
 * what is written.
 *
 * A write is admitted before it begins, and counted after it by the size of what Kubernetes returns. A request that was admitted
 * finishes all of its writes, so none is left half done, and the account waits for what they took beyond its limit. A deletion is
 * always possible and not counted: what it deletes was counted.
 */
import type { KubeObject } from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createTokenBuckets } from '../../lib/token-buckets.ts';
import { type AccountClass, formatLimit, type Limits } from '../../settings/limits.ts';

/** Least that a write counts, for the work of kube-apiserver and of all that watch it: 2,560 small writes a minute of 20 MiB. */
const LEAST_BYTES = 8192;
const MINUTE_SECONDS = 60;

export interface WriteLimit {
  /**
   * Rejects with `too_many_writes` while the account has written more than it may. A write that takes something off air is refused
   * only after twice as much.
   */
  admit(accountId: string, options?: { takesAway?: boolean }): Promise<void>;
  /** Counts a write by the object that Kubernetes returned. */
  count(accountId: string, written: KubeObject): void;
}

export interface WriteLimitDeps {
  limits: { readonly [Class in AccountClass]: Pick<Limits[Class], 'writtenBytes'> };
  findClass: (accountId: string) => Promise<AccountClass>;
  clock?: Clock;
}

export function createWriteLimit({ limits, findClass, clock = systemClock }: WriteLimitDeps): WriteLimit {
  const createBuckets = (column: AccountClass) => createTokenBuckets(limits[column].writtenBytes, clock);
  // Each write is counted for both classes, so that most need no look at the class.
  const buckets = { trial: createBuckets('trial'), full: createBuckets('full') };

  return {
    async admit(accountId, { takesAway = false } = {}) {
      const computeLacking = (column: AccountClass) =>
        (takesAway ? -limits[column].writtenBytes : 0) - buckets[column].getLevel(accountId);
      if (computeLacking('trial') < 0 && computeLacking('full') < 0) return;
      const column = await findClass(accountId);
      const lacking = computeLacking(column);
      if (lacking >= 0) throw tooManyWrites(column, limits[column].writtenBytes, lacking);
    },
    count(accountId, written) {
      const bytes = Math.max(LEAST_BYTES, Buffer.byteLength(JSON.stringify(written)));
      for (const one of Object.values(buckets)) one.take(accountId, bytes);
    },
  };
}

function tooManyWrites(column: AccountClass, allowed: number, lacking: number): AppError {
  const retryAfterSeconds = allowed > 0 ? Math.floor((lacking * MINUTE_SECONDS) / allowed) + 1 : MINUTE_SECONDS;
  return new AppError(
    'too_many_writes',
    `The account may write ${formatLimit('writtenBytes', allowed)} of records (streams, destinations, uploads, playlists) a minute, and has. Try again in ${retryAfterSeconds} seconds.`,
    { extras: { limit: 'writtenBytes', allowed, class: column, retryAfterSeconds } },
  );
}
