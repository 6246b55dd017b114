/**
 * Performs manual operations of the service's staff. Each has a reason and is recorded in the audit by the transaction
 * that performs it. So the audit holds exactly the operations that took place.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../../../core/lib/clock.ts';
import type { Db } from '../../../db/pool.ts';
import { customer, type Ledger } from '../../ledger/ledger.ts';
import type { LedgerEntry, TransactionKind } from '../../ledger/record.ts';
import { showEntry } from '../../ledger/statement.ts';
import { readStatement } from '../../ledger/store.ts';
import * as store from './store.ts';

/** The operation is impossible; the message says what to do instead. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}

interface By {
  /** The staff member who acts. */
  staff: string;
  reason: string;
}

export interface StaffAction {
  accountId: string;
  email: string | null;
  /** False where the same key had been given before: nothing has changed. */
  done: boolean;
  transactionId: string;
  /** Say it again with this key, and it is done once. */
  key: string;
  credits: bigint;
  balance: bigint;
}

/** From where credit comes that staff give. */
const SOURCES = { grant: 'grants', refund: 'refunds' } as const satisfies Partial<Record<TransactionKind, string>>;
export type Giving = keyof typeof SOURCES;

export type Admin = ReturnType<typeof createAdmin>;

export function createAdmin({ db, ledger, clock = systemClock }: { db: Db; ledger: Ledger; clock?: Clock }) {
  async function account(named: string): Promise<store.AccountRow> {
    const found = await store.findAccount(db, named);
    if (!found)
      throw new AdminError(`Account ${named} does not exist. Give the id or the e-mail address of an account.`);
    return found;
  }

  return {
    /** `grant` is a gift, `refund` gives back what was charged. Rejects with AdminError for an account that is none. */
    async give(
      kind: Giving,
      named: string,
      { credits, key = randomUUID(), staff, reason }: By & { credits: bigint; key?: string | undefined },
    ): Promise<StaffAction> {
      const { id: accountId, email } = await account(named);
      const entries = [
        { account: customer(accountId), credits },
        { account: SOURCES[kind], credits: -credits },
      ];
      return db.transaction().execute(async (trx) => {
        const transaction = { key: `admin:${key}`, kind, accountId, entries, at: clock.now(), details: { reason } };
        const { id: transactionId, posted: done, balance } = await ledger.post(transaction, { trx });
        if (done) await store.writeStaffRecord(trx, { staff, action: kind, accountId, reason, transactionId, credits });
        return { accountId, email, done, transactionId, key, credits, balance };
      });
    },

    /** Locks or unlocks an account; `done` is false where it was so already. */
    async setLocked(locked: boolean, named: string, { staff, reason }: By) {
      const { id: accountId, email } = await account(named);
      const done = await db.transaction().execute(async (trx) => {
        const changed = locked ? await store.lock(trx, accountId, reason) : await store.unlock(trx, accountId);
        if (changed)
          await store.writeStaffRecord(trx, { staff, action: locked ? 'suspend' : 'resume', accountId, reason });
        return changed;
      });
      return { accountId, email, done };
    },

    /** The latest entries of an account, and its balance. */
    async statement(
      named: string,
      limit: number,
    ): Promise<{ accountId: string; email: string | null; balance: bigint; entries: LedgerEntry[] }> {
      const { id: accountId, email } = await account(named);
      const rows = await readStatement(db, { accountId, ascending: false }, { skip: 0, limit });
      return { accountId, email, balance: await ledger.balance(accountId), entries: rows.map(showEntry) };
    },

    /** Lists the operations on an account, or on all, the latest first. */
    async audit(named: string | undefined, limit: number): Promise<store.StaffRecordRow[]> {
      return store.listStaffRecords(db, named === undefined ? undefined : (await account(named)).id, limit);
    },
  };
}
