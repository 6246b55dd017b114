/** Tests what the preview of overlays knows of a stream, and what an edit of them sends. */
import { expect, test } from 'vitest';
import { NEW_TEXT, NO_OVERLAYS } from '../../../../../src/dashboard/features/overlays/layers.ts';
import { describeStorage } from '../../../../../src/dashboard/features/overlays/storage.ts';
import { toCopy } from '../../../../../src/dashboard/features/streams/duplicate.ts';
import { listEditEffects } from '../../../../../src/dashboard/features/streams/editEffects.ts';
import { findChanges, toEditValues } from '../../../../../src/dashboard/features/streams/editValues.ts';
import { findScene } from '../../../../../src/dashboard/features/streams/overlayScene.ts';
import { exampleStream } from '../../../../../src/service/domain/streams/examples.ts';
import { exampleUpload } from '../../../../../src/service/domain/uploads/operations.ts';

const stream = { posterUrl: '/v1/stream' };
const upload = {
  ...exampleUpload,
  objectID: 'upl-1',
  title: null,
  artist: 'Ada',
  album: null,
  posterUrl: '/v1/upload',
};
const playlist = { id: 'pls-1', name: 'Evenings', kind: 'video', posterUrl: null } as never;
const values = { name: ' Night ', kind: 'video' as const, videoUploadObjectID: 'upl-1', playlistIDs: ['pls-1'] };

test('of one video all is known: its poster, its tags, and its name where it has no title', () => {
  expect(findScene(values, { uploads: [upload], playlists: undefined }, stream)).toEqual({
    posterUrl: '/v1/upload',
    facts: {
      'item.title': upload.name,
      'item.artist': 'Ada',
      'item.album': '',
      'playlist.name': '',
      'stream.name': 'Night',
    },
  });
});

test('of the items of a playlist, and of what is not loaded yet, words stand for themselves', () => {
  const scene = findScene({ ...values, kind: 'playlists' }, { uploads: [upload], playlists: [playlist] }, stream);
  expect(scene).toMatchObject({
    posterUrl: '/v1/stream',
    facts: { 'item.title': 'Title', 'playlist.name': 'Evenings' },
  });
  const nothing = findScene(values, { uploads: undefined, playlists: undefined }, stream);
  expect(nothing).toMatchObject({ posterUrl: '/v1/stream', facts: { 'item.title': 'Title' } });
});

test('an edit sends overlays that were changed as a whole, and null without a layer', () => {
  const overlays = { layers: [NEW_TEXT], sceneID: null, required: true };
  const before = toEditValues({ ...exampleStream, overlays });
  expect(findChanges(before, { ...before, name: 'Other' })).toEqual({ name: 'Other' });
  expect(findChanges(before, { ...before, overlays: { ...overlays, required: false } })).toEqual({
    overlays: { layers: [NEW_TEXT], sceneID: null, required: false },
  });
  expect(findChanges(before, { ...before, overlays: NO_OVERLAYS })).toEqual({ overlays: null });
  const byScene = { layers: [], sceneID: 'scn-1', required: false };
  expect(findChanges(before, { ...before, overlays: byScene })).toEqual({ overlays: byScene });
  expect(toEditValues(exampleStream).overlays).toEqual(NO_OVERLAYS);
  expect(toCopy({ ...exampleStream, overlays }, 'Copy', ['dst-1'])).toMatchObject({ overlays });
  expect(toCopy(exampleStream, 'Copy', ['dst-1'])).not.toHaveProperty('overlays');
});

test('an edit sends cards with their picture, and null where they or the songs go', () => {
  const plain = toEditValues({ ...exampleStream, audioPlaylistIDs: ['pls-2'] });
  expect(findChanges(plain, { ...plain, cards: '' })).toEqual({ cards: { imageUploadObjectID: null } });
  const cards = { imageUploadObjectID: 'upl-1' };
  expect(findChanges(plain, { ...plain, cards: 'upl-1' })).toEqual({ cards });
  const shown = toEditValues({ ...exampleStream, audioPlaylistIDs: ['pls-2'], cards });
  expect(findChanges(shown, { ...shown, name: 'Other' })).toEqual({ name: 'Other' });
  expect(findChanges(shown, { ...shown, cards: null })).toEqual({ cards: null });
  expect(findChanges(shown, { ...shown, audioPlaylistIDs: [] })).toEqual({ audioPlaylistIDs: [], cards: null });
  expect(findChanges(toEditValues(exampleStream), { ...toEditValues(exampleStream), cards: '' })).toEqual({});
  expect(toCopy({ ...exampleStream, cards }, 'Copy', ['dst-1'])).toMatchObject({ cards });
  expect(toCopy(exampleStream, 'Copy', ['dst-1'])).not.toHaveProperty('cards');
});

test('an edit tells when overlays are seen, and what they take of the storage', () => {
  expect(listEditEffects({ overlays: null }, true)).toEqual([
    'An item has the new overlays where it next begins, once its pictures are made.',
  ]);
  expect(describeStorage(1_386_000_000)).toBe('It takes about 1.4 GB more of your storage.');
  expect(describeStorage(0)).toBeUndefined();
});
