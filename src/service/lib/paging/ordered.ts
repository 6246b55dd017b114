/** Pages lists that are read as a whole and have orders of their own, after filtering and sorting them. Pure: no I/O, no clock. */
import type { Connection, ListArgs, OrderOf } from '../list-page.ts';
import { connect, inOrder } from './connection.ts';

export interface Listing<T, By extends string> {
  /** Names it, so that a cursor of another one is refused. */
  list: string;
  getId: (item: T) => string;
  /** The orders, each with a text that compares like the value it stands for. */
  keys: Record<By, (item: T) => string>;
  standard: OrderOf<By>;
}

/** A number as a text that compares like it. */
export const numberKey = (number: number | string): string => String(number).padStart(16, '0');

/** One page of those of `items` that `where` holds for. */
export function connectAll<T, By extends string>(
  { list, getId, keys, standard }: Listing<T, By>,
  items: readonly T[],
  args: ListArgs<By>,
  where: (item: T) => boolean = () => true,
): Connection<T> {
  const { by, descending } = args.orderBy ?? standard;
  const place = (item: T) => ({ key: keys[by](item), id: getId(item) });
  // By another order than createdAt, a place has any text for its key.
  const order = { ...args, orderBy: { by: 'name', descending } };
  return connect(`${list}.${by}`, inOrder(items.filter(where), place), order, place, (item) => item);
}
