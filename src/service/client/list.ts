/** Lists of the API: one page, or all of it, page after page. */

export interface Page<T> {
  data: T[];
  /** `nextCursor` leads to the next page; null on the last. */
  page: { hasMore: boolean; nextCursor: string | null };
}

/** Nothing is asked for before it is read. `for await` goes through all of it and asks for each page when it is needed. */
export interface List<T> extends AsyncIterable<T> {
  /** The first page, or the one that an earlier page's `nextCursor` leads to. */
  page(cursor?: string | null): Promise<Page<T>>;
}

/** `read` asks for the page at a cursor. */
export const createList = <T>(read: (cursor: string | undefined) => Promise<Page<T>>): List<T> => ({
  page: (cursor) => read(cursor ?? undefined),
  async *[Symbol.asyncIterator]() {
    let cursor: string | undefined;
    do {
      const { data, page } = await read(cursor);
      yield* data;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  },
});
