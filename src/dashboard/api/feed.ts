/** Knows whether the page follows the feed of changes. Queries need no clock of their own while it does. */
let follows = false;

export function setFollows(now: boolean): void {
  follows = now;
}

/** For `refetchInterval`: nothing is asked for by the clock while changes are heard of; while they are not, every `ms`. */
export const unlessFollowed = (ms: number) => (): number | false => (follows ? false : ms);
