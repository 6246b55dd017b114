/**
 * Registers followers of an account's changes. The cost of a change depends on the followers of its account alone.
 * Pure: no I/O, no clock.
 */
export interface Followers<T> {
  /** Answers a function that ends it. */
  follow(accountId: string, onChange: (change: T) => void): () => void;
  notify(accountId: string, change: T): void;
  /** Notifies the followers of all accounts. */
  notifyAll(change: T): void;
}

export function createFollowers<T>(): Followers<T> {
  const byAccount = new Map<string, Set<(change: T) => void>>();
  return {
    follow(accountId, onChange) {
      // A function of its own for each call: a follower that registers twice is called twice and can leave one of them.
      const follower = (change: T) => onChange(change);
      const group = byAccount.get(accountId) ?? new Set();
      byAccount.set(accountId, group.add(follower));
      return () => {
        group.delete(follower);
        if (group.size === 0 && byAccount.get(accountId) === group) byAccount.delete(accountId);
      };
    },
    notify(accountId, change) {
      for (const onChange of byAccount.get(accountId) ?? []) onChange(change);
    },
    notifyAll(change) {
      for (const group of byAccount.values()) for (const onChange of group) onChange(change);
    },
  };
}
