import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  connect,
  decodeCursor,
  encodeCursor,
  type Order,
  type PageArgs,
  type Place,
} from '../../src/account/connection.ts';

const place = fc.record({
  key: fc.integer({ min: 0, max: 9 }).map((s) => `2026-01-01T00:00:0${s}Z`),
  id: fc.integer({ min: 0, max: 999 }).map((n) => `str-${n}`),
});
const places = fc.uniqueArray(place, { selector: ({ id }) => id, maxLength: 40 });
const page = (items: readonly Place[], first: number, after?: string | null) =>
  connect(
    'str',
    items,
    { first, after },
    (item) => item,
    (item) => item,
  );

describe('pages', () => {
  test('walking through them meets everything once, newest first, whatever their size', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 10 }), (items, first) => {
        const met: Place[] = [];
        for (let after: string | null = null, more = true; more; ) {
          const { edges, pageInfo, totalCount } = page(items, first, after);
          expect(totalCount).toBe(items.length);
          met.push(...edges.map(({ node }) => node));
          more = pageInfo.hasNextPage;
          after = pageInfo.endCursor;
        }
        expect(met.length).toBe(items.length);
        for (const [i, item] of met.entries()) {
          const next = met[i + 1];
          if (next) expect(item.key > next.key || (item.key === next.key && item.id > next.id)).toBe(true);
        }
      }),
    );
  });

  test('what comes and goes between two pages neither hides nor repeats what stays', () => {
    fc.assert(
      fc.property(
        places,
        places,
        fc.integer({ min: 1, max: 10 }),
        fc.func(fc.boolean()),
        (before, others, first, stays) => {
          const one = page(before, first);
          const ids = new Set(before.map(({ id }) => id));
          const kept = before.filter(({ id }) => stays(id));
          const after = [...kept, ...others.filter(({ id }) => !ids.has(id))];
          const rest = page(after, 1000, one.pageInfo.endCursor).edges.map(({ node }) => node.id);
          const seen = new Set(one.edges.map(({ node }) => node.id));
          for (const { id } of kept) expect(rest.includes(id)).toBe(!seen.has(id) && one.pageInfo.endCursor !== null);
        },
      ),
    );
  });
});

/** https://relay.dev/graphql/connections.htm#sec-Pagination-algorithm and #sec-undefined.PageInfo.Fields, word by word. */
function asSpecified(all: readonly Place[], { first, after, last, before }: PageArgs) {
  const index = (cursor?: string | null) => all.findIndex((at) => encodeCursor('str', at) === cursor);
  let edges = [...all];
  if (after && index(after) !== -1) edges = edges.slice(index(after) + 1);
  if (before && index(before) !== -1) edges = edges.slice(0, edges.indexOf(all[index(before)] as Place));
  const applied = edges;
  if (first !== undefined && edges.length > first) edges = edges.slice(0, first);
  if (last !== undefined && edges.length > last) edges = edges.slice(edges.length - last);
  return {
    ids: edges.map(({ id }) => id),
    hasPreviousPage: last !== undefined && applied.length > last ? true : Boolean(after && index(after) >= 0),
    hasNextPage: first !== undefined && applied.length > first ? true : Boolean(before && index(before) >= 0),
  };
}

describe('in both directions', () => {
  const size = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
  const newestFirst = (items: readonly Place[]) => page(items, 1000).edges.map(({ node }) => node);

  test('a page is what the specification of Relay says, for any first, after, last and before', () => {
    fc.assert(
      fc.property(places, size, size, fc.nat(50), fc.nat(50), (items, first, last, i, j) => {
        const all = newestFirst(items);
        const cursorAt = (n: number) => (all[n] ? encodeCursor('str', all[n]) : undefined);
        // A `before` ahead of `after` leaves nothing, and the specification’s own steps do not say what is around nothing.
        const [from, to] = [Math.min(i, j), Math.max(i, j) + 1];
        const args = { first, last, after: cursorAt(from), before: cursorAt(to) };
        if (first === undefined && last === undefined) args.first = 1000;
        const { edges, pageInfo } = connect(
          'str',
          items,
          args,
          (item) => item,
          (item) => item,
        );
        const { ids, ...flags } = asSpecified(all, args);
        expect({ ids: edges.map(({ node }) => node.id), ...pageInfo }).toMatchObject({ ids, ...flags });
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual(
          [edges.at(0), edges.at(-1)].map((edge) => edge?.cursor ?? null),
        );
      }),
    );
  });

  test('backwards through the pages and forwards again meets the same ones, in the same order', () => {
    const order = fc.record({ by: fc.constant('createdAt' as const), descending: fc.boolean() });
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 10 }), order, (items, count, orderBy: Order) => {
        const walk = (direction: 'forwards' | 'backwards') => {
          const met: string[] = [];
          for (let cursor: string | null = null, more = true; more; ) {
            const args: PageArgs =
              direction === 'forwards' ? { first: count, after: cursor } : { last: count, before: cursor };
            const { edges, pageInfo } = connect(
              'str',
              items,
              { ...args, orderBy },
              (item) => item,
              ({ id }) => id,
            );
            const ids = edges.map(({ node }) => node);
            if (direction === 'forwards') met.push(...ids);
            else met.unshift(...ids);
            more = direction === 'forwards' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage;
            cursor = direction === 'forwards' ? pageInfo.endCursor : pageInfo.startCursor;
          }
          return met;
        };
        expect(walk('backwards')).toEqual(walk('forwards'));
        expect(walk('forwards').length).toBe(items.length);
      }),
    );
  });
});

describe('cursors', () => {
  test('of the order by name hold any name, and lead nowhere in another order', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ' ', 'é', '😀', '\n', '/', '\0') }), (name) => {
        const at = { key: name, id: 'str-1' };
        const cursor = encodeCursor('str', at, 'name');
        expect(decodeCursor('str', cursor, '/after', 'name')).toEqual(at);
        expect(() => decodeCursor('str', cursor)).toThrow(/cursor/);
      }),
    );
  });

  test('lead back to their place, and only in their own list', () => {
    fc.assert(
      fc.property(place, (at) => {
        const cursor = encodeCursor('str', at);
        expect(decodeCursor('str', cursor)).toEqual(at);
        expect(() => decodeCursor('dst', cursor)).toThrow(/cursor/);
      }),
    );
  });

  test('anything else is refused, never misread', () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(() => decodeCursor('str', text)).toThrow(/cursor/)));
    const good = encodeCursor('str', { key: '2026-01-01T00:00:00Z', id: 'str-1' });
    for (const tampered of [`${good}=`, `${good}A`, good.slice(1), ` ${good}`])
      expect(() => decodeCursor('str', tampered)).toThrow(/cursor/);
  });
});
