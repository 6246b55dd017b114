/**
 * Holds the numbers of the rendition format; index.ts describes the rest. They stand apart so that the pod that plays a
 * rendition does not load the schema library, which takes more memory than everything else in that process.
 * Pure: no I/O, no clock.
 */

export const INDEX_VERSION = 1;
export const AUDIO_SAMPLE_RATE = 48_000;
/** Samples in an AAC-LC frame (ISO/IEC 14496-3). */
export const SAMPLES_PER_FRAME = 1024;

/** Longest time between two keyframes: YouTube's limit (support.google.com/youtube/answer/2853702). */
export const MAX_GOP_SECONDS = 4;

export const indexKey = (renditionKey: string): string => `${renditionKey}.json`;
