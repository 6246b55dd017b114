/**
 * What has changed of what an account has, for those who show it: which noun and which id, never what it has become, which
 * whoever wants to know reads. Changes that nobody has taken yet are kept once for each id, so that a reader who is slow
 * costs no more than there are things, and beyond MAX_PENDING one line that says to read everything.
 * Pure: no I/O, no clock.
 */
import { AppError } from '../errors.ts';
import { CHANGING_NOUNS, type Change, type ChangingNoun } from './change.ts';
import type { OwnedChange } from './owned.ts';

/** `reset`: what was read before may be old, all of it. */
export type News = Change | 'reset';

/** Feeds of one account at one server: as many as a person has tabs open, and programs besides. */
export const MAX_FEEDS = 50;
/** Changes kept for a reader; whoever is further behind reads everything again. */
export const MAX_PENDING = 1_000;

export interface Following {
  /** All that has changed since the last call, each id once; begins with `reset`. */
  take(): News[];
  readonly hasNews: boolean;
  end(): void;
}

export type ChangeService = ReturnType<typeof createChangeService>;

/** `reset`: changes were left out. */
type Source = { follow(accountId: string, hear: (change: OwnedChange | 'reset') => void): () => void };

export function createChangeService(sources: Record<ChangingNoun, Source>) {
  const counts = new Map<string, number>();
  return {
    /**
     * `wake` is called when there is something to take where there was nothing; of `nouns` alone it is told. Throws
     * `too_many_feeds`.
     */
    follow(accountId: string, wake: () => void, nouns: readonly ChangingNoun[] = CHANGING_NOUNS): Following {
      const count = counts.get(accountId) ?? 0;
      if (count >= MAX_FEEDS)
        throw new AppError('too_many_feeds', `This account follows its changes ${count} times here already.`);
      counts.set(accountId, count + 1);

      const pending = createPending();
      const offs = nouns.map((noun) =>
        sources[noun].follow(accountId, (change) => {
          const first = !pending.hasNews;
          if (change === 'reset') pending.reset();
          else pending.add({ noun, ...change });
          if (first) wake();
        }),
      );
      let ended = false;
      return {
        take: pending.take,
        get hasNews() {
          return pending.hasNews;
        },
        end() {
          if (ended) return;
          ended = true;
          for (const off of offs) off();
          const left = (counts.get(accountId) ?? 1) - 1;
          if (left > 0) counts.set(accountId, left);
          else counts.delete(accountId);
        },
      };
    },
  };
}

/** What has not been taken yet. */
export function createPending() {
  const byId = new Map<string, Change>();
  let isReset = true;
  const reset = () => {
    byId.clear();
    isReset = true;
  };
  return {
    reset,
    get hasNews() {
      return isReset || byId.size > 0;
    },
    add(change: Change): void {
      if (isReset) return;
      const before = byId.get(change.id);
      // Whoever has not heard that it came hears that, whatever has become of it since, unless it is gone.
      const isNew = before?.change === 'created' && change.change === 'updated';
      byId.set(change.id, isNew ? before : change);
      if (byId.size > MAX_PENDING) reset();
    },
    take(): News[] {
      const news: News[] = isReset ? ['reset'] : [...byId.values()];
      isReset = false;
      byId.clear();
      return news;
    },
  };
}
