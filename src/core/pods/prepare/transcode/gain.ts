/** Decides by how much a sound is made louder, and why it may miss the wanted loudness. Pure: no I/O, no clock. */
import { type LoudnessTarget, MAX_CUT_DB, type SoundLoudness } from '../../../resources/upload/loudness.ts';
import { AUDIO_SAMPLE_RATE } from '../../rendition/index.ts';

/** Measures of a sound; without a number for silence. */
export interface SoundMeasure {
  integratedLufs?: number;
  truePeakDb?: number;
  rangeLu?: number;
}

/** How a sound is changed. */
export interface Gain {
  gainDb: number;
  /** Where its peaks are limited. */
  ceilingDb?: number;
  /** The bound of the gain, where another one was wanted. */
  bound?: 'boost' | 'cut' | 'silence';
}

/** Nobody hears less. */
const UNCHANGED_DB = 0.5;
const ACCEPTED_LU = 1;
/** AAC decodes to higher peaks than were encoded. */
const HEADROOM_DB = 1;
/** Another attempt aims below the limit: each encoding has peaks of its own. */
const RETRY_MARGIN_DB = 0.5;
/** Streams play the sound of the source where the gain is 0, so a sound that is only limited has the least gain that is not. */
const LEAST_GAIN_DB = -0.1;
/** The filter knows no lower one. */
const LOWEST_CEILING_DB = -24;

const round = (value: number): number => Math.round(value * 10) / 10;

/** One gain for the whole item keeps its dynamics. */
export function decideGain(
  { integratedLufs, truePeakDb = Number.NEGATIVE_INFINITY }: SoundMeasure,
  { targetLufs, maxBoostDb, maxTruePeakDb }: LoudnessTarget,
): Gain {
  if (integratedLufs === undefined) return { gainDb: 0, bound: 'silence' };
  const wantedDb = round(targetLufs - integratedLufs);
  const boundDb = Math.min(maxBoostDb, Math.max(-MAX_CUT_DB, wantedDb));
  const bound = boundDb < wantedDb ? 'boost' : boundDb > wantedDb ? 'cut' : undefined;
  const isEnough = Math.abs(boundDb) <= UNCHANGED_DB;
  const fits = truePeakDb <= maxTruePeakDb;
  const gainDb = isEnough && fits ? 0 : boundDb || LEAST_GAIN_DB;
  const ceilingDb = maxTruePeakDb - HEADROOM_DB;
  return {
    gainDb,
    ...(bound && { bound }),
    ...(gainDb !== 0 && truePeakDb + gainDb > ceilingDb && { ceilingDb }),
  };
}

/** Returns the gain for another attempt, where the peaks of the first are too high; undefined where they are not. */
export function lowerCeiling(gain: Gain, made: SoundMeasure, { maxTruePeakDb }: LoudnessTarget): Gain | undefined {
  const { truePeakDb = Number.NEGATIVE_INFINITY } = made;
  if (gain.bound === 'silence' || truePeakDb <= maxTruePeakDb) return undefined;
  const { ceilingDb = maxTruePeakDb - HEADROOM_DB } = gain;
  const lowerDb = Math.max(LOWEST_CEILING_DB, round(ceilingDb - (truePeakDb - maxTruePeakDb) - RETRY_MARGIN_DB));
  return { ...gain, gainDb: gain.gainDb || LEAST_GAIN_DB, ceilingDb: lowerDb };
}

/** Returns the filters that change the sound; none where it stays as it is. */
export function gainFilters({ gainDb, ceilingDb }: Gain): string[] {
  if (gainDb === 0) return [];
  const volume = `volume=${gainDb}dB`;
  if (ceilingDb === undefined) return [volume];
  // Peaks between two samples count too.
  const limit = (10 ** (ceilingDb / 20)).toFixed(6);
  const limiter = `alimiter=level=false:limit=${limit}:attack=5:release=50:latency=true`;
  return [volume, `aresample=${4 * AUDIO_SAMPLE_RATE}`, limiter, `aresample=${AUDIO_SAMPLE_RATE}`];
}

/** Describes a sound by the measures of its source and of what was made. */
export function describeLoudness(
  source: SoundMeasure,
  made: SoundMeasure,
  { gainDb, bound }: Gain,
  { targetLufs }: LoudnessTarget,
): SoundLoudness {
  const { integratedLufs, truePeakDb } = made;
  const isReached = integratedLufs !== undefined && Math.abs(integratedLufs - targetLufs) <= ACCEPTED_LU;
  const limitedBy = bound === 'silence' || integratedLufs === undefined ? 'silence' : (bound ?? 'peak');
  return {
    ...(source.integratedLufs !== undefined && { sourceLufs: source.integratedLufs }),
    ...(source.truePeakDb !== undefined && { sourceTruePeakDb: source.truePeakDb }),
    ...(source.rangeLu !== undefined && { sourceRangeLu: source.rangeLu }),
    gainDb,
    ...(integratedLufs !== undefined && { integratedLufs }),
    ...(truePeakDb !== undefined && { truePeakDb }),
    ...(!isReached && { limitedBy }),
  };
}
