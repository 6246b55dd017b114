/**
 * Computes capped exponential backoff with jitter. Half of each wait is fixed and half random ("equal jitter"), so that
 * clients that failed together do not retry together.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */

export interface Backoff {
  /** The first wait. */
  baseMs: number;
  /** The longest wait. */
  maxMs: number;
}

/** Keeps the power finite, however many attempts have failed. */
const MAX_EXPONENT = 30;

/** Returns the wait without jitter before retry `attempt`, which counts from 0. */
export const exponentialMs = ({ baseMs, maxMs }: Backoff, attempt: number): number =>
  Math.min(maxMs, baseMs * 2 ** Math.min(attempt, MAX_EXPONENT));

/** Returns the wait before retry `attempt`, which counts from 0. `random` is in [0, 1). */
export const backoffMs = (backoff: Backoff, attempt: number, random = Math.random()): number =>
  exponentialMs(backoff, attempt) * (0.5 + random / 2);

/** Returns up to a fifth less, so that a thousand equal waits do not end in the same second. */
export const shortenAtRandom = (ms: number): number => Math.round(ms * (1 - Math.random() / 5));
