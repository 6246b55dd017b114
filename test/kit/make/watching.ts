/** Watches addresses as the process `platform` does, and remembers every verdict. */
import pino from 'pino';
import { systemClock } from '../../../src/core/lib/clock.ts';
import type { Observer, PlatformTarget, Publishing } from '../../../src/core/platform/common/observer.ts';
import type { PlatformVerdict } from '../../../src/core/platform/common/verdict.ts';
import { createWatchObserver, type WatchObserverOptions } from '../../../src/core/platform/watch/observe.ts';
import { until } from '../wait.ts';

/** A server that has been sent media for so long has no excuse. */
const SINCE_MS = 600_000;

export interface Watching {
  observer: Observer;
  /** Watches one more address. */
  add(key: string, url: string, publishing: Publishing | null): void;
  remove(key: string): void;
  /** The words so far, without those that repeat the one before: `True`, `False frozen`, `Unknown starting`. */
  words(key: string): string[];
  verdict(key: string): PlatformVerdict | undefined;
  /** Resolves when the last word is this one. */
  says(key: string, word: string): Promise<void>;
  /** Resolves when there have been so many verdicts. */
  looked(key: string, times: number): Promise<void>;
  end(): Promise<void>;
}

export const publishedBy = (podUrl: string): Publishing => ({
  sinceMs: Date.now() - SINCE_MS,
  podUrl,
  readViewToken: async () => undefined,
});

export function startWatching(options: Partial<WatchObserverOptions> = {}): Watching {
  const over = new AbortController();
  const targets = new Map<string, PlatformTarget>();
  const verdicts = new Map<string, PlatformVerdict>();
  const words = new Map<string, string[]>();
  const looks = new Map<string, number>();
  const observer = createWatchObserver(
    {
      clock: systemClock,
      log: pino({ level: 'silent' }),
      signal: over.signal,
      report: (key, verdict) => {
        verdicts.set(key, verdict);
        looks.set(key, (looks.get(key) ?? 0) + 1);
        const word = [verdict.status, verdict.reason].filter((part) => part !== undefined).join(' ');
        const known = words.get(key) ?? [];
        if (known.at(-1) !== word) known.push(word);
        words.set(key, known);
      },
    },
    { allowPrivate: true, ffmpeg: 'ffmpeg', confine: 'auto', ...options },
  );
  const update = () => observer.update([...targets.values()]);
  return {
    observer,
    add: (key, url, publishing) => {
      targets.set(key, { key, uid: key, platform: { kind: 'watch', policy: 'Observe', url }, publishing });
      update();
    },
    remove: (key) => {
      targets.delete(key);
      update();
    },
    words: (key) => words.get(key) ?? [],
    verdict: (key) => verdicts.get(key),
    says: async (key, word) => {
      await until(`${key} is ${word}`, () => words.get(key)?.at(-1) === word, 60_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it was ${words.get(key)?.join(', ')}`);
      });
    },
    looked: async (key, times) => {
      await until(`${key} is looked at ${times} times`, () => (looks.get(key) ?? 0) >= times, 120_000);
    },
    end: () => {
      over.abort();
      return observer.ended;
    },
  };
}
