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
  const place = placeOf(list, (args.orderBy ?? NEWEST_FIRST).by, now);
  return connect(name, inOrder(found, place), args, place, show);
}
