/**
 * Lets like objects share their equal parts. Objects of one collection have most texts in common, and JSON.parse makes a copy of each for
 * every object. Pure.
 */

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * Returns `fresh`, an object from JSON, with the parts of `known` in place of those that equal them; `known` itself where all do.
 * Changes `fresh`. Neither may be changed afterwards.
 */
export function shareParts<T>(fresh: T, known: unknown): T {
  // Of two equal texts, the known one stays.
  if (fresh === known) return known as T;
  if (!isObject(fresh) || !isObject(known) || Array.isArray(fresh) !== Array.isArray(known)) return fresh;
  const keys = Object.keys(fresh);
  let isSame = keys.length === Object.keys(known).length;
  for (const key of keys) {
    const part = Object.hasOwn(known, key) ? known[key] : undefined;
    const shared = shareParts(fresh[key], part);
    if (shared !== part) isSame = false;
    else (fresh as Record<string, unknown>)[key] = shared;
  }
  return isSame ? (known as T) : fresh;
}
