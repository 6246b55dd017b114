/** Reads and names the loudness of a stream as one choice of a form. Pure: no I/O, no clock. */
import type { Stream } from '../../api/api.ts';
import { formatDecibels } from '../../lib/format.ts';

type Loudness = NonNullable<Stream['loudness']>;

/** The value of a form: the three numbers, or nothing. A draft keeps it as text. */
export const toLoudnessChoice = (loudness: Loudness | null): string =>
  loudness ? [loudness.targetLufs, loudness.maxTruePeakDb, loudness.maxBoostDb].join(' ') : '';

/** A draft of another version, or one that a person has edited, means none. */
export function readLoudnessChoice(choice: string): Loudness | null {
  const [, targetLufs, maxTruePeakDb, maxBoostDb] = /^(-\d+) (-\d+) (\d+)$/.exec(choice) ?? [];
  if (targetLufs === undefined) return null;
  return { targetLufs: Number(targetLufs), maxTruePeakDb: Number(maxTruePeakDb), maxBoostDb: Number(maxBoostDb) };
}

const even = (targetLufs: number) => ({ targetLufs, maxTruePeakDb: -1, maxBoostDb: 6 });

interface LoudnessOption {
  value: string;
  label: string;
}

const OPTIONS: readonly LoudnessOption[] = [
  { value: '', label: 'As in each file' },
  { value: toLoudnessChoice(even(-14)), label: 'Even, −14 LUFS like YouTube and Spotify' },
  { value: toLoudnessChoice(even(-16)), label: 'Even, −16 LUFS' },
  { value: toLoudnessChoice(even(-23)), label: 'Even, −23 LUFS like television' },
];

function nameOwn({ targetLufs, maxTruePeakDb, maxBoostDb }: Loudness): string {
  const [target, peak] = [formatDecibels(targetLufs), formatDecibels(maxTruePeakDb)];
  return `Even, ${target} LUFS, peaks up to ${peak} dB, at most ${maxBoostDb} dB louder`;
}

/** The choices of a form that began with `before`. Numbers that were set by the API stay a choice. */
export function listLoudnessOptions(before: string): LoudnessOption[] {
  const own = readLoudnessChoice(before);
  const isListed = OPTIONS.some(({ value }) => value === before);
  return own && !isListed ? [...OPTIONS, { value: before, label: nameOwn(own) }] : [...OPTIONS];
}
