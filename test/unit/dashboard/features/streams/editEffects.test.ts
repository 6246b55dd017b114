/** Tests what the form of a stream says an edit does. */
import { expect, test } from 'vitest';
import { listEditEffects } from '../../../../../src/dashboard/features/streams/editEffects.ts';

test('on air, each kind of edit says when viewers see it, once', () => {
  expect(listEditEffects({}, true)).toEqual([]);
  expect(listEditEffects({ quality: 'q_720p', framerate: 'f_25' }, true)).toEqual([
    'The media is prepared for the new picture first. It begins after the clip that plays then.',
  ]);
  expect(listEditEffects({ playlistIDs: ['pls-1'], name: 'Evening' }, true)).toEqual([
    expect.stringContaining('after the clip that plays now'),
    expect.stringContaining('restarts nothing'),
  ]);
  expect(listEditEffects({ name: 'Evening', onItemFailure: 'Block' }, true)).toEqual([
    'Takes effect at once, and restarts nothing.',
  ]);
  expect(listEditEffects({ loudness: null }, true)).toEqual([
    'An item has the new loudness where it next begins, once its sound is made.',
  ]);
  expect(listEditEffects({ destinationIDs: ['dst-1'] }, true)).toEqual([
    'Destinations change at once. Those that stay notice nothing.',
  ]);
});

test('off air, only a new picture costs something', () => {
  expect(listEditEffects({ name: 'Evening', destinationIDs: ['dst-1'] }, false)).toEqual([]);
  expect(listEditEffects({ framerate: 'f_25' }, false)).toEqual([
    'The media must be prepared again for this, which takes a while.',
  ]);
});
