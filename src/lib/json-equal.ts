/** Equality of JSON values: the order of members does not matter, one that is undefined is not there. Pure: no I/O, no clock. */

const members = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, member]) => member !== undefined);

export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => isSameJson(element, b[index]));
  const theirs = new Map(members(b));
  const ours = members(a);
  return (
    ours.length === theirs.size && ours.every(([key, member]) => theirs.has(key) && isSameJson(member, theirs.get(key)))
  );
}
