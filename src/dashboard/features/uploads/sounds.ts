/** Says where an upload does not have the loudness that its streams ask for, and why. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';
import { formatDecibels } from '../../lib/format.ts';

type Sound = Upload['sounds'][number];

function describeGain({ gainDb, integratedLufs }: Sound): string {
  const change = gainDb === null || gainDb === 0 ? 'as loud as its file' : describeChange(gainDb);
  return integratedLufs === null ? change : `${change}, at ${formatDecibels(integratedLufs)} LUFS`;
}

const describeChange = (gainDb: number): string =>
  `${formatDecibels(Math.abs(gainDb))} dB ${gainDb > 0 ? 'louder' : 'quieter'} than its file`;

const REASONS: Record<NonNullable<Sound['limitedBy']>, (sound: Sound) => string> = {
  peak: () => 'its loudest moments leave no room for more',
  boost: ({ maxBoostDb }) => `the stream allows at most ${maxBoostDb} dB more, since it may be quiet on purpose`,
  cut: () => 'it is not made quieter than that',
  silence: () => 'it is silent',
};

/** A sentence for a sound that has another loudness than wanted, or could not be made; undefined for any other. */
function describeSound(sound: Sound): string | undefined {
  const { targetLufs, limitedBy, error } = sound;
  const target = `${formatDecibels(targetLufs)} LUFS`;
  if (error)
    return `It could not be brought to ${target}, and plays as loud as its file. ${error.message} ${error.fix}`;
  if (limitedBy === null) return undefined;
  return `In streams at ${target} it plays ${describeGain(sound)}: ${REASONS[limitedBy](sound)}.`;
}

export const listSoundNotes = ({ sounds }: Pick<Upload, 'sounds'>): string[] =>
  sounds.flatMap((sound) => describeSound(sound) ?? []);

/** `−19.4 LUFS`; undefined while it is not measured. */
export function formatMeasured({ loudness }: Pick<Upload, 'loudness'>): string | undefined {
  if (!loudness) return undefined;
  return loudness.integratedLufs === null ? 'silent' : `${formatDecibels(loudness.integratedLufs)} LUFS`;
}
