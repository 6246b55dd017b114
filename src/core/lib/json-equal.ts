/** Equality of JSON values: the order of members does not matter, one that is undefined is not there. Pure: no I/O, no clock. */

export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => isSameJson(element, b[index]));
  return hasSameMembers(a as Members, b as Members);
}

type Members = Record<string, unknown>;

/** Copies no members: each reconcile compares a status and a program. */
function hasSameMembers(a: Members, b: Members): boolean {
  let count = 0;
  for (const key of Object.keys(a)) {
    const member = a[key];
    if (member === undefined) continue;
    if (!Object.hasOwn(b, key) || !isSameJson(member, b[key])) return false;
    count++;
  }
  return count === Object.keys(b).filter((key) => b[key] !== undefined).length;
}
