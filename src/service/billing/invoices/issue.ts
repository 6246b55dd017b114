/**
 * Issues invoices: one for each month in the seller's time zone, with the ledger's charges of an account. All is
 * decided and stored in one transaction of the database, so that a process killed in between has issued nothing and
 * used no number.
 *
 * Two values of an account record the billed part: until when, and up to which entry of the ledger. A late entry of an
 * earlier month is on the next invoice; so every entry is on one invoice, and none on two.
 */
import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import type { Db } from '../../db/pool.ts';
import { buildEventId, NO_DATA } from '../../domain/events/record.ts';
import { tell } from '../../domain/events/store.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { dayAt } from '../ledger/days.ts';
import { customer, type Ledger } from '../ledger/ledger.ts';
import { readCurrencyDigits } from '../ledger/store.ts';
import { buildBuyer } from './buyer.ts';
import { buildContent, type ChargedLine, type Content, type Draft } from './document.ts';
import { monthStart, type Period, periodAt } from './period.ts';
import { showInvoice, summarize } from './service.ts';
import type { Seller } from './settings.ts';
import * as store from './store.ts';

/** Usage at the end of a month may be charged some time after it. */
const SETTLED_MS = 2 * 3_600_000;

export interface IssueDeps {
  db: Db;
  ledger: Pick<Ledger, 'post'>;
  seller: Seller;
  currency: string;
}

export interface Correction {
  invoiceId: string;
  /** The refund: more than 0, and in all no more than the invoice. */
  credits: bigint;
  reason: string;
  /** The same one is issued once. */
  key: string;
  /** Further changes for the same transaction. */
  also?: (trx: Db, accountId: string) => Promise<void>;
}

const getZone = ({ timeZone = 'UTC' }: Seller): string => timeZone;

const charged = (row: store.UnbilledRow): ChargedLine => ({
  streamID: row.kind === 'charge' ? row.stream_id : null,
  name: row.kind === 'charge' ? (row.name ?? row.stream_id ?? '') : (row.reason ?? 'Correction'),
  profile: row.kind === 'charge' ? row.profile : null,
  seconds: row.kind === 'charge' ? row.seconds : null,
  creditsPerHour: row.kind === 'charge' ? row.price : null,
  credits: row.credits,
});

/** The event of an invoice. Its id names the month, or the request for a credit note: both stay when the invoice is issued again after a restore. */
const tellIssued = (trx: Db, { periodUntil, key, ...row }: store.NewInvoice): Promise<void> => {
  const what = periodUntil
    ? periodUntil.toISOString()
    : createHash('sha256')
        .update(key ?? row.id)
        .digest('hex')
        .slice(0, 32);
  const { id: objectId, accountId, content } = row;
  return tell(trx, { accountId, object: 'invoice', objectId, uid: objectId }, () => ({
    news: [
      {
        id: buildEventId(accountId, `${content.kind}_${what}`),
        type: 'invoice.issued',
        at: row.issuedAt,
        data: { ...NO_DATA, name: content.number },
        snapshot: summarize(showInvoice(row)),
      },
    ],
    mark: '',
  }));
};

