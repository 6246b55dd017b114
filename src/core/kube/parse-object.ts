/**
 * Parses objects without what server-side apply keeps account of in them (`metadata.managedFields`): two fifths of a pod's text, which
 * nothing here reads. It is cut out before it is parsed. Pure: no I/O, no clock.
 */
import type { KubeObject, ObjectMeta } from './types.ts';

/** Unescaped quotes delimit texts, so this is nowhere but where it is a member. The API server writes no spaces. */
const BEGINNING = ',"managedFields":[{';
const END = '}]';

const isEnd = (text: string, at: number): boolean => {
  const next = text[at + END.length];
  return next === '}' || next === ',';
};

/**
 * Cuts to the first end that there may be. If that is inside a text, the rest has an odd number of quotes, and if it is that of an inner
 * array, more ends of brackets than beginnings: neither is JSON. Two cuts could make up for each other, so of a list the first object alone is cut.
 */
function cutManagedFields(text: string): string {
  const from = text.indexOf(BEGINNING);
  if (from < 0) return text;
  let to = text.indexOf(END, from);
  while (to >= 0 && !isEnd(text, to)) to = text.indexOf(END, to + 1);
  return to < 0 ? text : text.slice(0, from) + text.slice(to + END.length);
}

/** As JSON.parse does, with a result that may lack `managedFields`. Throws SyntaxError for what is no JSON. */
export function parseObject(text: string): unknown {
  const shorter = cutManagedFields(text);
  try {
    return JSON.parse(shorter);
  } catch (error) {
    if (shorter === text) throw error;
    return JSON.parse(text);
  }
}

/**
 * Returns an object without its `managedFields`, if it has any. The metadata is a copy: V8 keeps an object from which a property was
 * deleted as a hash table, which takes several times as much memory.
 */
export function stripManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata || !('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & { managedFields?: unknown };
  return { ...object, metadata };
}
