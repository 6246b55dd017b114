/**
 * Counts time in ticks of 1/120000 s. A frame at 24, 25, 30, 60 or an NTSC rate and an AAC frame at 48 kHz are whole
 * numbers of ticks, so sums are exact integers and nothing drifts in a year. Milliseconds are rounded once.
 * Pure: no I/O, no clock.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/format.ts';

export const TICKS_PER_SECOND = 120_000;
const TICKS_PER_MS = TICKS_PER_SECOND / 1000;
/** One AAC frame: 21.3 ms, exactly 2560 ticks. */
export const AUDIO_FRAME_TICKS = (SAMPLES_PER_FRAME * TICKS_PER_SECOND) / AUDIO_SAMPLE_RATE;

/** Returns the ticks of one video frame; undefined when the rate does not fit the timeline exactly. */
export function frameTicks(rateNum: number, rateDen: number): number | undefined {
  const ticks = (TICKS_PER_SECOND * rateDen) / rateNum;
  return Number.isSafeInteger(ticks) && ticks > 0 ? ticks : undefined;
}

/** Rounds to the nearest millisecond, halves up. The FLV writer wraps to 32 bits. */
export const ticksToMs = (ticks: number): number => Math.floor((ticks + TICKS_PER_MS / 2) / TICKS_PER_MS);

export const msToTicks = (ms: number): number => Math.floor(ms * TICKS_PER_MS);
