/** Declares what lists of invoices are filtered and sorted by. Pure: no I/O, no clock. */
import type { NounList } from '../../lib/paging/noun-list.ts';
import { KINDS } from './document.ts';
import type { Invoice } from './record.ts';

export const INVOICE_LIST: NounList<Invoice> = {
  nouns: 'invoices',
  getId: ({ id }) => id,
  getCreatedAt: ({ createdAt }) => createdAt,
  getName: ({ number }) => number,
  nameIs: 'number',
  type: { title: 'InvoiceKind', values: KINDS, get: ({ kind }) => kind },
  sorts: {
    // Those of several months that were missed come at once.
    createdAt: { key: ({ createdAt, number }) => `${createdAt} ${number}` },
    type: { key: ({ kind }) => kind },
  },
};
