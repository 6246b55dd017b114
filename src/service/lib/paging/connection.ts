/**
 * Pages lists as Relay connections (https://relay.dev/graphql/connections.htm): GraphQL shows them as they are, REST
 * flattens them. A cursor is a position in the order and not a number, so it stays right when items come and go around
 * it. Pure: no I/O, no clock.
 */

import { crc32 } from 'node:zlib';
import { NAME_PATTERN } from '../../../core/lib/sentences.ts';
import { validationFailed } from '../errors.ts';
import { type Connection, DEFAULT_PAGE, NEWEST_FIRST, type PageArgs } from '../list-page.ts';

/** The position of an item in an order. */
export interface ListPlace {
  /** In the order by createdAt RFC 3339 in UTC and whole seconds, as Kubernetes writes it: it compares like the time. */
  key: string;
  id: string;
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
const compare = (a: ListPlace, b: ListPlace): number => compareText(a.key, b.key) || compareText(a.id, b.id);

/** The syntax of names in Kubernetes. */
const ID = new RegExp(NAME_PATTERN);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The key of a name in the order by name. */
export const nameKey = (name: string): string => name.normalize('NFC').toLowerCase();

/**
 * Encodes a cursor. `list` names its list, so that a cursor of another list or order is refused. A checksum detects
 * changed or truncated cursors. It is no secret: a forged cursor only names another position in the user's own list.
 */
export function encodeCursor(list: string, { key, id }: ListPlace, by = 'createdAt'): string {
  const text = by === 'createdAt' ? `${list} ${key} ${id}` : `${list}.${by} ${base64url(key)} ${id}`;
  return base64url(`${text} ${checksum(text)}`);
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const checksum = (text: string): string => crc32(text).toString(36);

/** Throws `validation_failed` for anything that `encodeCursor` did not make for this list in this order. */
export function decodeCursor(list: string, cursor: string, path = '/cursor', by = 'createdAt'): ListPlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.toString('latin1');
  const [name, raw = '', id = '', sum, ...more] = text.split(' ');
  const isWhole = sum === checksum(text.slice(0, text.lastIndexOf(' '))) && bytes.toString('base64url') === cursor;
  const isPlace = ID.test(id) && (by !== 'createdAt' || TIME.test(raw)) && more.length === 0;
  if (isWhole && isPlace && name === (by === 'createdAt' ? list : `${list}.${by}`))
    return { key: by === 'createdAt' ? raw : Buffer.from(raw, 'base64url').toString(), id };
  throw validationFailed([{ path, message: 'is not a cursor of this list; use one of an earlier response' }]);
}

/** A copy of `items`, ascending by their places. */
export const inOrder = <S>(items: readonly S[], place: (item: S) => ListPlace): S[] =>
  items
    .map((item) => ({ item, at: place(item) }))
    .sort((a, b) => compare(a.at, b.at))
    .map(({ item }) => item);

/** How many of `items`, which are ascending, stand before `at`, and whether the next one stands there. Halves: O(log n). */
export function find<S>(
  items: readonly S[],
  at: ListPlace,
  place: (item: S) => ListPlace,
): { index: number; isThere: boolean } {
  let index = 0;
  for (let end = items.length; index < end; ) {
    const middle = (index + end) >>> 1;
    if (compare(place(items[middle] as S), at) < 0) index = middle + 1;
    else end = middle;
  }
  return { index, isThere: index < items.length && compare(place(items[index] as S), at) === 0 };
}

/**
 * Returns one page of `items`, which are in ascending order, each shown by `show`. Items of other pages are not read,
 * so that a page costs the same wherever it is.
 */
export function connect<S, T>(
  list: string,
  items: readonly S[],
  args: PageArgs,
  place: (item: S, by: string) => ListPlace,
  show: (item: S) => T,
): Connection<T> {
  const { by, descending } = args.orderBy ?? NEWEST_FIRST;
  const after = args.after ? decodeCursor(list, args.after, args.afterPath, by) : undefined;
  const before = args.before ? decodeCursor(list, args.before, '/before', by) : undefined;
  const count = items.length;

  /** Counts the items before `cursor` in the requested order, or, with `itself`, up to and including it. */
  const standing = (cursor: ListPlace, itself: boolean): number => {
    const { index, isThere } = find(items, cursor, (item) => place(item, by));
    const passed = index + (isThere && itself !== descending ? 1 : 0);
    return descending ? count - passed : passed;
  };
  const from = after ? standing(after, true) : 0;
  const to = Math.max(from, before ? standing(before, false) : count);
  const first = args.first ?? (args.last === undefined ? DEFAULT_PAGE : to - from);
  const end = Math.min(to, from + first);
  const start = Math.max(from, end - (args.last ?? end - from));

  const buildCursor = (item: S) => encodeCursor(list, place(item, by), by);
  const edges: Edge<S, T>[] = [];
  for (let i = start; i < end; i += 1) {
    const item = items[descending ? count - 1 - i : i] as S;
    edges.push(new Edge(item, show(item), buildCursor));
  }
  // With `first` and `last` both, the specification counts what `first` has cut off as well.
  const hasPrevious = start > 0 || (args.last !== undefined && to - from > args.last);
  return { totalCount: count, pageInfo: new PageInfo(edges, end < count, hasPrevious), edges };
}

/** Cursors are computed on demand: REST returns only one for each page. */
class Edge<S, T> {
  readonly node: T;
  readonly #item: S;
  readonly #buildCursor: (item: S) => string;
  constructor(item: S, node: T, buildCursor: (item: S) => string) {
    this.node = node;
    this.#item = item;
    this.#buildCursor = buildCursor;
  }
  get cursor(): string {
    return this.#buildCursor(this.#item);
  }
}

class PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #edges: readonly { cursor: string }[];
  constructor(edges: readonly { cursor: string }[], hasNextPage: boolean, hasPreviousPage: boolean) {
    this.hasNextPage = hasNextPage;
    this.hasPreviousPage = hasPreviousPage;
    this.#edges = edges;
  }
  get startCursor(): string | null {
    return this.#edges[0]?.cursor ?? null;
  }
  get endCursor(): string | null {
    return this.#edges.at(-1)?.cursor ?? null;
  }
}
