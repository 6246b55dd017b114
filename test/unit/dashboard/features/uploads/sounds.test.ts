/** Tests the words for the loudness of an upload. */
import { expect, test } from 'vitest';
import { formatMeasured, listSoundNotes } from '../../../../../src/dashboard/features/uploads/sounds.ts';
import type { Upload } from '../../../../../src/service/client/index.ts';

type Sound = Upload['sounds'][number];
const READY: Sound = {
  ...{ targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6, state: 'ready' },
  ...{ gainDb: 6, integratedLufs: -18.24, truePeakDb: -2, limitedBy: null, error: null },
};
const note = (sound: Partial<Sound>) => listSoundNotes({ sounds: [{ ...READY, ...sound }] });

test('a sound that is as loud as wanted, or being made, needs no word', () => {
  expect(note({ integratedLufs: -14 })).toEqual([]);
  expect(note({ state: 'pending', gainDb: null, integratedLufs: null })).toEqual([]);
});

test.each([
  [
    'peak',
    6,
    'In streams at −14 LUFS it plays 6 dB louder than its file, at −18.2 LUFS: its loudest moments leave no room for more.',
  ],
  [
    'boost',
    6,
    'In streams at −14 LUFS it plays 6 dB louder than its file, at −18.2 LUFS: the stream allows at most 6 dB more, since it may be quiet on purpose.',
  ],
  [
    'cut',
    -12,
    'In streams at −14 LUFS it plays 12 dB quieter than its file, at −18.2 LUFS: it is not made quieter than that.',
  ],
  [
    'peak',
    0,
    'In streams at −14 LUFS it plays as loud as its file, at −18.2 LUFS: its loudest moments leave no room for more.',
  ],
] as const)('a sound that is limited by %s at %d dB says what it is and why', (limitedBy, gainDb, sentence) => {
  expect(note({ limitedBy, gainDb })).toEqual([sentence]);
});

test('silence has no number', () => {
  const silence = { limitedBy: 'silence', gainDb: 0, integratedLufs: null } as const;
  expect(note(silence)).toEqual(['In streams at −14 LUFS it plays as loud as its file: it is silent.']);
  expect(formatMeasured({ loudness: { integratedLufs: null, truePeakDb: null, rangeLu: null } })).toBe('silent');
});

test('a sound that could not be made says why, and what plays', () => {
  const error = { code: 'storage_full', message: 'The storage is full.', fix: 'Delete uploads.' };
  expect(note({ state: 'failed', error })).toEqual([
    'It could not be brought to −14 LUFS, and plays as loud as its file. The storage is full. Delete uploads.',
  ]);
});

test('the measured loudness is a fact of the file, where it is known', () => {
  expect(formatMeasured({ loudness: { integratedLufs: -19.44, truePeakDb: -3, rangeLu: 6 } })).toBe('−19.4 LUFS');
  expect(formatMeasured({ loudness: null })).toBeUndefined();
});
