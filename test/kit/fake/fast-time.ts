/** A clock that runs faster than the real one, equally in several processes, and the sleep that goes with it. */
import { type Clock, sleep as realSleep } from '../../../src/core/lib/clock.ts';

export interface FastTimeOptions {
  /** Milliseconds since 1970, of the real clock, at which it shows `startMs`. */
  originMs: number;
  startMs: number;
  factor: number;
}

export function createFastTime({ originMs, startMs, factor }: FastTimeOptions) {
  const nowMs = () => Math.floor(startMs + (Date.now() - originMs) * factor);
  return {
    nowMs,
    clock: { now: () => new Date(nowMs()), monotonicMs: () => performance.now() * factor } satisfies Clock,
    sleep: (ms: number, signal: AbortSignal) => realSleep(ms / factor, signal),
  };
}
