/**
 * Registers followers of an account's changes. The cost of a change depends on the followers of its account alone.
 * Pure: no I/O, no clock.
 */
export interface Followers<T> {
  /** Answers a function that ends it. */
  follow(accountId: string, hear: (news: T) => void): () => void;
  tell(accountId: string, news: T): void;
  /** Notifies the followers of all accounts. */
  tellAll(news: T): void;
}

export function createFollowers<T>(): Followers<T> {
  const byAccount = new Map<string, Set<(news: T) => void>>();
  return {
    follow(accountId, hear) {
      // A function of its own for each call: a follower that registers twice is called twice and can leave one of them.
      const follower = (news: T) => hear(news);
      const group = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, group.add(follower));
      return () => {
        group.delete(follower);
        if (group.size === 0 && byAccount.get(accountId) === group) byAccount.delete(accountId);
      };
    },
    tell(accountId, news) {
      for (const hear of byAccount.get(accountId) ?? []) hear(news);
    },
    tellAll(news) {
      for (const group of byAccount.values()) for (const hear of group) hear(news);
    },
  };
}
