import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Base,
  buildUpdate,
  createDraft,
  type PlaylistDraft as Draft,
  isSavedAs,
  rebased,
  withAdded,
  withMoved,
  without,
} from '../../../../../src/dashboard/features/playlists/draft.ts';

const base = (objectIDs: string, version = 1, rest: Partial<Base> = {}): Base => ({
  version,
  name: 'Show',
  mode: 'sequential',
  objectIDs: [...objectIDs],
  rules: [],
  apart: 0,
  ...rest,
});
const buildList = ({ entries }: Draft): string => entries.map(({ objectID }) => objectID).join('');
const keyAt = ({ entries }: Draft, index: number): string => entries[index]?.key ?? '';
const getKeys = ({ entries }: Draft): string[] => entries.map(({ key }) => key);

describe('a playlist as it is edited', () => {
  test('has nothing to save without changes, or when all of them were reverted', () => {
    const draft = createDraft(base('abc'));
    expect(buildUpdate(draft)).toBeUndefined();
    const moved = withMoved(draft, keyAt(draft, 0), keyAt(draft, 2));
    expect(buildList(moved)).toBe('bca');
    expect(buildUpdate(withMoved(moved, keyAt(draft, 0), keyAt(draft, 1)))).toBeUndefined();
  });

  test('sends its changes alone, for the version it began with', () => {
    const draft = createDraft(base('ab', 7));
    expect(buildUpdate({ ...draft, mode: 'shuffle' })).toEqual({ version: 7, mode: 'shuffle' });
    expect(buildUpdate({ ...draft, name: 'Night' })).toEqual({ version: 7, name: 'Night' });
    expect(buildUpdate(withAdded(draft, ['c']))?.items?.map((item) => item.uploadObjectID)).toEqual(['a', 'b', 'c']);
  });

  test('of a clip that is in it twice, the one is moved or taken out that was meant', () => {
    const draft = createDraft(base('aba'));
    expect(buildList(without(draft, keyAt(draft, 0)))).toBe('ba');
    expect(buildList(without(draft, keyAt(draft, 2)))).toBe('ab');
    expect(new Set(getKeys(withAdded(draft, ['a', 'a']))).size).toBe(5);
  });
});

describe('my changes on top of others’ saved ones', () => {
  const change = (from: string, edit: (draft: Draft) => Draft, theirs: string) =>
    buildList(rebased(edit(createDraft(base(from))), base(theirs, 2)));

  test('my additions and theirs are both there', () => {
    expect(change('abc', (draft) => withAdded(draft, ['x']), 'aybc')).toBe('aybcx');
  });

  test('a removal by either of us stays, whichever way round', () => {
    expect(change('abc', (draft) => without(draft, keyAt(draft, 0)), 'ab')).toBe('b');
  });

  test('my order stays, with their addition after its neighbour', () => {
    expect(change('abc', (draft) => withMoved(draft, keyAt(draft, 2), keyAt(draft, 0)), 'abyc')).toBe('caby');
  });

  test('their order is taken where I made none, with my addition after its neighbour', () => {
    expect(change('abc', (draft) => withAdded(draft, ['x']), 'cab')).toBe('cabx');
  });

  test('name and order of play are mine only where I changed them', () => {
    const draft = createDraft(base('a'));
    const theirs = base('a', 2, { name: 'Theirs', mode: 'shuffle' });
    expect(rebased({ ...draft, name: 'Mine' }, theirs)).toMatchObject({ name: 'Mine', mode: 'shuffle' });
    expect(rebased({ ...draft, mode: 'shuffle' }, base('a', 2, { name: 'Theirs' }))).toMatchObject({
      name: 'Theirs',
      mode: 'shuffle',
    });
  });

  test('a save whose answer was lost is known again', () => {
    const mine = withAdded(createDraft(base('ab')), ['c']);
    expect(isSavedAs(mine, base('abc', 2))).toBe(true);
    expect(isSavedAs(mine, base('acb', 2))).toBe(false);
  });

  const list = fc.string({ unit: fc.constantFrom(...'abcd'), maxLength: 8 });

  test('without changes of mine the result is theirs', () => {
    fc.assert(
      fc.property(list, list, (before, theirs) => {
        expect(buildList(rebased(createDraft(base(before)), base(theirs, 2)))).toBe(theirs);
      }),
    );
  });

  test('without changes of theirs the result is mine, and its additions are there once', () => {
    fc.assert(
      fc.property(list, list, fc.nat(7), fc.nat(7), (before, added, from, to) => {
        const draft = createDraft(base(before));
        const mine = withAdded(withMoved(draft, keyAt(draft, from), keyAt(draft, to)), [...added]);
        const after = rebased(mine, base(before, 2));
        expect([...buildList(after)].sort()).toEqual([...buildList(mine)].sort());
        expect(new Set(getKeys(after)).size).toBe(after.entries.length);
        if (added === '') expect(buildList(after)).toBe(buildList(mine));
      }),
    );
  });
});

describe('rules and the distance of artists', () => {
  const rule = (name: string) => ({ name, when: { eachItems: 5 }, uploadObjectID: 'a' });
  const withRules = (...names: string[]) => base('ab', 1, { rules: names.map(rule) });
  const names = ({ rules }: Draft): string[] => rules.map(({ name }) => name);

  test('are sent with the rest, for the version it began with, and only where they are changed', () => {
    const draft = createDraft(withRules('news', 'jingle'));
    expect(buildUpdate(draft)).toBeUndefined();
    expect(buildUpdate({ ...draft, apart: 3 })).toEqual({ version: 1, notWithin: { sameArtist: 3 } });
    expect(buildUpdate({ ...draft, rules: [...draft.rules].reverse() })).toEqual({
      version: 1,
      rules: [rule('jingle'), rule('news')],
    });
    expect(isSavedAs({ ...draft, rules: [] }, withRules())).toBe(true);
    expect(isSavedAs({ ...draft, rules: [] }, withRules('news'))).toBe(false);
  });

  test('of mine and of others are both there, each under a key of its own', () => {
    const draft = createDraft(withRules('news', 'jingle'));
    const mine = { ...draft, rules: draft.rules.slice(1).map((one) => ({ ...one, each: '' })) };
    const after = rebased(mine, { ...withRules('news', 'jingle', 'night'), version: 2, apart: 2 });
    expect(names(after)).toEqual(['jingle', 'night']);
    // Unfinished input is kept.
    expect(after.rules[0]?.each).toBe('');
    expect(new Set(after.rules.map(({ key }) => key)).size).toBe(2);
    expect(after.apart).toBe(2);
  });
});
