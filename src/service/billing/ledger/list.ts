/** Declares what lists of ledger entries are filtered and sorted by. The database does both. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import type { RowWhere } from '../../db/where.ts';
import { listQuery, type NounList } from '../../lib/paging/noun-list.ts';
import { KINDS, type LedgerEntry } from './record.ts';

const LEDGER_LIST: NounList<LedgerEntry> = {
  nouns: 'entries',
  getId: ({ id }) => id,
  getCreatedAt: ({ postedAt }) => postedAt,
  type: { title: 'LedgerEntryKind', values: KINDS, get: ({ kind }) => kind },
};

const ORDERS = ['-number', 'number'];

/** Entries are numbered as they are booked, and have no other order. */
export const ledgerQuery = (words: 'full' | 'short' = 'full') => {
  const { type, createdAfter, createdBefore } = listQuery(LEDGER_LIST, words);
  const description = 'Order of booking. Defaults to `-number`, newest first.';
  const sort = Type.Enum(ORDERS, { type: 'string', ...(words === 'full' && { description }) });
  return { type, createdAfter, createdBefore, sort: Type.Optional(sort) };
};

interface LedgerFilter {
  type?: string;
  createdAfter?: string;
  createdBefore?: string;
}

/** An entry is created when it is booked. */
export const toLedgerWhere = ({ type, createdAfter, createdBefore }: LedgerFilter): RowWhere | undefined =>
  type === undefined && createdAfter === undefined && createdBefore === undefined
    ? undefined
    : { kind: { eq: type }, postedAt: { gt: createdAfter, lt: createdBefore } };
