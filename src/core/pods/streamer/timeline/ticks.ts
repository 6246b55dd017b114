/**
 * Counts time in ticks of 1/120000 s. A frame at 24, 25, 30, 60 or an NTSC rate and an AAC frame at 48 kHz are whole
 * numbers of ticks, so sums are exact integers and nothing drifts in a year. A frame at another rate is a fraction of ticks,
 * so positions are computed from the count of frames and rounded once. Pure: no I/O, no clock.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/format.ts';

export const TICKS_PER_SECOND = 120_000;
const TICKS_PER_MS = TICKS_PER_SECOND / 1000;
/** One AAC frame: 21.3 ms, exactly 2560 ticks. */
export const AUDIO_FRAME_TICKS = (SAMPLES_PER_FRAME * TICKS_PER_SECOND) / AUDIO_SAMPLE_RATE;

/** Frames longer than this are no video: no position in it is a keyframe's. */
const MAX_FRAME_SECONDS = 60;

/**
 * Returns the ticks of one video frame: a whole number for the rates of profiles, a fraction for others. Undefined when frames
 * are shorter than a millisecond, in which times are sent, or longer than a minute.
 */
export function frameTicks(rateNum: number, rateDen: number): number | undefined {
  const ticks = (TICKS_PER_SECOND * rateDen) / rateNum;
  return ticks >= TICKS_PER_MS && ticks <= MAX_FRAME_SECONDS * TICKS_PER_SECOND ? ticks : undefined;
}

/**
 * Returns the ticks of this many frames, from `frameTicks`. Rounding the product, never a sum, keeps a fraction from drifting:
 * a day of frames is exact to a millionth of a tick.
 */
export const countTicks = (frames: number, ticks: number): number => Math.round(frames * ticks);

/** Returns the number of the frame that is shown at a position: the inverse of `countTicks`, whose rounding it allows for. */
export const frameAt = (position: number, ticks: number): number => Math.floor((position + 0.5) / ticks);

/** Rounds to the nearest millisecond, halves up. The FLV writer wraps to 32 bits. */
export const ticksToMs = (ticks: number): number => Math.floor((ticks + TICKS_PER_MS / 2) / TICKS_PER_MS);

export const msToTicks = (ms: number): number => Math.floor(ms * TICKS_PER_MS);
