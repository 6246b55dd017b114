/**
 * Pages a customer's entries. They are numbered without a gap, so a place in the list is a number, and nothing has to
 * be read to know how many precede it. Pure: no I/O, no clock.
 */

import { validationFailed } from '../../lib/errors.ts';
import type { ListArgs } from '../../lib/list-page.ts';
import { type Connection, DEFAULT_PAGE, type PageArgs } from '../../lib/list-page.ts';
import { decodeCursor, encodeCursor } from '../../lib/paging/connection.ts';
import type { LedgerEntry, TransactionKind } from './record.ts';
import type { StatementRow } from './store.ts';

const LIST = 'led';

/** The order of entries: that in which they were booked. */
export type StatementOrder = 'number';
export type StatementArgs = ListArgs<StatementOrder>;

const buildCursor = (number: bigint): string =>
  encodeCursor(LIST, { key: String(number).padStart(20, '0'), id: `n${number}` }, 'name');

/** Numbers of entries are of the type bigint in Postgres. */
const ENTRY_ID = /^n\d{1,18}$/;

function parseCursor(cursor: string, path = '/cursor'): bigint {
  const { id } = decodeCursor(LIST, cursor, path, 'name');
  if (ENTRY_ID.test(id)) return BigInt(id.slice(1));
  throw validationFailed([{ path, message: 'is not a cursor of this list; use one of an earlier response' }]);
}

/** The requested entries and cursors: numbers. */
export interface StatementRequest {
  after: bigint | undefined;
  before: bigint | undefined;
  ascending: boolean;
}

/** Throws `validation_failed` for a cursor of another list. */
export const parseArgs = (args: StatementArgs): StatementRequest => ({
  after: args.after ? parseCursor(args.after, args.afterPath) : undefined,
  before: args.before ? parseCursor(args.before, '/before') : undefined,
  ascending: args.orderBy?.descending === false,
});

/**
 * Slices as Relay does: `last` cuts the result of `first`. `from` entries stand up to `after`, and `to` before
 * `before`.
 */
export function computeSlice(
  { first, last }: Pick<PageArgs, 'first' | 'last'>,
  from: number,
  to: number,
): [number, number] {
  const until = Math.max(from, to);
  const end = Math.min(until, from + (first ?? (last === undefined ? DEFAULT_PAGE : until - from)));
  return [Math.max(from, end - (last ?? end - from)), end];
}

const text = (value: string | undefined): string | null => value ?? null;

export function showEntry(row: StatementRow): LedgerEntry {
  const { details } = row;
  const seconds = Number(details.seconds ?? Number.NaN);
  return {
    id: row.transaction_id,
    number: Number(row.number),
    kind: row.kind as TransactionKind,
    credits: String(row.credits),
    balanceCredits: String(row.balance),
    at: row.at.toISOString(),
    postedAt: row.posted_at.toISOString(),
    streamID: text(details.streamID),
    onAirSeconds: Number.isFinite(seconds) ? seconds : null,
    reference: text(details.topUpID ?? details.deposit),
    reason: text(details.reason),
  };
}

export function connectEntries(
  rows: readonly StatementRow[],
  place: { total: number; start: number; end: number },
): Connection<LedgerEntry> {
  const edges = rows.map((row) => ({ cursor: buildCursor(row.number), node: showEntry(row) }));
  return {
    totalCount: place.total,
    pageInfo: {
      hasNextPage: place.end < place.total,
      hasPreviousPage: place.start > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    edges,
  };
}
