/** Describes the envelope in which REST and MCP return a page of a list, and flattens Relay connections to it. Pure: no I/O, no clock. */
import { type TSchema, Type } from 'typebox';
import { type Connection, DEFAULT_PAGE, MAX_PAGE, type PageArgs } from '../list-page.ts';

export const pageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE, description: 'Size of a page.' }),
  cursor: Type.Optional(Type.String({ maxLength: 1024, description: 'page.nextCursor of an earlier response.' })),
};

const Page = Type.Object(
  {
    hasMore: Type.Boolean({ description: 'True if another page exists.' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Cursor of the next page. Null on the last page.',
    }),
  },
  { title: 'Page' },
);

/** Returns the schema of the envelope around `item`. */
export const pageSchema = <T extends TSchema>(item: T, name: string) =>
  Type.Object({ data: Type.Array(item), page: Page }, { title: name });

export const pageArgs = ({ limit, cursor }: { limit: number; cursor?: string }): Pick<PageArgs, 'first' | 'after'> => ({
  first: limit,
  after: cursor,
});

/** `show` returns what the page shows of an item; by default all of it. */
export const flatten = <T, R = T>(
  { edges, pageInfo }: Connection<T>,
  show: (item: T) => R = (item) => item as unknown as R,
) => ({
  data: edges.map(({ node }) => show(node)),
  page: { hasMore: pageInfo.hasNextPage, nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null },
});

/** A page as documents show it. */
export const examplePage = (item: object) => ({
  data: [item],
  page: {
    hasMore: true,
    nextCursor: 'c3RyIDIwMjctMDEtMzFUMTc6NDI6MDVaIHN0ci0wMWs4enE0djdoMm05eDNjNWI2bjdwOHI5dA',
  },
});
