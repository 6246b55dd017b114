import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Loop, orderRound } from '../../../../src/core/programme/playhead.ts';

const loopOf = (groups: number[], least: number, seed: number): Loop => ({
  ...{ mode: 'shuffle', seed, durations: groups.map(() => 1000) },
  apart: { least, groups },
});
const rounds = (loop: Loop, count: number): number[] =>
  Array.from({ length: count }, (_, round) => orderRound(loop, round)).flat();

/** The number of others between two of one artist, the least of them. */
function findLeast(groups: readonly number[], order: readonly number[]): number {
  const last = new Map<number, number>();
  let least = Number.POSITIVE_INFINITY;
  for (const [at, item] of order.entries()) {
    const group = groups[item] || -1 - item;
    least = Math.min(least, at - (last.get(group) ?? Number.NEGATIVE_INFINITY) - 1);
    last.set(group, at);
  }
  return least;
}

const seed = fc.nat(4_294_967_295);

test('a round has each item once, whatever the artists are, and is the same when it is asked for alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(4), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      seed,
      (groups, least, one) => {
        const loop = loopOf(groups, least, one);
        const all = rounds(loop, 4);
        for (const round of [3, 0, 2, 1]) {
          const order = orderRound({ ...loop, apart: { least, groups } }, round);
          expect(order.toSorted((a, b) => a - b)).toEqual(groups.map((_, item) => item));
          expect(order).toEqual(all.slice(round * groups.length, (round + 1) * groups.length));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('where each artist has a tenth of a list at most, three others play between two of one, over rounds, too', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 20 }), fc.integer({ min: 1, max: 6 }), seed, (artists, songs, one) => {
      const groups = Array.from({ length: artists * songs }, (_, item) => (item % artists) + 1);
      expect(findLeast(groups, rounds(loopOf(groups, 3, one), 6))).toBeGreaterThanOrEqual(3);
    }),
    { numRuns: 300 },
  );
});

test('an artist with half of a list alternates with the others', () => {
  const groups = [1, 1, 1, 1, 1, 2, 3, 4, 5, 6];
  for (let one = 0; one < 100; one++)
    expect(findLeast(groups, orderRound(loopOf(groups, 1, one), 0))).toBeGreaterThanOrEqual(1);
});

test('a list of one artist plays, and no song follows itself', () => {
  const groups = Array.from({ length: 5 }, () => 1);
  const order = rounds(loopOf(groups, 20, 3), 50);
  expect(order.filter((item, at) => item === order[at - 1])).toEqual([]);
});

test('items without an artist are alike to nothing but themselves', () => {
  const groups = Array.from({ length: 20 }, () => 0);
  expect(findLeast(groups, rounds(loopOf(groups, 3, 5), 20))).toBeGreaterThanOrEqual(3);
});

test('another seed is another order', () => {
  const groups = Array.from({ length: 20 }, (_, item) => (item % 10) + 1);
  expect(orderRound(loopOf(groups, 3, 1), 0)).not.toEqual(orderRound(loopOf(groups, 3, 2), 0));
});
