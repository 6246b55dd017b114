import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Order, PageArgs } from '../../../../../src/service/lib/list-page.ts';
import {
  connect,
  decodeCursor,
  encodeCursor,
  inOrder,
  type ListPlace,
} from '../../../../../src/service/lib/paging/connection.ts';
import { createGroups } from '../../../../../src/service/lib/paging/groups.ts';

const place = fc.record({
  key: fc.integer({ min: 0, max: 9 }).map((s) => `2026-01-01T00:00:0${s}Z`),
  id: fc.integer({ min: 0, max: 999 }).map((n) => `str-${n}`),
});
const places = fc.uniqueArray(place, { selector: ({ id }) => id, maxLength: 40 });
const self = (item: ListPlace) => item;
const getPage = (items: readonly ListPlace[], args: PageArgs) => connect('str', inOrder(items, self), args, self, self);
const page = (items: readonly ListPlace[], first: number, after?: string | null) => getPage(items, { first, after });

describe('pages', () => {
  test('together hold every object once, newest first, for any page size', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 1, max: 10 }), (items, first) => {
        const met: ListPlace[] = [];
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

  test('objects that come and go between two pages neither hide nor repeat those that stay', () => {
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
function asSpecified(all: readonly ListPlace[], { first, after, last, before }: PageArgs) {
  const index = (cursor?: string | null) => all.findIndex((at) => encodeCursor('str', at) === cursor);
  let edges = [...all];
  if (after && index(after) !== -1) edges = edges.slice(index(after) + 1);
  if (before && index(before) !== -1) edges = edges.slice(0, edges.indexOf(all[index(before)] as ListPlace));
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
  const newestFirst = (items: readonly ListPlace[]) => page(items, 1000).edges.map(({ node }) => node);

  test('a page follows the specification of Relay, for any first, after, last and before', () => {
    fc.assert(
      fc.property(places, size, size, fc.nat(50), fc.nat(50), (items, first, last, i, j) => {
        const all = newestFirst(items);
        const cursorAt = (n: number) => (all[n] ? encodeCursor('str', all[n]) : undefined);
        // A `before` ahead of `after` leaves nothing; the specification’s own steps do not define the neighbours of nothing.
        const [from, to] = [Math.min(i, j), Math.max(i, j) + 1];
        const args = { first, last, after: cursorAt(from), before: cursorAt(to) };
        if (first === undefined && last === undefined) args.first = 1000;
        const { edges, pageInfo } = getPage(items, args);
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
            const { edges, pageInfo } = getPage(items, { ...args, orderBy });
            const ids = edges.map(({ node }) => node.id);
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

describe('thousands', () => {
  test('a page reads only its own rows and the way there, at any place', () => {
    const all = Array.from({ length: 10_000 }, (_, n) => ({
      key: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString().replace('.000', ''),
      id: `str-${n}`,
    }));
    for (const depth of [0, 1, 5_000, 9_979]) {
      const after = depth === 0 ? null : encodeCursor('str', all[all.length - depth] as ListPlace);
      let looks = 0;
      const place = (item: ListPlace) => {
        looks += 1;
        return item;
      };
      const { edges, totalCount } = connect('str', all, { first: 20, after }, place, self);
      expect([edges.map(({ node }) => node.id), totalCount]).toEqual([
        Array.from({ length: 20 }, (_, i) => `str-${all.length - 1 - depth - i}`),
        all.length,
      ]);
      // 14 halvings, and a look at the result.
      expect(looks).toBeLessThanOrEqual(20 + 15);
    }
  });

  test('groups stay in order through additions, changes and removals', () => {
    type Thing = ListPlace & { group: string | undefined; version: number };
    const step = fc.record({
      id: fc.integer({ min: 0, max: 12 }).map(String),
      group: fc.constantFrom('a', 'b', undefined),
      stays: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const groups = createGroups<Thing>(({ group }) => group, self);
        const there = new Map<string, Thing>();
        for (const [version, { id, group, stays }] of steps.entries()) {
          const previous = there.get(id);
          const key = previous?.key ?? `2026-01-01T00:00:${String((version * 7) % 60).padStart(2, '0')}Z`;
          const current = stays || !previous ? { key, id, group, version } : undefined;
          groups.change(current, previous);
          if (current) there.set(id, current);
          else there.delete(id);
          for (const name of ['a', 'b']) {
            const members = [...there.values()].filter((thing) => thing.group === name);
            expect(groups.get(name)).toEqual(inOrder(members, self));
          }
        }
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
    const turned = [...good].map((sign, i) => `${good.slice(0, i)}${sign === 'A' ? 'B' : 'A'}${good.slice(i + 1)}`);
    for (const tampered of [`${good}=`, `${good}A`, good.slice(1), ` ${good}`, ...turned])
      expect(() => decodeCursor('str', tampered)).toThrow(/cursor/);
  });
});
