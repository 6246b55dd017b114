/** Reads the search and the order of a list from its address. Pure: no I/O, no clock. */

const MAX_NAME = 200;
/** No name holds these, and no request may: all of C0, DEL and C1. */
const CONTROL = /\p{Cc}/gu;

/** Anything else in an address is left out: people type there. */
export function parseSearchText(given: unknown): string | undefined {
  if (typeof given !== 'string' && typeof given !== 'number') return undefined;
  return String(given).replace(CONTROL, '').slice(0, MAX_NAME).toWellFormed().trim() || undefined;
}

/** Orders of every list by their names in the API, with their words. */
export const LIST_SORTS = {
  '-createdAt': 'Newest',
  createdAt: 'Oldest',
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
} as const;
export type ListSort = keyof typeof LIST_SORTS;

export interface ListSearch {
  q?: string | undefined;
  sort?: ListSort | undefined;
}

export function parseListSearch({ q, sort }: Record<string, unknown>): ListSearch {
  const text = parseSearchText(q);
  const isKnown = typeof sort === 'string' && Object.hasOwn(LIST_SORTS, sort);
  return { ...(text !== undefined && { q: text }), ...(isKnown && { sort: sort as ListSort }) };
}
