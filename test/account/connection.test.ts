import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connect, decodeCursor, encodeCursor, type Place } from '../../src/account/connection.ts';

const place = fc.record({
  time: fc.integer({ min: 0, max: 9 }).map((s) => `2026-01-01T00:00:0${s}Z`),
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
          if (next) expect(item.time > next.time || (item.time === next.time && item.id > next.id)).toBe(true);
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

describe('cursors', () => {
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
    const good = encodeCursor('str', { time: '2026-01-01T00:00:00Z', id: 'str-1' });
    for (const tampered of [`${good}=`, `${good}A`, good.slice(1), ` ${good}`])
      expect(() => decodeCursor('str', tampered)).toThrow(/cursor/);
  });
});
