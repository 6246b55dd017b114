/** Knows whether the page follows the feed of changes. Queries need no clock of their own while it does. */
let follows = false;

export function setFollows(now: boolean): void {
  follows = now;
}

/** For `refetchInterval`: polls every `ms` only while the feed of changes is down. */
export const unlessFollowed = (ms: number) => (): number | false => (follows ? false : ms);
