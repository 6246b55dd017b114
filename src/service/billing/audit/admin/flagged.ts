/** Lists accounts that staff should look at, with the reasons. */
import type { Db } from '../../../db/pool.ts';
import { reconcile } from '../reconcile.ts';
import type { Difference } from '../store.ts';
import * as store from './store.ts';

/**
 * - suspended   staff have suspended it
 * - negative    it owes the usage of its grace
 * - dispute     a bank reverses a payment by card, and the dispute is open or lost
 * - unpaid      used credits are unpaid, since a payment went back
 * - deposit     a payment in crypto is larger than the limit of automatic credit
 * - difference  the ledger differs from its sources
 */
export type Flag = store.FlagRow['flag'] | 'difference';

export interface Flagged {
  accountId: string;
  /** null of one that is deleted. */
  email: string | null;
  flags: { flag: Flag; details: string }[];
}

const sentence = ({ of: noun, what, subject, found, expected }: Difference & { of: string }): string =>
  `${noun}: ${what} of ${subject} is ${found ?? 'missing'}, expected ${expected ?? 'none'}`;

/** By their ids, in order. Differences that belong to no account are under the id ''. Rejects with the database's error. */
export async function readFlagged(db: Db): Promise<Flagged[]> {
  const found = await reconcile(db);
  const differences = found.flatMap(({ name, differences }) => differences.map((one) => ({ of: name, ...one })));
  const owners = await store.findAccounts(
    db,
    differences.map(({ subject }) => subject),
  );
  const rows = [
    ...(await store.listFlags(db)),
    ...differences.map((one) => ({
      account_id: owners.get(one.subject) ?? '',
      flag: 'difference' as const,
      details: sentence(one),
    })),
  ];
  const emails = await store.findEmails(
    db,
    rows.map(({ account_id }) => account_id),
  );
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id);
  return [...byAccount]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([accountId, flags]) => ({
      accountId,
      email: emails.get(accountId) ?? null,
      flags: flags.map(({ flag, details }) => ({ flag, details })),
    }));
}
