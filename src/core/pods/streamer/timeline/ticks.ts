/**
 * Counts the ticks of frames (programme/ticks.ts). A frame at a rate of no profile is a fraction of ticks, so positions are
 * computed from the count of frames and rounded once. Pure: no I/O, no clock.
 */
import { TICKS_PER_MS, TICKS_PER_SECOND } from '../../../programme/ticks.ts';

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
