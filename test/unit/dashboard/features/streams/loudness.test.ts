/** Tests the choice of a loudness in the forms of a stream. */
import { expect, test } from 'vitest';
import { toCopy } from '../../../../../src/dashboard/features/streams/duplicate.ts';
import { findChanges, toEditValues } from '../../../../../src/dashboard/features/streams/editValues.ts';
import {
  listLoudnessOptions,
  readLoudnessChoice,
  toLoudnessChoice,
} from '../../../../../src/dashboard/features/streams/loudness.ts';
import { exampleStream } from '../../../../../src/service/domain/streams/examples.ts';

const OWN = { targetLufs: -18, maxTruePeakDb: -2, maxBoostDb: 0 };

test('a choice is read as it was written, and anything else means none', () => {
  for (const loudness of [OWN, { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 }, null])
    expect(readLoudnessChoice(toLoudnessChoice(loudness))).toEqual(loudness);
  for (const choice of ['', 'loud', '-14', '-14 -1', '-14 -1 6 7', '14 -1 6'])
    expect(readLoudnessChoice(choice)).toBeNull();
});

test('each choice that is offered is one, and numbers that were set by the API stay one', () => {
  const usual = listLoudnessOptions('');
  expect(usual.map(({ value }) => readLoudnessChoice(value)?.targetLufs)).toEqual([undefined, -14, -16, -23]);
  expect(listLoudnessOptions('-16 -1 6')).toEqual(usual);
  expect(listLoudnessOptions(toLoudnessChoice(OWN))).toEqual([
    ...usual,
    { value: '-18 -2 0', label: 'Even, −18 LUFS, peaks up to −2 dB, at most 0 dB louder' },
  ]);
});

test('an edit sends a loudness that was changed as a whole, and null where it was taken away', () => {
  const before = toEditValues({ ...exampleStream, loudness: OWN });
  expect(findChanges(before, { ...before, name: 'Evening' })).toEqual({ name: 'Evening' });
  expect(findChanges(before, { ...before, loudness: '-23 -1 6' })).toEqual({
    loudness: { targetLufs: -23, maxTruePeakDb: -1, maxBoostDb: 6 },
  });
  expect(findChanges(before, { ...before, loudness: '' })).toEqual({ loudness: null });
});

test('a copy is as loud as its stream', () => {
  expect(toCopy({ ...exampleStream, loudness: OWN }, 'Copy', ['dst-1'])).toMatchObject({ loudness: OWN });
  expect(toCopy(exampleStream, 'Copy', ['dst-1'])).not.toHaveProperty('loudness');
});