export function createIssuer({ db, ledger, seller, currency }: IssueDeps) {
  const zone = getZone(seller);

  /** In the caller's transaction: the last thing that it does, since all others wait for the number. */
  const keep = async (
    trx: Db,
    draft: Omit<Draft, 'number' | 'issuedOn' | 'currency' | 'currencyDigits' | 'seller' | 'buyer'>,
    {
      accountId,
      now,
      ...more
    }: { accountId: string; now: Date; periodUntil: Date | null } & Partial<Pick<store.NewInvoice, 'corrects' | 'key'>>,
  ): Promise<store.InvoiceRow> => {
    const [known, address] = [await store.findBuyer(trx, accountId), await store.findAddress(trx, accountId)];
    const buyer = buildBuyer(accountId, known, address);
    const currencyDigits = await readCurrencyDigits(trx, currency);
    const issuedOn = dayAt(now, zone);
    const series = `${seller.numberPrefix ?? ''}${issuedOn.slice(0, 4)}`;
    const sequence = await store.nextNumber(trx, series);
    const number = `${series}-${String(sequence).padStart(5, '0')}`;
    const content: Content = buildContent({ ...draft, number, issuedOn, currency, currencyDigits, seller, buyer });
    const row = { id: `inv-${ulid(now.getTime()).toLowerCase()}`, accountId, issuedAt: now, content };
    const full = { corrects: null, key: null, ...more, ...row, series, sequence };
    await store.insertInvoice(trx, full);
    await tellIssued(trx, full);
    return full;
  };

  /** Invoices an account's next ended month with entries; undefined when there is none. */
  const issueNext = (accountId: string, now: Date): Promise<store.InvoiceRow | undefined> =>
    store.inTransaction(db, async (trx) => {
      const closed = monthStart(new Date(now.getTime() - SETTLED_MS), zone);
      const { before, last } = await store.lockProgress(trx, accountId);
      if (before.until && before.until >= closed) return undefined;
      const first = await store.firstUnbilled(trx, accountId, before, closed);
      if (first === undefined) {
        await store.keepProgress(trx, accountId, closed, last);
        return undefined;
      }
      const period: Period = periodAt(first, before.until, zone);
      const rows = await store.sumUnbilled(trx, accountId, before, period.until);
      await store.keepProgress(trx, accountId, period.until, last);
      return keep(trx, { period, charged: rows.map(charged) }, { accountId, now, periodUntil: period.until });
    });

  return {
    /** Issues all past months of all accounts; returns the number of new invoices. */
    async issueDue(now: Date, signal: AbortSignal): Promise<number> {
      const closed = monthStart(new Date(now.getTime() - SETTLED_MS), zone);
      for (let issued = 0; ; ) {
        const accounts = await store.listDue(db, closed, 100);
        if (accounts.length === 0) return issued;
        for (const accountId of accounts)
          for (;;) {
            signal.throwIfAborted();
            if (!(await issueNext(accountId, now))) break;
            issued++;
          }
      }
    },

    /**
     * Refunds credits of an invoice: one transaction writes the ledger and a credit note. Throws `invoice_not_found`
     * and `validation_failed`; the same key returns the existing note.
     */
    correct: ({ invoiceId, credits, reason, key, also }: Correction, now: Date): Promise<store.InvoiceRow> =>
      store.inTransaction(db, async (trx) => {
        const invoice = await store.findInvoice(trx, invoiceId);
        if (invoice?.content.kind !== 'invoice')
          throw new AppError('invoice_not_found', `Invoice ${invoiceId.slice(0, 100)} does not exist.`);
        const { accountId, content } = invoice;
        await store.lockProgress(trx, accountId);
        const known = await store.findByKey(trx, key);
        if (known) return known;
        const notes = (await store.listInvoices(trx, accountId)).filter(({ corrects }) => corrects === invoiceId);
        const left = notes.reduce((sum, note) => sum + BigInt(note.content.totalCredits), BigInt(content.totalCredits));
        if (credits <= 0n || credits > left)
          throw validationFailed([{ path: '/credits', message: `must be from 1 to ${left}` }]);
        await ledger.post(
          {
            key: `correction:${key}`,
            kind: 'correction',
            accountId,
            at: now,
            entries: [
              { account: customer(accountId), credits },
              { account: 'revenue:streaming', credits: -credits },
            ],
            details: { invoiceKey: key, invoiceID: invoiceId, reason },
          },
          { trx },
        );
        const line: ChargedLine = {
          streamID: null,
          name: reason,
          profile: null,
          seconds: null,
          creditsPerHour: null,
          credits: -credits,
        };
        await also?.(trx, accountId);
        const draft = { period: null, charged: [line], corrects: { number: content.number }, reason };
        return keep(trx, draft, { accountId, now, periodUntil: null, corrects: invoiceId, key });
      }),
  };
}
export type Issuer = ReturnType<typeof createIssuer>;
