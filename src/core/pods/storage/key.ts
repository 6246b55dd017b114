/** Checks storage keys: `/`-separated segments that mean the same in a directory and in S3. Pure: no I/O, no clock. */

const MAX_KEY_LENGTH = 512;
/** A segment never begins with a dot, so that keys contain no `..` and cannot name the storage's own `.tmp`. */
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

export const isStorageKey = (key: string): boolean =>
  key.length <= MAX_KEY_LENGTH && key.split('/').every((segment) => SEGMENT.test(segment));

/** Splits a key into segments. Throws a TypeError for a key that could lead out of the storage. */
export function keySegments(key: string): string[] {
  if (isStorageKey(key)) return key.split('/');
  throw new TypeError(`${JSON.stringify(key.slice(0, 80))} is not a storage key.`);
}
