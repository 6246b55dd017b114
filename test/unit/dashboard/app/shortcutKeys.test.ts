/** Tests which keys the page takes for itself, and that a field keeps all of its keys. */
import { expect, test } from 'vitest';
import { listPaletteItems, NOTHING } from '../../../../src/dashboard/app/paletteItems.ts';
import { readShortcut } from '../../../../src/dashboard/app/shortcutKeys.ts';

const press = (key: string, more: object = {}) =>
  readShortcut({
    ...{ key, ctrlKey: false, metaKey: false, altKey: false, isComposing: false, defaultPrevented: false },
    target: { tagName: 'BODY' } as never,
    ...more,
  });

test.each([
  ['/', {}, 'search'],
  ['?', {}, 'help'],
  ['k', { ctrlKey: true }, 'palette'],
  ['K', { metaKey: true }, 'palette'],
  ['/', { target: { tagName: 'INPUT', type: 'checkbox' } }, 'search'],
  ['/', { target: { tagName: 'BUTTON' } }, 'search'],
])('%s with %j is %s', (key, more, expected) => {
  expect(press(key, more)).toBe(expected);
});

test.each([
  ['/', { target: { tagName: 'INPUT', type: 'text' } }],
  ['?', { target: { tagName: 'TEXTAREA' } }],
  ['k', { ctrlKey: true, target: { tagName: 'INPUT', type: 'search' } }],
  ['/', { target: { tagName: 'DIV', isContentEditable: true } }],
  ['/', { target: { tagName: 'SELECT' } }],
  ['/', { isComposing: true }],
  ['/', { defaultPrevented: true }],
  ['/', { ctrlKey: true }],
  ['k', { ctrlKey: true, metaKey: true }],
  ['k', { ctrlKey: true, altKey: true }],
  ['k', {}],
  ['a', {}],
])('%s with %j is left to the browser', (key, more) => {
  expect(press(key, more)).toBeUndefined();
});

test('the palette offers pages and forms by words of their names, and billing only where something costs', () => {
  const labels = (words: string, isPaid = true) => listPaletteItems(words, NOTHING, isPaid).map(({ label }) => label);
  expect(labels('')).toContain('Streams');
  expect(labels('  STREAM ')).toEqual(['Streams', 'New stream']);
  expect(labels('billing')).toEqual(['Billing']);
  expect(labels('billing', false)).toEqual([]);
  expect(labels('create')).toHaveLength(6);
});

test('the palette leads to each thing that a search has found, before any page', () => {
  const found = {
    streams: [{ id: 'str-1', name: 'Streams of water' }],
    uploads: [{ objectID: 'upl-1', name: 'water.mp4' }],
    playlists: [{ id: 'pls-1', name: 'Water' }],
    destinations: [{ id: 'dst-1', name: 'Water TV' }],
  } as unknown as typeof NOTHING;
  const items = listPaletteItems('water', found, true);
  expect(items.map(({ group, link }) => [group, link])).toEqual([
    ['Streams', { to: '/streams/$id', params: { id: 'str-1' } }],
    ['Uploads', { to: '/uploads', search: { q: 'water.mp4' } }],
    ['Playlists', { to: '/playlists/$id', params: { id: 'pls-1' } }],
    ['Destinations', { to: '/destinations', search: { form: 'edit dst-1' } }],
  ]);
});
