/** Tests the sentences on what is on air of a playlist, and on artists that are kept apart. */
import { expect, test } from 'vitest';
import { apartText, publicationText } from '../../../../../src/dashboard/features/playlists/text.ts';
import type { Playlist } from '../../../../../src/service/client/index.ts';

const say = (streamID: string, publication: Partial<Playlist['publication']>) =>
  publicationText({
    version: 2,
    streamID,
    publication: {
      version: 2,
      state: 'ready',
      progress: 1,
      itemsReady: 3,
      itemsFailed: 0,
      itemsTotal: 3,
      ...publication,
    },
  } as Playlist);

test('streams are said to play a playlist only where one does', () => {
  expect(say('str-1', {})).toBe('Streams play this version.');
  expect(say('', {})).toBe('This version is ready, and no stream plays it yet.');
  for (const state of ['ready', 'preparing'] as const)
    expect(say('', { state })).not.toMatch(/[Ss]treams (?:keep )?play/);
  expect(say('str-1', { state: 'preparing', version: 1 })).toMatch(/^Version 1 is being prepared: .* keep playing/);
});

test('the clips of an artist are said to be apart, or in any order', () => {
  expect(apartText({ sameArtist: 3 })).toBe('3 clips between two of one artist');
  expect(apartText({ sameArtist: 1 })).toBe('1 clip between two of one artist');
  expect(apartText({ sameArtist: 0 })).toBe('Artists in any order');
});
