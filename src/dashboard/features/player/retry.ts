/**
 * When to try the preview again after it broke off. Pure: no I/O, no clock.
 */
import { type Backoff, exponentialMs } from '../../../core/lib/backoff.ts';

const PAUSE: Backoff = { baseMs: 1000, maxMs: 10_000 };
/** A preview that played this long was a good one: the next break begins again with the shortest wait. */
export const GOOD_PLAY_MS = 10_000;

/** Milliseconds to wait before try number `attempt`, counted from 0: 1 s, 2 s, 4 s, 8 s, then 10 s each. */
export const retryDelay = (attempt: number): number => exponentialMs(PAUSE, Math.max(0, attempt));

/** How many tries to count as failed so far, when the last one played for `playedMs`. */
export const failuresAfter = (failures: number, playedMs: number): number =>
  playedMs >= GOOD_PLAY_MS ? 0 : failures + 1;
