import { describe, expect, test } from 'vitest';
import { findTyped, readDraft, taken, withTyped, writeDraft } from '../../../../../src/dashboard/lib/drafts/store.ts';

function storage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

describe('drafts', () => {
  test('are kept by form, and forgotten one by one', () => {
    const tab = storage();
    writeDraft(tab, 'mia', 'upload', { url: 'https://a' });
    writeDraft(tab, 'mia', 'key', { name: 'b' });
    writeDraft(tab, 'mia', 'upload', undefined);
    expect(readDraft(tab, 'mia', 'upload')).toBeUndefined();
    expect(readDraft(tab, 'mia', 'key')).toEqual({ name: 'b' });
  });

  test('of one account are never another one’s, and are gone with the first thing that one types', () => {
    const tab = storage();
    writeDraft(tab, 'mia', 'upload', { url: 'https://secret.example' });
    expect(readDraft(tab, 'tom', 'upload')).toBeUndefined();
    writeDraft(tab, 'tom', 'key', { name: 'b' });
    expect([...tab.kept.values()].join()).not.toContain('secret.example');
  });

  test('a broken draft, and full storage, are no drafts and no errors', () => {
    const tab = storage();
    for (const text of ['', '{', 'null', '[]', '{"account":"mia"}', '{"account":"mia","forms":null}']) {
      tab.kept.set('loopstream.drafts', text);
      expect(readDraft(tab, 'mia', 'upload')).toBeUndefined();
    }
    const setItem = () => {
      throw new DOMException('full', 'QuotaExceededError');
    };
    const full = { ...tab, setItem };
    expect(() => writeDraft(full, 'mia', 'upload', {})).not.toThrow();
  });
});

describe('a form', () => {
  const first = { name: '', key: '', ids: [] as string[] };

  test('keeps its input, except for its secrets', () => {
    expect(findTyped(first, first)).toBeUndefined();
    expect(findTyped(first, { ...first, key: 'abcd' }, ['key'])).toBeUndefined();
    const typed = findTyped(first, { name: 'A', key: 'abcd', ids: ['1'] }, ['key']);
    expect(typed).toEqual({ name: { value: 'A', before: '' }, ids: { value: ['1'], before: [] } });
    expect(withTyped(first, typed)).toEqual({ values: { name: 'A', key: '', ids: ['1'] }, elsewhere: [] });
  });

  test('left by another version, or by somebody else, puts nothing in that does not belong', () => {
    for (const kept of [
      undefined,
      null,
      'x',
      { name: 1 },
      { name: { value: 1 } },
      { ids: { value: 'x' } },
      { no: { value: '' } },
    ])
      expect(withTyped(first, kept)).toEqual({ values: first, elsewhere: [] });
  });

  test('shows others’ changes while it was away, and while it was open', () => {
    const kept = findTyped({ ...first, name: 'Old' }, { ...first, name: 'Mine' });
    expect(withTyped({ ...first, name: 'Theirs' }, kept)).toEqual({
      values: { ...first, name: 'Mine' },
      elsewhere: ['name'],
    });
    const open = taken({ ...first, name: 'Old' }, { ...first, name: 'Mine' }, { name: 'Theirs', key: 'k', ids: ['1'] });
    expect(open).toEqual({ values: { name: 'Mine', key: 'k', ids: ['1'] }, elsewhere: ['name'] });
    // Both made the same change.
    expect(taken(first, { ...first, name: 'A' }, { ...first, name: 'A' }).elsewhere).toEqual([]);
  });
});
