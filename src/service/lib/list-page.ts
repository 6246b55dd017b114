/** Declares a page of a list, and what one asks for. paging/ cuts lists into pages. */

export const DEFAULT_PAGE = 20;
export const MAX_PAGE = 100;

export const ORDER_FIELDS = ['createdAt', 'name'] as const;

export interface Order {
  /** `name`: upper and lower case are the same. Equals are ordered by their ids. */
  by: (typeof ORDER_FIELDS)[number];
  descending: boolean;
}

export const NEWEST_FIRST: Order = { by: 'createdAt', descending: true };

/** With `first` and `last` both, what `first` leaves is cut by `last`, as the specification has it. */
export interface PageArgs {
  /** 0 to MAX_PAGE; DEFAULT_PAGE when `last` is not given either. */
  first?: number | undefined;
  /** Cursor of the last one already seen. */
  after?: string | null | undefined;
  /** 0 to MAX_PAGE. */
  last?: number | undefined;
  /** Cursor of the first one already seen, when going backwards. */
  before?: string | null | undefined;
  /** NEWEST_FIRST when left out. */
  orderBy?: Order | undefined;
  /** The path in errors about an invalid cursor: the name by which clients know `after`. */
  afterPath?: string | undefined;
}

/** A page of those whose name contains `q`, in any case. */
export type Searched<Args> = Args & { q?: string | undefined };

export interface Connection<T> {
  /** The number of items on all pages. */
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  edges: { cursor: string; node: T }[];
}

export interface OrderOf<By extends string> {
  by: By;
  descending: boolean;
}

export interface ListArgs<By extends string> extends Omit<PageArgs, 'orderBy'> {
  /** The list's own order when left out. */
  orderBy?: OrderOf<By> | undefined;
}
