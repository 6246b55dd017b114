import { describe, expect, test } from 'vitest';
import { boundResult } from '../../../../../src/core/operator/upload/result-bounds.ts';
import { DEFAULT_LIMITS } from '../../../../../src/core/protocol/media-limits.ts';
import type { SoundLoudness } from '../../../../../src/core/resources/upload/loudness.ts';

const BOUNDS = { maxSourceBytes: 2 ** 30, mediaLimits: DEFAULT_LIMITS };
const LOUDNESS: SoundLoudness = {
  sourceLufs: -20,
  sourceTruePeakDb: 1.2,
  sourceRangeLu: 4,
  gainDb: 6,
  integratedLufs: -14,
  truePeakDb: -1.3,
};

/** Returns the loudness that is taken of the result of a Job, or `failed`. */
function taken(loudness: SoundLoudness | undefined, profile = 'sound-14-1-6') {
  const key = 'renditions/x';
  const about = { profile, state: 'ready' as const, key, durationSeconds: 10, bitrateKbps: 160 };
  const result = boundResult(
    { action: 'rendition', rendition: { ...about, ...(loudness && { loudness }) } },
    { action: 'rendition', type: 'video', sourceKey: 'sources/x', profile, renditionKey: key },
    BOUNDS,
  );
  return result.action === 'rendition' ? result.rendition.loudness : result.action;
}

describe('the loudness that a Job reports', () => {
  test('is taken where it can be true', () => {
    expect(taken(LOUDNESS)).toEqual(LOUDNESS);
    expect(taken({ gainDb: 0, limitedBy: 'silence' })).toEqual({ gainDb: 0, limitedBy: 'silence' });
    expect(taken(undefined, '720p30')).toBeUndefined();
  });

  test.each([
    ['a gain above the largest boost', { ...LOUDNESS, gainDb: 6.1 }],
    ['a gain below the largest cut', { ...LOUDNESS, gainDb: -12.1 }],
    ['a gain that is no number', { ...LOUDNESS, gainDb: Number.NaN }],
    ['a peak without end', { ...LOUDNESS, truePeakDb: Number.POSITIVE_INFINITY }],
    ['a loudness that no sound has', { ...LOUDNESS, integratedLufs: -1e9 }],
    ['none', undefined],
  ])('is not taken with %s', (_what, loudness) => {
    expect(taken(loudness)).toBe('failed');
  });

  test('is not taken of pictures', () => {
    expect(taken(LOUDNESS, '720p30')).toBe('failed');
  });
});

test('the tags that a Job reports are cleaned as those of a file', () => {
  const media = { sha256: 'a'.repeat(64), sizeBytes: 9, durationSeconds: 1 };
  const audio = { codec: 'mp3', sampleRate: 48_000, channels: 2 };
  const stated = { title: ` \u202eSong\0`, album: 'x'.repeat(999), isrc: 'none', licenseUrl: 'file:///etc/passwd' };
  const result = boundResult(
    { action: 'import', media: { ...media, audio, tags: stated } },
    { action: 'import', type: 'audio', sourceKey: 'sources/x', sent: { key: 'incoming/x', sizeBytes: 9 } },
    BOUNDS,
  );
  expect(result).toMatchObject({ action: 'import', media: { tags: { title: 'Song', album: 'x'.repeat(256) } } });
  expect(JSON.stringify(result)).not.toMatch(/none|passwd/);
});
