import { expect, test } from 'vitest';
import { chooseRangeBytes } from '../../../../../src/media/streamer/tracks/range-bytes.ts';
import { bitrateKbps, PROFILES, parseProfile } from '../../../../../src/resources/stream/profile.ts';

test('a read is between half a second and two seconds of media, and at most 2 MiB', () => {
  for (const profile of PROFILES) {
    const { quality = '720p', framerate = 30 } = parseProfile(profile) ?? {};
    const seconds = (chooseRangeBytes(profile) * 8) / (bitrateKbps(quality, framerate) * 1000);
    expect(seconds).toBeGreaterThan(0.45);
    expect(seconds).toBeLessThan(2);
    expect(chooseRangeBytes(profile)).toBeLessThanOrEqual(2 * 2 ** 20);
  }
});

test('a profile of a later release is read in the smallest pieces', () => {
  expect(chooseRangeBytes('4320p120')).toBe(512 * 1024);
});
