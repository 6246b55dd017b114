/** Tests what an upload tells of the sounds that were made of it. */
import { expect, test } from 'vitest';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { type RenditionStatus, renditionKey } from '../../../../../src/core/resources/upload/spec.ts';
import { showSounds } from '../../../../../src/service/domain/uploads/sounds.ts';

const SHA256 = 'b'.repeat(64);
const TARGET = { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 };
const NOTHING = { gainDb: null, integratedLufs: null, truePeakDb: null, limitedBy: null, error: null };

const made = (profile: string, rest: Partial<RenditionStatus> = {}): RenditionStatus => ({
  profile,
  state: 'ready',
  key: renditionKey(SHA256, 'video', profile),
  ...rest,
});
const show = (renditions: RenditionStatus[], tracks?: Upload['spec']['tracks']) => {
  const upload = {
    metadata: { uid: 'uid' },
    spec: { track: 'video', source: {}, ...(tracks && { tracks }) },
    status: { media: { sha256: SHA256 }, renditions },
  };
  return showSounds(upload as unknown as Upload, (error) => ({ ...error, fix: 'Wait.' }));
};

test('renditions with pictures and the preview are no sounds, and nothing is measured with them', () => {
  expect(show([])).toEqual({ loudness: null, sounds: [] });
  expect(show([made('720p30'), made('preview')])).toEqual({ loudness: null, sounds: [] });
});

test('a ready sound tells what was measured of the source, and what became of it', () => {
  const loudness = {
    ...{ sourceLufs: -24.3, sourceTruePeakDb: -0.4, sourceRangeLu: 9.1 },
    ...{ gainDb: 5.2, integratedLufs: -19.1, truePeakDb: -2, limitedBy: 'peak' as const },
  };
  expect(show([made('720p30'), made('sound-14-1-6', { loudness })])).toEqual({
    loudness: { integratedLufs: -24.3, truePeakDb: -0.4, rangeLu: 9.1 },
    sounds: [
      {
        ...{ ...TARGET, state: 'ready', gainDb: 5.2, integratedLufs: -19.1, truePeakDb: -2 },
        ...{ limitedBy: 'peak', error: null },
      },
    ],
  });
});

test('silence has been measured, and has no numbers', () => {
  const { loudness, sounds } = show([made('sound-14-1-6', { loudness: { gainDb: 0, limitedBy: 'silence' } })]);
  expect(loudness).toEqual({ integratedLufs: null, truePeakDb: null, rangeLu: null });
  expect(sounds).toEqual([{ ...TARGET, state: 'ready', ...NOTHING, gainDb: 0, limitedBy: 'silence' }]);
});

test('a sound that is being made or has failed has no numbers, and a failure says what to do', () => {
  const error = { code: 'prepare_timeout' as const, message: 'It took too long.' };
  const pending: RenditionStatus = { profile: 'sound-23-1-6', state: 'pending' };
  expect(show([{ profile: 'sound-14-1-6', state: 'failed', error }, pending])).toEqual({
    loudness: null,
    sounds: [
      { ...TARGET, state: 'failed', ...NOTHING, error: { ...error, fix: 'Wait.' } },
      { ...TARGET, targetLufs: -23, state: 'pending', ...NOTHING },
    ],
  });
});

test('a sound of an earlier choice of tracks is left out', () => {
  const sound = made('sound-14-1-6', { loudness: { sourceLufs: -20, gainDb: 6, integratedLufs: -14 } });
  expect(show([sound]).sounds).toHaveLength(1);
  expect(show([sound], { audio: 2 })).toEqual({ loudness: null, sounds: [] });
});
