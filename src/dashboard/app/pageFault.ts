/** Tells a part of the page that did not come from a fault of the page, and says whether to try again. Pure: no I/O, no clock. */

/** The words of Chromium, Firefox and Safari for a module that did not come, and those of Vite for its styles. */
const MISSING_PART =
  /dynamically imported module|importing a module script failed|unable to preload|failed to fetch|load failed|networkerror/i;

export type PageFault = 'missing' | 'broken';

export const findFault = (error: unknown): PageFault =>
  error instanceof Error && MISSING_PART.test(error.message) ? 'missing' : 'broken';

const MOST_TRIES = 3;
const WITHIN_MS = 60_000;

/** Returns the tries that count at `now`, with the new one; undefined when there were too many of them lately. */
export function countTry(tries: readonly number[], now: number): number[] | undefined {
  const recent = tries.filter((at) => now - at < WITHIN_MS);
  return recent.length < MOST_TRIES ? [...recent, now] : undefined;
}
