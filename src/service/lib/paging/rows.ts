/** Pages the rows of a noun that are read from the database as a whole. Pure: no I/O, no clock. */
import { type Connection, type FilteredArgs, NEWEST_FIRST } from '../list-page.ts';
import { connect, inOrder } from './connection.ts';
import { createTest, type NounList, placeOf } from './noun-list.ts';

export interface RowsOptions<T, R> {
  /** Names the list, so that a cursor of another one is refused. */
  name: string;
  list: NounList<T>;
  now: Date;
  show: (row: T) => R;
  where?: ((shown: R) => boolean) | undefined;
}

/** Returns a page of the rows that the filter and `where` hold for, newest first unless `args` says otherwise. */
export function pageRows<T, R>(
  rows: readonly T[],
  args: FilteredArgs,
  { name, list, now, show, where }: RowsOptions<T, R>,
): Connection<R> {
  const holds = createTest(list, args.filter ?? {}, now);
  const found = rows.filter((row) => holds(row) && (!where || where(show(row))));
  const { by, descending } = args.orderBy ?? NEWEST_FIRST;
  const place = placeOf(list, by, now);
  // By another order than createdAt, a place has any text for its key.
  const order = { ...args, orderBy: { by: 'name', descending } };
  return connect(`${name}.${by}`, inOrder(found, place), order, place, show);
}

/** A record that is shown does not change with time. */
const NO_TIME = new Date(Number.NaN);

/** Returns a page of records as clients see them. */
export const pageRecords = <T>(
  records: readonly T[],
  args: FilteredArgs,
  options: Pick<RowsOptions<T, T>, 'name' | 'list' | 'where'>,
): Connection<T> => pageRows(records, args, { ...options, now: NO_TIME, show: (record) => record });
