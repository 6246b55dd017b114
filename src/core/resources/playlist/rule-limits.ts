/** Limits of the rules of a playlist. They stay apart from rules.ts: a streamer loads this file, and no schema library. Pure: no I/O, no clock. */
export const MAX_RULES = 50;
/** Items between two of one artist. */
export const MAX_APART = 20;
/** A rule that was due more often would leave no time for the items. */
export const LEAST_EVERY_SECONDS = 10;
export const MAX_LATE_SECONDS = 3600;
