import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeDifference } from '../../../../../src/dashboard/features/playlists/difference.ts';
import { changesBetween } from '../../../../../src/service/domain/playlists/changes.ts';

const items = (text: string) => [...text].map((uploadObjectID) => ({ uploadObjectID }));
/** Compares versions as the server sends them, and as the page shows them. */
const difference = (before: string, after: string) =>
  computeDifference([...before], changesBetween(items(before), items(after)));

describe('the difference between two versions', () => {
  test('added, removed and moved, with places as people count', () => {
    expect(difference('ab', 'abc')).toEqual([{ what: 'added', objectID: 'c', place: 3 }]);
    expect(difference('abc', 'ac')).toEqual([{ what: 'removed', objectID: 'b', place: 2 }]);
    expect(difference('abc', 'bca')).toEqual([{ what: 'moved', objectID: 'a', place: 1, to: 3 }]);
  });

  test('moves and replacements, which other clients make, are understood too', () => {
    expect(computeDifference(['a', 'b', 'c'], [{ op: 'replace', index: 1, items: items('x') }])).toEqual([
      { what: 'removed', objectID: 'b', place: 2 },
      { what: 'added', objectID: 'x', place: 2 },
    ]);
  });

  test('it adds up for any change: the clips before, less those removed, and those added', () => {
    const list = fc.string({ unit: fc.constantFrom(...'abcd'), maxLength: 10 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const clips = [...before];
        const lines = difference(before, after);
        for (const { objectID } of lines.filter(({ what }) => what === 'removed'))
          clips.splice(clips.indexOf(objectID), 1);
        clips.push(...lines.filter(({ what }) => what === 'added').map(({ objectID }) => objectID));
        expect(clips.sort()).toEqual([...after].sort());
        if (before === after) expect(lines).toEqual([]);
      }),
    );
  });
});
