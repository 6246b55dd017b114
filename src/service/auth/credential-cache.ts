/**
 * Remembers the result of checking a credential for a short time, by its own text: a hash would take several
 * microseconds.
 */
import type { Clock } from '../../core/lib/clock.ts';

const SWEEP_MS = 1000;
const ENTRIES = 10_000;

export interface CredentialCache<T> {
  get(text: string): T | undefined;
  /** `untilMs` is of the clock that never goes back, `expiresAt` of the one on the wall, in milliseconds. */
  keep(text: string, value: T, until: { untilMs: number; expiresAt: number }): void;
  /** Concurrent lookups of one credential share one query. */
  share<R>(text: string, find: () => Promise<R>): Promise<R>;
  forget(matches: (value: T) => boolean): void;
}

/** Expired entries are removed; when there are too many, all are. */
export function createCredentialCache<T>(clock: Clock): CredentialCache<T> {
  const entries = new Map<string, { value: T; untilMs: number }>();
  const looking = new Map<string, Promise<unknown>>();
  let sweepAt = 0;
  return {
    get(text) {
      const known = entries.get(text);
      return known && known.untilMs > clock.monotonicMs() ? known.value : undefined;
    },
    keep(text, value, { untilMs, expiresAt }) {
      const now = clock.monotonicMs();
      if (now >= sweepAt) {
        sweepAt = now + SWEEP_MS;
        for (const [key, entry] of entries) if (entry.untilMs <= now) entries.delete(key);
      }
      if (entries.size >= ENTRIES) entries.clear();
      // Reading a clock costs as much as all the rest: this way one is read for each request, and not two.
      entries.set(text, { value, untilMs: Math.min(untilMs, now + expiresAt - clock.now().getTime()) });
    },
    share<R>(text: string, find: () => Promise<R>): Promise<R> {
      const known = looking.get(text) as Promise<R> | undefined;
      if (known) return known;
      const found = find().finally(() => {
        if (looking.get(text) === found) looking.delete(text);
      });
      looking.set(text, found);
      return found;
    },
    forget(matches) {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key);
      // Later callers do not get the result of a lookup that began before.
      looking.clear();
    },
  };
}
