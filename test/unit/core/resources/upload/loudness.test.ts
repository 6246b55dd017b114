/** Tests the names of sounds. */
import { expect, test } from 'vitest';
import { nameProfile, parseSoundProfile, soundProfile } from '../../../../../src/core/resources/upload/loudness.ts';

test('the profile of a sound says its loudness, and that of pictures says none', () => {
  for (const target of [
    { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 },
    { targetLufs: -8, maxTruePeakDb: -9, maxBoostDb: 0 },
    { targetLufs: -30, maxTruePeakDb: -1, maxBoostDb: 20 },
  ])
    expect(parseSoundProfile(soundProfile(target))).toEqual(target);
  for (const profile of ['720p30', 'preview', 'sound', 'sound-14-1', 'sound-14-1-6-2']) {
    expect(parseSoundProfile(profile)).toBeUndefined();
  }
});

test('people read the loudness of a sound, and the quality of pictures', () => {
  expect(['sound-14-1-6', '720p30', 'preview'].map(nameProfile)).toEqual(['-14 LUFS', '720p30', 'preview']);
});
