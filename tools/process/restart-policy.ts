/** Decides whether a part of the local system that ended is started again. Pure: no I/O, no clock. */
import { type Backoff, exponentialMs } from '../../src/core/lib/backoff.ts';

/** A part that ends this often within the window is broken, and no restart mends it. */
export const MAX_ENDS = 5;
const WINDOW_MS = 60_000;
const BACKOFF: Backoff = { baseMs: 500, maxMs: WINDOW_MS };

export type RestartDecision = { restart: true; pauseMs: number } | { restart: false };

/** Chooses from the times (ms, any clock that never goes back) at which a part ended, the last of them being now. */
export function decideRestart(endedAt: readonly number[]): RestartDecision {
  const now = endedAt.at(-1) ?? 0;
  const recent = endedAt.filter((time) => now - time < WINDOW_MS).length;
  if (recent >= MAX_ENDS) return { restart: false };
  return { restart: true, pauseMs: exponentialMs(BACKOFF, Math.max(0, recent - 1)) };
}
