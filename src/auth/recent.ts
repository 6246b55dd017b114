/** What was found out about a credential, by its own text, for a short time: to hash it would take several microseconds. */
import type { Clock } from '../clock.ts';

const SWEEP_MS = 1000;
const ENTRIES = 10_000;

export interface Recent<T> {
  get(text: string): T | undefined;
  /** `untilMs` is of the clock that never goes back, `expiresAt` of the one on the wall, in milliseconds. */
  keep(text: string, value: T, until: { untilMs: number; expiresAt: number }): void;
  forget(matches: (value: T) => boolean): void;
}

/** What has had its time is thrown away; when there is too much, all is. */
export function createRecent<T>(clock: Clock): Recent<T> {
  const entries = new Map<string, { value: T; untilMs: number; expiresAt: number }>();
  let sweepAt = 0;
  return {
    get(text) {
      const known = entries.get(text);
      if (known && known.untilMs > clock.monotonicMs() && known.expiresAt > clock.now().getTime()) return known.value;
      return undefined;
    },
    keep(text, value, until) {
      const now = clock.monotonicMs();
      if (now >= sweepAt) {
        sweepAt = now + SWEEP_MS;
        for (const [key, { untilMs }] of entries) if (untilMs <= now) entries.delete(key);
      }
      if (entries.size >= ENTRIES) entries.clear();
      entries.set(text, { value, ...until });
    },
    forget(matches) {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key);
    },
  };
}
