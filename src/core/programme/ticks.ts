/**
 * Counts time in ticks of 1/120000 s. A frame at 24, 25, 30, 60 or an NTSC rate and an AAC frame at 48 kHz are whole
 * numbers of ticks, so sums are exact integers and nothing drifts in a year. Pure: no I/O, no clock.
 */

export const TICKS_PER_SECOND = 120_000;
export const TICKS_PER_MS = TICKS_PER_SECOND / 1000;
/** One AAC frame of a rendition: 1024 samples at 48 kHz, which take 21.3 ms. */
export const AUDIO_FRAME_TICKS = 2560;

/** Rounds to the nearest millisecond, halves up. The FLV writer wraps to 32 bits. */
export const ticksToMs = (ticks: number): number => Math.floor((ticks + TICKS_PER_MS / 2) / TICKS_PER_MS);

export const msToTicks = (ms: number): number => Math.floor(ms * TICKS_PER_MS);
