import { describe, expect, test } from 'vitest';
import {
  applyChanges,
  changesBetween,
  type ItemChange,
  OutOfList,
} from '../../../../../src/service/domain/playlists/changes.ts';

const list = (letters: string) => [...letters].map((uploadObjectID) => ({ uploadObjectID }));
const text = (items: { uploadObjectID: string }[]) => items.map(({ uploadObjectID }) => uploadObjectID).join('');

describe('a batch of changes', () => {
  test.each<[string, ItemChange[], string]>([
    ['abc', [{ op: 'insert', items: list('xy') }], 'abcxy'],
    ['abc', [{ op: 'insert', index: 0, items: list('x') }], 'xabc'],
    ['abc', [{ op: 'remove', index: 1 }], 'ac'],
    ['abcd', [{ op: 'remove', index: 1, count: 3 }], 'a'],
    ['abc', [{ op: 'move', from: 0, to: 2 }], 'bca'],
    ['abc', [{ op: 'move', from: 2, to: 0 }], 'cab'],
    ['abc', [{ op: 'replace', index: 1, items: list('xy') }], 'axy'],
    ['', [{ op: 'insert', items: list('a') }], 'a'],
    // Each case continues from the one before.
    [
      'abc',
      [
        { op: 'remove', index: 0 },
        { op: 'remove', index: 0 },
        { op: 'insert', index: 1, items: list('z') },
      ],
      'cz',
    ],
  ])('%s, %j: %s', (before, changes, after) => {
    const given = list(before);
    expect(text(applyChanges(given, changes))).toBe(after);
    expect(text(given)).toBe(before);
  });

  test.each<[string, ItemChange[], number, string]>([
    ['abc', [{ op: 'remove', index: 3 }], 0, '/index'],
    ['abc', [{ op: 'remove', index: 2, count: 2 }], 0, '/count'],
    ['abc', [{ op: 'insert', index: 4, items: list('x') }], 0, '/index'],
    ['abc', [{ op: 'move', from: 0, to: 3 }], 0, '/to'],
    [
      'abc',
      [
        { op: 'remove', index: 0, count: 3 },
        { op: 'move', from: 0, to: 0 },
      ],
      1,
      '/from',
    ],
    ['abc', [{ op: 'replace', index: 2, items: list('xy') }], 0, '/items'],
    ['a'.repeat(499), [{ op: 'insert', items: list('bc') }], 0, '/items'],
  ])('%s, %j is refused, naming the change and its field', (before, changes, at, path) => {
    const apply = () => applyChanges(list(before), changes);
    expect(apply).toThrow(OutOfList);
    expect(apply).toThrow(expect.objectContaining({ at, path }));
  });
});

test('the changes between two lists, applied to one, give the other, and change no more than needed', () => {
  // A fixed sequence of pseudo-random numbers (Park and Miller 1988), so that a failure repeats.
  let seed = 20_270_131;
  const below = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % n;
  };
  const some = () => list(Array.from({ length: below(12) }, () => 'abcde'[below(5)]).join(''));
  for (let round = 0; round < 2_000; round += 1) {
    const [from, to] = [some(), some()];
    const changes = changesBetween(from, to);
    expect(text(applyChanges(from, changes))).toBe(text(to));
  }
  expect(changesBetween(list('abcdef'), list('abxdef'))).toHaveLength(2);
  expect(changesBetween(list('abc'), list('abc'))).toEqual([]);
});
