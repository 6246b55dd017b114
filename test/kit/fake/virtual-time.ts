/**
 * A clock that stands still while anybody works, and jumps to the next deadline when all sleep. A day of something that mostly waits
 * passes in seconds, with real connections.
 */
import type { Clock } from '../../../src/core/lib/clock.ts';

interface Sleeper {
  wakeMs: number;
  wake: () => void;
}

export function createVirtualTime(startMs: number) {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();
  let changed: (() => void) | undefined;

  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const end = () => {
        sleepers.delete(sleeper);
        reject(signal.reason);
      };
      const sleeper = {
        wakeMs: nowMs + ms,
        wake: () => {
          signal.removeEventListener('abort', end);
          sleepers.delete(sleeper);
          resolve();
        },
      };
      sleepers.add(sleeper);
      signal.addEventListener('abort', end, { once: true });
      changed?.();
    });

  /** Resolves when so many sleep. */
  const allAsleep = async (count: number): Promise<void> => {
    while (sleepers.size < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      changed = resolve;
      await promise;
    }
  };

  return {
    sleep,
    nowMs: () => nowMs,
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs } satisfies Clock,
    /** Lets `ms` pass; `count` is how many sleep between what they do. */
    async pass(ms: number, count = 1): Promise<void> {
      const endMs = nowMs + ms;
      for (;;) {
        await allAsleep(count);
        const next = Math.min(endMs, ...[...sleepers].map(({ wakeMs }) => wakeMs));
        nowMs = Math.max(nowMs, next);
        const due = [...sleepers].filter(({ wakeMs }) => wakeMs <= nowMs);
        for (const { wake } of due) wake();
        if (nowMs >= endMs) break;
      }
      await allAsleep(count);
    },
    /** Lets time pass until `check` holds; returns the milliseconds that took. */
    async passUntil(what: string, check: () => boolean, mostMs: number, count = 1): Promise<number> {
      const fromMs = nowMs;
      await allAsleep(count);
      while (!check()) {
        if (nowMs - fromMs >= mostMs) throw new Error(`not within ${mostMs} ms of virtual time: ${what}`);
        await this.pass(1_000, count);
      }
      return nowMs - fromMs;
    },
  };
}
