/** Declares a page of a list, and what one asks for. paging/ cuts lists into pages. */

export const DEFAULT_PAGE = 20;
export const MAX_PAGE = 100;

export interface OrderOf<By extends string> {
  /** Equals are ordered by their ids. */
  by: By;
  descending: boolean;
}
export type Order = OrderOf<string>;

export const NEWEST_FIRST = { by: 'createdAt', descending: true } as const;

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

/** The filter of a list, in the words of every transport. */
export interface ListFilter {
  /** Part of the name, in any case. */
  q?: string | undefined;
  /** All of these must hold of the labels. */
  labels?: readonly LabelRequirement[] | undefined;
  state?: string | undefined;
  type?: string | undefined;
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}

/** One condition of a label selector. A missing label has none of the `values`. */
export interface LabelRequirement {
  name: string;
  operator: 'in' | 'notin' | 'exists' | 'missing';
  values: readonly string[];
}

/** A page of the objects that the filter holds for. */
export interface FilteredArgs extends PageArgs {
  filter?: ListFilter | undefined;
}

export interface Connection<T> {
  /** The number of items on all pages. */
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  edges: { cursor: string; node: T }[];
}

export interface ListArgs<By extends string> extends Omit<PageArgs, 'orderBy'> {
  /** The list's own order when left out. */
  orderBy?: OrderOf<By> | undefined;
}
