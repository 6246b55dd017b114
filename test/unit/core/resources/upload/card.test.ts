/** Tests the names of cards: one for all that show the same, and none that is taken for something that plays by itself. */
import { expect, test } from 'vitest';
import { renditionJobName } from '../../../../../src/core/resources/common/names.ts';
import { type Card, cardProfile, parseCardProfile } from '../../../../../src/core/resources/upload/card.ts';
import { nameProfile } from '../../../../../src/core/resources/upload/loudness.ts';
import { getPreviewState } from '../../../../../src/core/resources/upload/requested.ts';
import { isAside, renditionKey } from '../../../../../src/core/resources/upload/spec.ts';
import { MEDIA, upload } from '../../../../kit/make/operator.ts';

const SONG: Card = { title: 'Song', artist: 'Ada' };
const BACKGROUND = { imageKey: 'sources/one', imageSha256: '1'.repeat(64) };

test('a card is named by its quality and by all that it shows', () => {
  const profile = cardProfile('720p30', SONG);
  expect(profile).toMatch(/^720p30-c[0-9a-z]{6}$/);
  expect(cardProfile('720p30', { ...SONG })).toBe(profile);
  const others = [
    cardProfile('1080p30', SONG),
    cardProfile('720p30', { ...SONG, title: 'Another' }),
    cardProfile('720p30', { ...SONG, artist: '' }),
    cardProfile('720p30', { ...SONG, background: BACKGROUND }),
  ];
  expect(new Set([profile, ...others]).size).toBe(5);
  const moved = { ...BACKGROUND, imageKey: 'sources/two' };
  expect(cardProfile('720p30', { ...SONG, background: moved })).toBe(others[3]);
});

test('a name is read again, and fits into that of a Job', () => {
  const profile = cardProfile('2160p60', SONG);
  expect(parseCardProfile(profile)).toBe('2160p60');
  for (const other of ['720p30', 'preview', 'sound-14-1-6', '720p30-labc123'])
    expect(parseCardProfile(other)).toBeUndefined();
  expect(nameProfile(profile)).toBe('card of 2160p60');
  expect(renditionJobName('song', profile)).toMatch(/^song-c[0-9a-z]{6}$/);
});

test('no stream waits for a card, and no card is taken for a preview', () => {
  const profile = cardProfile('720p30', SONG);
  expect(isAside(profile)).toBe(true);
  const key = renditionKey(MEDIA.sha256, 'audio', profile);
  const song = upload(
    'song',
    { phase: 'ready', media: MEDIA, renditions: [{ profile, state: 'ready', key }] },
    'audio',
  );
  expect(getPreviewState(song)).toBeNull();
});
