/** Lists the invoices of an account, and stores its billing address. */

import type { Db } from '../../db/pool.ts';
import { AppError } from '../../lib/errors.ts';
import type { Connection } from '../../lib/paging/connection.ts';
import { connectAll, type ListArgs, type Listing } from '../../lib/paging/ordered.ts';
import type { Principal } from '../../lib/scopes.ts';
import type { AddedFont } from './pdf.ts';
import type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from './record.ts';
import * as store from './store.ts';

type Asking = Pick<Principal, 'accountId'>;

export type InvoiceService = ReturnType<typeof createInvoiceService>;

const LISTING: Listing<Invoice, 'createdAt'> = {
  list: 'inv',
  getId: ({ id }) => id,
  // Those of several months that were missed come at once.
  keys: { createdAt: ({ createdAt, number }) => `${createdAt} ${number}` },
  standard: { by: 'createdAt', descending: true },
};

function show({ id, issuedAt, corrects, content: { imprint: _printed, ...content } }: store.InvoiceRow): Invoice {
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
}

export function createInvoiceService({ db, font }: InvoiceServiceDeps) {
  const find = async ({ accountId }: Asking, id: string): Promise<store.InvoiceRow> => {
    const row = id.includes('\0') ? undefined : await store.findInvoice(db, id);
    if (row?.accountId === accountId) return row;
    throw new AppError('invoice_not_found', `The account has no invoice ${id.slice(0, 100)}.`);
  };
  return {
    async list(
      { accountId }: Asking,
      args: ListArgs<'createdAt'>,
      where?: (invoice: Invoice) => boolean,
    ): Promise<Connection<Invoice>> {
      return connectAll(LISTING, (await store.listInvoices(db, accountId)).map(show), args, where);
    },
    get: async (asking: Asking, id: string): Promise<Invoice> => show(await find(asking, id)),
    /** The same bytes each time, as long as the font that was added is the same. */
    async pdf(asking: Asking, id: string): Promise<{ name: string; bytes: Buffer }> {
      const { content } = await find(asking, id);
      // Loaded at the first request: it brings the library of fonts.
      const { renderPdf } = await import('./pdf.ts');
      return { name: `${content.number}.pdf`, bytes: await renderPdf(content, font) };
    },
    address: async ({ accountId }: Asking): Promise<BillingAddress> => (await store.findAddress(db, accountId)) ?? {},
    /** For invoices that are issued from now on. */
    setAddress: ({ accountId }: Asking, given: BillingAddressUpdate): Promise<BillingAddress> =>
      store.mergeAddress(db, accountId, given),
  };
}
