/** Determines the class of an account (limits.ts). */

import type { Db } from '../../db/pool.ts';
import type { AccountClass } from '../../settings/limits.ts';
import { wasEverCredited } from './store.ts';

/** Accounts that are remembered; as many as ask within a few minutes at a large service. */
const MAX_KNOWN = 50_000;

/**
 * `enabled`: credit counts here. Only `full` is remembered, since it is for good: an account on trial is looked up each time, so that
 * every server knows at once that it has paid. Rejects with the database's error.
 */
export function createAccountClasses({ db, enabled }: { db: Db; enabled: boolean }) {
  const full = new Set<string>();
  return async (accountId: string): Promise<AccountClass> => {
    if (!enabled || full.has(accountId)) return 'full';
    if (!(await wasEverCredited(db, accountId))) return 'trial';
    if (full.size >= MAX_KNOWN) full.clear();
    full.add(accountId);
    return 'full';
  };
}
