/**
 * Records the last use of keys apart from the requests that use them: in batches, and for each key at most once a
 * minute, whichever servers it comes to.
 */
import type { Clock } from '../../core/lib/clock.ts';
import type { Logger } from '../../core/lib/log.ts';

const EVERY_MS = 60_000;

export interface KeyUsage {
  /** A key was used now; `lastUsedAt` as it is written down. */
  see(keyId: string, lastUsedAt: Date | null): void;
  /** Writes down what has not been. */
  flush(): Promise<void>;
  /** Writes again and again, until it is called. */
  start(log: Logger): () => Promise<void>;
}

export function createUsage(write: (ids: string[], at: Date) => Promise<void>, clock: Clock): KeyUsage {
  const seen = new Set<string>();

  const flush = async (): Promise<void> => {
    const ids = [...seen];
    seen.clear();
    if (ids.length > 0) await write(ids, clock.now());
  };

  return {
    see(keyId, lastUsedAt) {
      if (lastUsedAt === null || clock.now().getTime() - lastUsedAt.getTime() >= EVERY_MS) seen.add(keyId);
    },
    flush,
    start(log) {
      const again = () =>
        flush().catch((err) => log.warn({ err }, 'the last use of API keys could not be stored; it is retried'));
      const timer = setInterval(again, EVERY_MS / 6);
      return async () => {
        clearInterval(timer);
        await again();
      };
    },
  };
}
