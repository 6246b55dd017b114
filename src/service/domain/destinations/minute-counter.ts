/** Counts what each account has begun within the last minute, on this server. */
import type { Clock } from '../../../core/lib/clock.ts';

const WINDOW_MS = 60_000;

export interface MinuteCounter {
  /** Counts one more. Returns the count before it, and a function that takes it back. */
  begin(accountId: string): { before: number; undo: () => void };
  /** Returns the count of the last minute. */
  count(accountId: string): number;
}

export function createMinuteCounter(clock: Clock): MinuteCounter {
  const begun = new Map<string, number[]>();
  const recent = (accountId: string): number[] => {
    const since = clock.monotonicMs() - WINDOW_MS;
    const times = (begun.get(accountId) ?? []).filter((at) => at > since);
    if (times.length > 0) begun.set(accountId, times);
    else begun.delete(accountId);
    return times;
  };
  let lookedMs = 0;
  /** Removes accounts without recent entries, which bounds the map. */
  const forgetOld = () => {
    if (clock.monotonicMs() - lookedMs < WINDOW_MS) return;
    lookedMs = clock.monotonicMs();
    for (const accountId of [...begun.keys()]) recent(accountId);
  };
  return {
    begin(accountId) {
      forgetOld();
      const times = recent(accountId);
      const at = clock.monotonicMs();
      begun.set(accountId, [...times, at]);
      const undo = () => {
        const now = begun.get(accountId) ?? [];
        const place = now.indexOf(at);
        if (place >= 0) begun.set(accountId, now.toSpliced(place, 1));
      };
      return { before: times.length, undo };
    },
    count: (accountId) => recent(accountId).length,
  };
}
