import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadAhead, type ReadObject } from '../../../../../src/core/pods/storage/read-ahead.ts';

const nothing = () => false;
const describe = (key: string, pieces: number): ReadObject => ({ key, known: { version: '1', pieces } });

/** Takes what is wanted, up to `limit`; `sizes` describes objects that are not known yet. */
function drain(ahead: ReadAhead, sizes: Record<string, number> = {}, limit = 100): string[] {
  const wanted: string[] = [];
  for (let next = ahead.next(nothing); next && wanted.length < limit; next = ahead.next(nothing)) {
    if (next.piece === undefined) {
      const pieces = sizes[next.key];
      wanted.push(`${next.key}?`);
      if (pieces === undefined) ahead.end(next.key);
      else ahead.describe(next.key, { version: '1', pieces });
    } else {
      wanted.push(`${next.key}${next.piece}`);
    }
  }
  return wanted;
}

test('a reader is wanted a number of pieces ahead, over the ends of objects, each of which is described first', () => {
  const ahead = new ReadAhead(5);
  ahead.at([describe('a', 3), { key: 'b' }, { key: 'c' }, { key: 'd' }], 0);
  expect(drain(ahead, { b: 2, c: 4, d: 1 })).toEqual(['a1', 'a2', 'b?', 'b0', 'b1', 'c?', 'c0']);
  // The next object is read: only what the step adds is wanted.
  ahead.at([describe('b', 2), describe('c', 4), { key: 'd' }], 0);
  expect(drain(ahead, { d: 1 })).toEqual(['c1', 'c2', 'c3']);
  ahead.at([describe('c', 4), { key: 'd' }], 2);
  expect(drain(ahead, { d: 1 })).toEqual(['d?', 'd0']);
  ahead.at([describe('d', 1)], 0);
  expect(drain(ahead)).toEqual([]);
});

test('behind an object that is missing, nothing is wanted', () => {
  const ahead = new ReadAhead(5);
  ahead.at([describe('a', 2), { key: 'b' }, { key: 'c' }], 0);
  expect(drain(ahead, { c: 9 })).toEqual(['a1', 'b?']);
});

test('what could not be fetched is wanted again, pieces and descriptions alike', () => {
  const ahead = new ReadAhead(3);
  ahead.at([describe('a', 2), { key: 'b' }], 0);
  expect(ahead.next(nothing)).toMatchObject({ key: 'a', piece: 1 });
  expect(ahead.next(nothing)).toEqual({ key: 'b' });
  expect(ahead.next(nothing)).toBeUndefined();
  ahead.again({ key: 'b' });
  ahead.again({ key: 'a', version: '1', piece: 1 });
  expect(drain(ahead, { b: 2 })).toEqual(['a1', 'b?', 'b0', 'b1']);
});

test('two readers that are objects apart keep their own read-ahead', () => {
  const ahead = new ReadAhead(4);
  const objects = (from: number) =>
    'abcdefgh'
      .slice(from)
      .split('')
      .map((key) => describe(key, 2));
  ahead.at(objects(0), 0);
  ahead.at(objects(5), 0);
  drain(ahead);
  ahead.at(objects(6), 0);
  expect(drain(ahead)).toEqual(['h1']);
  ahead.at(objects(0), 1);
  expect(drain(ahead)).toEqual(['c1']);
});

test('whatever its objects, a sequential reader finds every piece ahead of it asked for exactly once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 30 }),
      (sizes, pieces) => {
        const ahead = new ReadAhead(pieces);
        const keys = sizes.map((_, at) => `k${at}-`);
        const all = sizes.flatMap((size, at) => Array.from({ length: size }, (_, piece) => `${keys[at]}${piece}`));
        const bySize = Object.fromEntries(sizes.map((size, at) => [keys[at], size]));
        const asked: string[] = [];
        let read = 0;
        for (const [at, size] of sizes.entries()) {
          for (let piece = 0; piece < size; piece++, read++) {
            const followed = keys.slice(at + 1).map((key): ReadObject => ({ key }));
            ahead.at([describe(keys[at] as string, size), ...followed], piece);
            asked.push(...drain(ahead, bySize).filter((wanted) => !wanted.endsWith('?')));
            expect(asked).toEqual(all.slice(1, read + 1 + pieces));
          }
        }
      },
    ),
  );
});
