/**
 * Who wants to hear of an account's changes. A change costs what those cost who follow its account, however many follow others.
 * Pure: no I/O, no clock.
 */
export interface Followers<T> {
  /** Answers a function that ends it. */
  follow(accountId: string, hear: (news: T) => void): () => void;
  tell(accountId: string, news: T): void;
  /** Whoever follows any account. */
  tellAll(news: T): void;
}

export function createFollowers<T>(): Followers<T> {
  const byAccount = new Map<string, Set<(news: T) => void>>();
  return {
    follow(accountId, hear) {
      // Of its own, so that whoever follows twice hears twice and ends one of the two.
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
