/**
 * Records the last use of keys apart from the requests that use them: in batches, and for each key at most once a
 * minute, whichever servers it comes to.
 */
import type { Clock } from '../../core/lib/clock.ts';
import type { Logger } from '../../core/lib/log.ts';

const EVERY_MS = 60_000;

/** The use of a key: from which address, where that is known. */
export interface KeyUse {
  id: string;
  address: string | undefined;
}

export interface KeyUsage {
  /** A key was used now; `lastUsedAt` as it is written down. */
  see(use: KeyUse, lastUsedAt: Date | null): void;
  /** Writes down what has not been. */
  flush(): Promise<void>;
  /** Writes again and again, until it is called. */
  start(log: Logger): () => Promise<void>;
}

export function createUsage(write: (uses: KeyUse[], at: Date) => Promise<void>, clock: Clock): KeyUsage {
  const seen = new Map<string, KeyUse>();

  const flush = async (): Promise<void> => {
    const uses = [...seen.values()];
    seen.clear();
    if (uses.length > 0) await write(uses, clock.now());
  };

  return {
    see(use, lastUsedAt) {
      if (lastUsedAt === null || clock.now().getTime() - lastUsedAt.getTime() >= EVERY_MS) seen.set(use.id, use);
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
