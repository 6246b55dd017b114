/** Whether this page hears of changes as they happen. What is read needs no clock of its own while it does. */
let follows = false;

export function setFollows(now: boolean): void {
  follows = now;
}

/** For `refetchInterval`: nothing is asked for by the clock while changes are heard of; while they are not, every `ms`. */
export const unlessFollowed = (ms: number) => (): number | false => (follows ? false : ms);
