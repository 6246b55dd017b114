/** Tests that a kept list is what filtering and sorting everything anew would give. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder } from '../../../../../src/service/lib/paging/connection.ts';
import { createViews, type ViewOptions } from '../../../../../src/service/lib/paging/views.ts';

interface Item {
  id: string;
  group: string;
  size: number;
  isTimed: boolean;
}

const item = fc.record({
  id: fc.integer({ min: 0, max: 9 }).map((n) => `i-${n}`),
  group: fc.constantFrom('a', 'b'),
  size: fc.integer({ min: 0, max: 5 }),
  isTimed: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});
const options = (least: number): ViewOptions<Item> => ({
  holds: ({ size }) => size >= least,
  place: ({ id, size }) => ({ key: String(size), id }),
  isTimed: ({ isTimed }) => isTimed,
});

test('a view is the filtered and sorted group after any changes, and with any number of views', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(item, fc.boolean())),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      (changes, most, readsBetween) => {
        const views = createViews<Item>(({ group }) => group, most);
        const all = new Map<string, Item>();
        const check = () => {
          for (const group of ['a', 'b'])
            for (const least of [0, 3]) {
              const items = [...all.values()].filter((one) => one.group === group);
              const { holds, place } = options(least);
              const expected = inOrder(items.filter(holds), place);
              expect(views.read(group, String(least), items, options(least))).toEqual(expected);
            }
        };
        check();
        for (const [next, isGone] of changes) {
          const before = all.get(next.id);
          if (isGone) all.delete(next.id);
          else all.set(next.id, next);
          views.change(isGone ? undefined : next, before);
          if (readsBetween) check();
        }
        check();
      },
    ),
  );
});

test('a view whose items change with time alone is computed anew', () => {
  const views = createViews<Item>(({ group }) => group);
  const timed: Item = { id: 'i-1', group: 'a', size: 1, isTimed: true };
  let least = 0;
  const read = () => views.read('a', 'k', [timed], { ...options(0), holds: ({ size }) => size >= least });
  expect(read()).toEqual([timed]);
  least = 2;
  expect(read()).toEqual([]);
});
