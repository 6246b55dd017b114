/**
 * Collects the changes of an account's objects for feeds: noun and id, without the new state. A feed keeps each changed id once
 * until the client reads it, so a slow client costs no more than its number of objects. Beyond MAX_PENDING it keeps one `reset`,
 * after which the client reads everything.
 * Pure: no I/O, no clock.
 */

import type { OwnedChange } from '../../domain/limits/owned-resources.ts';
import { AppError } from '../../lib/errors.ts';
import { FairSlots, SlotsFull } from '../../lib/fair-slots.ts';
import { CHANGING_NOUNS, type Change, type ChangingNoun } from '../../lib/paging/change.ts';

/** `reset`: everything that the client read before may be old. */
export type FeedItem = Change | 'reset';

/** Feeds of one account on one server: the open tabs of a person, and programs. */
export const MAX_FEEDS = 50;
/** Changes that a feed keeps; a client further behind reads everything again. */
export const MAX_PENDING = 1_000;

export interface ChangeFeed {
  /** Returns all changes since the last call, each id once; the first is `reset`. */
  take(): FeedItem[];
  readonly hasItems: boolean;
  end(): void;
}

export type ChangeService = ReturnType<typeof createChangeService>;

/** `reset`: the source lost changes. */
type Source = { follow(accountId: string, onChange: (change: OwnedChange | 'reset') => void): () => void };

/** Places for all feeds of this server, of changes and of events. `total` limits those of all accounts. */
export const createFeedPlaces = (total = 2_000): FairSlots => new FairSlots({ total, each: { account: MAX_FEEDS } });

export function createChangeService(sources: Record<ChangingNoun, Source>, places = createFeedPlaces()) {
  return {
    /**
     * Follows the changes of `nouns`. It calls `wake` when an empty feed gets a change. It calls `giveUp` when the feed must end in
     * favor of an account with fewer feeds. Throws `too_many_feeds` and `server_busy`.
     */
    follow(
      accountId: string,
      wake: () => void,
      nouns: readonly ChangingNoun[] = CHANGING_NOUNS,
      giveUp?: () => void,
    ): ChangeFeed {
      const release = takePlace(places, accountId, giveUp);

      const pending = createPending();
      const offs = nouns.map((noun) =>
        sources[noun].follow(accountId, (change) => {
          const first = !pending.hasItems;
          if (change === 'reset') pending.reset();
          else pending.add({ noun, ...change });
          if (first) wake();
        }),
      );
      let ended = false;
      return {
        take: pending.take,
        get hasItems() {
          return pending.hasItems;
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

/** Throws `too_many_feeds` and `server_busy`. */
export function takePlace(places: FairSlots, accountId: string, giveUp: (() => void) | undefined): () => void {
  try {
    return places.takeNow({ account: accountId }, giveUp && { giveUp });
  } catch (error) {
    if (!(error instanceof SlotsFull)) throw error;
    if (error.limit === 'account')
      throw new AppError(
        'too_many_feeds',
        `The account has ${MAX_FEEDS} feeds open on this server already. Close one of them, or try again later.`,
      );
    throw new AppError('server_busy', 'This server has as many feeds open as it can. Try again later.');
  }
}

/** Keeps the changes that a client has not taken yet. */
export function createPending() {
  const byId = new Map<string, Change>();
  let isReset = true;
  const reset = () => {
    byId.clear();
    isReset = true;
  };
  return {
    reset,
    get hasItems() {
      return isReset || byId.size > 0;
    },
    add(change: Change): void {
      if (isReset) return;
      const before = byId.get(change.id);
      // A client that has not seen the creation gets `created`, even after updates, unless the object is deleted.
      const isNew = before?.change === 'created' && change.change === 'updated';
      byId.set(change.id, isNew ? before : change);
      if (byId.size > MAX_PENDING) reset();
    },
    take(): FeedItem[] {
      const news: FeedItem[] = isReset ? ['reset'] : [...byId.values()];
      isReset = false;
      byId.clear();
      return news;
    },
  };
}
