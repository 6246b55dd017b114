import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enumType } from '../../../../../src/service/server/graphql/scalars.ts';
import {
  enumFilter,
  FlagFilter,
  IDFilter,
  IDListFilter,
  MAX_CONDITIONS,
  NumberFilter,
  TextFilter,
  TimeFilter,
  whereInput,
} from '../../../../../src/service/server/graphql/where.ts';

interface Thing {
  id: string;
  name: string;
  status: string;
  size: number | null;
  at: string | null;
  ready: boolean;
  tags: string[];
}

const where = whereInput<Thing>('ThingWhereInput', {
  id: { type: IDFilter },
  name: { type: TextFilter },
  state: { type: enumFilter(enumType('ThingState', ['on', 'off'])), value: ({ status }) => status },
  size: { type: NumberFilter },
  at: { type: TimeFilter },
  ready: { type: FlagFilter },
  tags: { type: IDListFilter },
});

const one: Thing = {
  id: 'a',
  name: 'Morning Show',
  status: 'on',
  size: 5,
  at: '2026-01-01T00:00:00Z',
  ready: true,
  tags: ['x', 'y'],
};
const bare: Thing = { ...one, size: null, at: null };
const holds = (input: Record<string, unknown>, thing = one) => where.test(input)?.(thing);

describe('the conditions of a where', () => {
  test.each([
    [{ id: { eq: 'a' } }, true],
    [{ id: { in: ['b'] } }, false],
    [{ name: { contains: 'MORNING' } }, true],
    [{ name: { eq: 'morning show' } }, false],
    [{ state: { in: ['on', 'off'] } }, true],
    [{ size: { gt: 4, lte: 5 } }, true],
    [{ size: { gte: 6 } }, false],
    [{ at: { eq: '2026-01-01T01:00:00+01:00' } }, true],
    [{ at: { lt: '2026-01-01T00:00:00.001Z' } }, true],
    [{ ready: { eq: false } }, false],
    [{ tags: { has: 'y' } }, true],
    [{ size: { isNull: false }, at: { isNull: true } }, false],
    [{ name: { contains: 'show' }, state: { eq: 'off' } }, false],
    [{ size: null, name: { eq: null } }, true],
    [{}, true],
    [{ and: [] }, true],
    [{ or: [] }, false],
    [{ or: [{ id: { eq: 'z' } }, { ready: { eq: true } }] }, true],
    [{ not: { or: [{ id: { eq: 'a' } }] } }, false],
  ])('%j holds: %s', (input, expected) => expect(holds(input)).toBe(expected));

  test('a missing value is neither more nor less, and is found by isNull', () => {
    for (const asked of [{ gt: 0 }, { lt: 9 }, { eq: 5 }]) expect(holds({ size: asked }, bare)).toBe(false);
    expect(holds({ size: { isNull: true }, at: { isNull: true } }, bare)).toBe(true);
  });

  test('a where and its negation part all records between them', () => {
    const leaf = fc.oneof(
      fc.record({ size: fc.record({ gt: fc.nat(9) }) }),
      fc.record({ name: fc.record({ contains: fc.constantFrom('show', 'night', '') }) }),
      fc.record({ state: fc.record({ eq: fc.constantFrom('on', 'off') }) }),
    );
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ and: fc.array(tie('node'), { maxLength: 2 }) }),
        fc.record({ or: fc.array(tie('node'), { maxLength: 2 }) }),
        fc.record({ not: tie('node') }),
      ),
    })).node as fc.Arbitrary<Record<string, unknown>>;
    fc.assert(
      fc.property(tree, fc.constantFrom(one, bare), (input, thing) => {
        expect(holds({ not: input }, thing)).toBe(!holds(input, thing));
        expect(holds({ and: [input, { not: input }] }, thing)).toBe(false);
        expect(holds({ or: [input, { not: input }] }, thing)).toBe(true);
      }),
    );
  });

  test('it may ask up to its limit and not more', () => {
    // The object itself, the field, the list and its values.
    const asking = (count: number) => ({ id: { in: Array.from({ length: count - 3 }, (_, i) => `id-${i}`) } });
    expect(holds(asking(MAX_CONDITIONS))).toBe(false);
    expect(() => holds(asking(MAX_CONDITIONS + 1))).toThrow(/\/where must have at most 100 conditions/);
  });
});
