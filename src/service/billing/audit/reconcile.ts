/**
 * Recomputes the whole ledger from its sources and changes nothing. Balances come from entries, and charges from
 * metered seconds and the pods' reports, at the prices of their time. Credits come from top-ups, deposits and staff
 * operations, and invoices from their entries. A new noun that moves credit adds its facts here.
 */

import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Db } from '../../db/pool.ts';
import { CREDITS_PER_MINOR_UNIT, creditsPerUnit } from '../ledger/money.ts';
import type { PriceList } from '../ledger/prices.ts';
import { readCurrencyDigits, readLedgerFaults } from '../ledger/store.ts';
import { listReportedSessions } from './reported-sessions.ts';
import * as store from './store.ts';

export interface Reconciled extends store.LedgerFacts {
  name: string;
}

/** Sources outside the database. A comparison without its source is left out. */
export interface FactSources {
  /** ISO 4217: what deposits are worth is counted in it. */
  currency?: string;
  /** The price list of charges. */
  prices?: PriceList;
  /** Reads all streams, which may be asked again. Rejects when Kubernetes does not answer. */
  streams?: () => Promise<readonly LoopStream[]>;
}

type ReadFacts = (
  db: Db,
  sources: FactSources & { reported: readonly store.ReportedSession[] | undefined; digits: number | undefined },
) => Promise<store.LedgerFacts | undefined>;

const FACTS: Record<string, ReadFacts> = {
  ledger: async (db) => ({
    checked: await store.countTransactions(db),
    differences: (await readLedgerFaults(db)).map(({ of: subject, ...fault }) => ({ ...fault, subject })),
  }),
  meter: store.readMeterFacts,
  prices: async (db, { prices }) => prices && store.readPriceFacts(db, prices),
  sessions: async (db, { reported }) => reported && store.readSessionFacts(db, reported),
  'top-ups': (db) => store.readTopUpFacts(db, CREDITS_PER_MINOR_UNIT),
  deposits: (db, { digits }) => store.readDepositFacts(db, digits === undefined ? undefined : creditsPerUnit(digits)),
  invoices: store.readInvoiceFacts,
  staff: store.readStaffFacts,
};

/** All of it as it was at one moment, so that what is booked meanwhile is no difference. Rejects with the database's error. */
export async function reconcile(db: Db, sources: FactSources = {}): Promise<Reconciled[]> {
  const reported = sources.streams && listReportedSessions(await sources.streams());
  const digits = sources.currency === undefined ? undefined : await readCurrencyDigits(db, sources.currency);
  const found = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const all: Reconciled[] = [];
      for (const [name, read] of Object.entries(FACTS)) {
        const facts = await read(trx, { ...sources, reported, digits });
        if (facts) all.push({ name, ...facts });
      }
      return all;
    });
  return Promise.all(found.map((one) => (one.name === 'sessions' ? confirmed(db, sources, one) : one)));
}

/** Kubernetes and the database are not read at one moment: what differs because of that does so no more when both are read again. */
async function confirmed(db: Db, { streams }: FactSources, first: Reconciled): Promise<Reconciled> {
  if (first.differences.length === 0 || !streams) return first;
  const again = await store.readSessionFacts(db, listReportedSessions(await streams()));
  const isStill = ({ what, subject }: store.Difference) =>
    again.differences.some((one) => one.what === what && one.subject === subject);
  return { ...first, differences: first.differences.filter(isStill) };
}
