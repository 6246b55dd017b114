/**
 * What has changed of what an account has, for those who show it: which noun and which id, never what it has become, which
 * whoever wants to know reads. Changes that nobody has taken yet are kept once for each id, so that a reader who is slow
 * costs no more than there are things, and beyond MAX_PENDING one line that says to read everything.
 * Pure: no I/O, no clock.
 */

import type { OwnedChange } from '../../domain/owned.ts';
import { AppError } from '../../lib/errors.ts';
import { CHANGING_NOUNS, type Change, type ChangingNoun } from '../../lib/paging/change.ts';
import { Places, PlacesFull } from '../../lib/places.ts';

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

/** `total`: feeds of all accounts at this server. */
export function createChangeService(sources: Record<ChangingNoun, Source>, total = 2_000) {
  const places = new Places({ total, each: { account: MAX_FEEDS } });
  return {
    /**
     * `wake` is called when there is something to take where there was nothing; of `nouns` alone it is told. `giveUp` is
     * called when the feed is to end, since another account that has fewer wants to follow too. Throws `too_many_feeds` and
     * `server_busy`.
     */
    follow(
      accountId: string,
      wake: () => void,
      nouns: readonly ChangingNoun[] = CHANGING_NOUNS,
      giveUp?: () => void,
    ): Following {
      const release = takePlace(places, accountId, giveUp);

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
          release();
        },
      };
    },
  };
}

function takePlace(places: Places, accountId: string, giveUp: (() => void) | undefined): () => void {
  try {
    return places.takeNow({ account: accountId }, giveUp && { giveUp });
  } catch (error) {
    if (!(error instanceof PlacesFull)) throw error;
    if (error.limit === 'account')
      throw new AppError(
        'too_many_feeds',
        `The account has ${MAX_FEEDS} change feeds open on this server already. Close one of them, or try again later.`,
      );
    throw new AppError('server_busy', 'This server has as many change feeds open as it can. Try again later.');
  }
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
