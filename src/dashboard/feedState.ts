/** Whether this page hears of changes as they happen. What is read needs no clock of its own while it does. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let follows = false;

export function setFollows(now: boolean): void {
  if (now === follows) return;
  follows = now;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useFollows = (): boolean => useSyncExternalStore(subscribe, () => follows);

/** For `refetchInterval`: nothing is asked for by the clock while changes are heard of; while they are not, every `ms`. */
export const unlessFollowed = (ms: number) => (): number | false => (follows ? false : ms);
