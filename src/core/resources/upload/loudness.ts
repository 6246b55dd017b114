/**
 * Declares how loud the items of a stream are to be, and names the sound that is made so. An upload's sound is an object of its own, a
 * rendition in whose profile's place its loudness stands: pictures are stored once, however many loudnesses are wanted. Pure: no I/O,
 * no clock.
 */
import { type Static, Type } from 'typebox';
import { parseCardProfile } from './card.ts';
import { parseLookProfile } from './look.ts';
import { parseSlateProfile } from './slate.ts';

export const DEFAULT_LOUDNESS = { targetLufs: -14, maxTruePeakDb: -1, maxBoostDb: 6 };

/**
 * Integrated loudness by EBU R 128 and true peak by ITU-R BS.1770. Whole numbers only, so that streams that mean the same share a sound.
 */
export const LoudnessTarget = Type.Object(
  {
    targetLufs: Type.Integer({
      minimum: -30,
      maximum: -8,
      default: DEFAULT_LOUDNESS.targetLufs,
      description: 'Integrated loudness of each item, in LUFS (EBU R 128). Defaults to -14, as YouTube plays.',
    }),
    maxTruePeakDb: Type.Integer({
      minimum: -9,
      maximum: -1,
      default: DEFAULT_LOUDNESS.maxTruePeakDb,
      description: 'Highest true peak of each item, in dBTP (ITU-R BS.1770). Defaults to -1.',
    }),
    maxBoostDb: Type.Integer({
      minimum: 0,
      maximum: 20,
      default: DEFAULT_LOUDNESS.maxBoostDb,
      description: 'Largest boost of a quiet item, in dB: it may be quiet on purpose. Defaults to 6.',
    }),
  },
  { description: 'Loudness that all items are brought to. Without it each item is as loud as its file.' },
);
export type LoudnessTarget = Static<typeof LoudnessTarget>;

/** Largest cut of a loud item, in dB. */
export const MAX_CUT_DB = 12;

/** Why an item does not have the wanted loudness. `cut`: it would have to be made quieter by more than is done. */
export const LOUDNESS_LIMITS = ['peak', 'boost', 'cut', 'silence'] as const;

/** Measures of a sound before and after, and the gain between them. Numbers are absent for silence. */
export const SoundLoudness = Type.Object(
  {
    sourceLufs: Type.Optional(Type.Number({ description: 'Integrated loudness of the source, in LUFS.' })),
    sourceTruePeakDb: Type.Optional(Type.Number({ description: 'True peak of the source, in dBTP.' })),
    sourceRangeLu: Type.Optional(Type.Number({ description: 'Loudness range of the source, in LU.' })),
    gainDb: Type.Number({
      description: 'By how much it was made louder, in dB. 0: streams play the sound of the source.',
    }),
    integratedLufs: Type.Optional(Type.Number({ description: 'Integrated loudness of what was made, in LUFS.' })),
    truePeakDb: Type.Optional(Type.Number({ description: 'True peak of what was made, in dBTP.' })),
    limitedBy: Type.Optional(
      Type.Enum(LOUDNESS_LIMITS, {
        description: 'Set if it does not have the wanted loudness: its peaks, the limits of the gain, or silence.',
      }),
    ),
  },
  { description: 'Loudness of a sound. Set once it is ready.' },
);
export type SoundLoudness = Static<typeof SoundLoudness>;

/** Stands in the place of a rendition's profile: `sound-14-1-6`. */
export const soundProfile = ({ targetLufs, maxTruePeakDb, maxBoostDb }: LoudnessTarget): string =>
  `sound${targetLufs}${maxTruePeakDb}-${maxBoostDb}`;

/** Reads it; undefined for the profile of pictures. */
export function parseSoundProfile(profile: string): LoudnessTarget | undefined {
  const [, targetLufs, maxTruePeakDb, maxBoostDb] = (/^sound(-\d{1,2})(-\d)-(\d{1,2})$/.exec(profile) ?? []).map(
    Number,
  );
  if (targetLufs === undefined || maxTruePeakDb === undefined || maxBoostDb === undefined) return undefined;
  return { targetLufs, maxTruePeakDb, maxBoostDb };
}

/** Names what is made for people: the quality of pictures, with overlays or without, a card, a slate, or the loudness of a sound. */
export function nameProfile(profile: string): string {
  const sound = parseSoundProfile(profile);
  if (sound) return `${sound.targetLufs} LUFS`;
  const card = parseCardProfile(profile);
  if (card !== undefined) return `card of ${card}`;
  const slate = parseSlateProfile(profile);
  if (slate !== undefined) return `slate of ${slate}`;
  const look = parseLookProfile(profile);
  return look ? `${look.profile} with overlays` : profile;
}
