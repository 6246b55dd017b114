/**
 * Computes all that is in the ledger anew from what it is made of: balances from entries, charges from what was metered,
 * credits from top-ups, deposits and the deeds of staff, and invoices from what they are for. It changes nothing. Whoever brings a noun that moves credit adds its
 * facts here.
 */
import { CREDITS_PER_MINOR_UNIT } from '../billing/money.ts';
import { readLedgerFaults } from '../billing/store.ts';
import type { Db } from '../db/pool.ts';
import * as store from './store.ts';

export interface Reconciled extends store.Facts {
  name: string;
}

const FACTS: Record<string, (db: Db) => Promise<store.Facts>> = {
  ledger: async (db) => ({
    checked: await store.countTransactions(db),
    differences: (await readLedgerFaults(db)).map(({ of: subject, ...fault }) => ({ ...fault, subject })),
  }),
  meter: store.meterFacts,
  'top-ups': (db) => store.topUpFacts(db, CREDITS_PER_MINOR_UNIT),
  deposits: store.depositFacts,
  invoices: store.invoiceFacts,
  staff: store.staffFacts,
};

/** All of it as it was at one moment, so that what is booked meanwhile is no difference. Rejects with the database's error. */
export const reconcile = (db: Db): Promise<Reconciled[]> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const found: Reconciled[] = [];
      for (const [name, facts] of Object.entries(FACTS)) found.push({ name, ...(await facts(trx)) });
      return found;
    });
