/**
 * Lists as Relay connections (https://relay.dev/graphql/connections.htm): GraphQL shows them as they are, REST flattens
 * them. A cursor is a place in the order and not a number, so it stays right when things come and go around it.
 * Pure: no I/O, no clock.
 */
import { validationFailed } from '../errors.ts';

export const DEFAULT_PAGE = 20;
export const MAX_PAGE = 100;

export interface PageArgs {
  /** 1 to MAX_PAGE. */
  first?: number | undefined;
  /** Cursor of the last one already seen. */
  after?: string | null | undefined;
}

export interface Connection<T> {
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  edges: { cursor: string; node: T }[];
}

/** Where something stands: newest first, and by descending id within a second. */
export interface Place {
  /** RFC 3339 in UTC and whole seconds, as Kubernetes writes it; such texts compare like the times they name. */
  time: string;
  id: string;
}

const compare = (a: Place, b: Place): number =>
  a.time === b.time ? (a.id < b.id ? 1 : a.id > b.id ? -1 : 0) : a.time < b.time ? 1 : -1;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** `list` names the list a cursor belongs to, so that one of another list is refused. */
export const encodeCursor = (list: string, { time, id }: Place): string =>
  Buffer.from(`${list} ${time} ${id}`).toString('base64url');

/** Throws `validation_failed` for anything that `encodeCursor` did not make for this list. */
export function decodeCursor(list: string, cursor: string, path = '/cursor'): Place {
  const [of, time = '', id = '', ...more] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const place = { time, id };
  const genuine = of === list && TIME.test(time) && id !== '' && more.length === 0;
  if (genuine && encodeCursor(list, place) === cursor) return place;
  throw validationFailed([{ path, message: 'is not a cursor of this list; use page.nextCursor of an earlier answer' }]);
}

/** One page of `items`, in order, each shown by `show`; those that are not on the page are not shown. */
export function connect<S, T>(
  list: string,
  items: readonly S[],
  args: PageArgs,
  place: (item: S) => Place,
  show: (item: S) => T,
): Connection<T> {
  const first = args.first ?? DEFAULT_PAGE;
  const after = args.after ? decodeCursor(list, args.after) : undefined;
  const placed = items.map((item) => ({ item, at: place(item) })).sort((a, b) => compare(a.at, b.at));
  const rest = after ? placed.filter(({ at }) => compare(at, after) > 0) : placed;
  const edges = rest.slice(0, first).map(({ item, at }) => ({ cursor: encodeCursor(list, at), node: show(item) }));
  return {
    totalCount: placed.length,
    pageInfo: {
      hasNextPage: rest.length > first,
      hasPreviousPage: rest.length < placed.length,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    edges,
  };
}
