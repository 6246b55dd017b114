/** Lists the invoices of an account, and stores its billing address. */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { Db } from '../../db/pool.ts';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import type { Connection, FilteredArgs } from '../../lib/list-page.ts';
import { pageRecords } from '../../lib/paging/rows.ts';
import type { Principal } from '../../lib/scopes.ts';
import { createTokenBuckets } from '../../lib/token-buckets.ts';
import { INVOICE_LIST } from './list.ts';
import type { AddedFont } from './pdf.ts';
import type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from './record.ts';
import * as store from './store.ts';

type Asking = Pick<Principal, 'accountId'>;

export type InvoiceService = ReturnType<typeof createInvoiceService>;

export function showInvoice({
  id,
  issuedAt,
  corrects,
  content: { imprint: _printed, ...content },
}: store.InvoiceRow): Invoice {
  return { id, ...content, createdAt: issuedAt.toISOString(), correctsID: corrects };
}

/** Without what only one by itself shows. */
export const summarize = ({
  lines: _lines,
  roundingMinor: _rounding,
  taxes: _taxes,
  seller: _seller,
  buyer: _buyer,
  reason: _reason,
  notes: _notes,
  ...summary
}: Invoice): InvoiceSummary => summary;

export interface InvoiceServiceDeps {
  db: Db;
  /** For letters that our fonts lack. */
  font?: AddedFont | undefined;
  clock?: Clock;
}

/** Lines that an account may have drawn in a minute on this server. A thousand take half a second of its processor. */
const LINES_PER_MINUTE = 10_000;
/** Least that a PDF counts, for its fonts. */
const LEAST_LINES = 100;
/** One is made at a time, since making one is nothing but work of the processor. */
const TURNS = { total: 1, each: { account: 1 }, waiting: { total: 50, each: 5, ms: 20_000 } };

export function createInvoiceService({ db, font, clock = systemClock }: InvoiceServiceDeps) {
  const turns = new FairSlots(TURNS);
  const drawn = createTokenBuckets(LINES_PER_MINUTE, clock);

  /** Counts what a PDF draws. Throws `rate_limited` while the account has drawn more than it may. */
  function countLines(accountId: string, lines: number): void {
    const lacking = -drawn.getLevel(accountId);
    if (lacking >= 0) {
      const retryAfterSeconds = Math.floor((lacking * 60) / LINES_PER_MINUTE) + 1;
      throw new AppError(
        'rate_limited',
        `Too many PDFs of invoices were made for this account. Try again in ${retryAfterSeconds} seconds.`,
        { extras: { retryAfterSeconds } },
      );
    }
    drawn.take(accountId, LEAST_LINES + lines);
  }

  const takeTurn = (accountId: string) =>
    turns.take({ account: accountId }).catch((error: unknown) => {
      if (!(error instanceof SlotsFull)) throw error;
      throw error.limit === 'account'
        ? new AppError(
            'rate_limited',
            'The account has requested more PDFs of invoices at once than this server makes.',
          )
        : new AppError('server_busy', 'This server makes as many PDFs of invoices as it can. Try again later.');
    });

  const find = async ({ accountId }: Asking, id: string): Promise<store.InvoiceRow> => {
    const row = id.includes('\0') ? undefined : await store.findInvoice(db, id);
    if (row?.accountId === accountId) return row;
    throw new AppError('invoice_not_found', `The account has no invoice ${id.slice(0, 100)}.`);
  };
  return {
    async list(
      { accountId }: Asking,
      args: FilteredArgs,
      where?: (invoice: Invoice) => boolean,
    ): Promise<Connection<Invoice>> {
      const records = (await store.listInvoices(db, accountId)).map(showInvoice);
      return pageRecords(records, args, { name: 'inv', list: INVOICE_LIST, where });
    },
    get: async (asking: Asking, id: string): Promise<Invoice> => showInvoice(await find(asking, id)),
    /** The same bytes each time, as long as the font that was added is the same. Rejects with `rate_limited`, `server_busy`. */
    async pdf(asking: Asking, id: string): Promise<{ name: string; bytes: Buffer }> {
      const { content } = await find(asking, id);
      const release = await takeTurn(asking.accountId);
      try {
        countLines(asking.accountId, content.lines.length);
        // Loaded at the first request: it brings the library of fonts.
        const { renderPdf } = await import('./pdf.ts');
        return { name: `${content.number}.pdf`, bytes: await renderPdf(content, font) };
      } finally {
        release();
      }
    },
    address: async ({ accountId }: Asking): Promise<BillingAddress> => (await store.findAddress(db, accountId)) ?? {},
    /** For invoices that are issued from now on. */
    setAddress: ({ accountId }: Asking, given: BillingAddressUpdate): Promise<BillingAddress> =>
      store.mergeAddress(db, accountId, given),
  };
}
