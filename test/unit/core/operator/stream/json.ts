/** Copies and patches JSON values, as an API server does. */

/** Clones a JSON object; structuredClone supports more, and takes many times as long. */
export function clone<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone) as T;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) copy[name] = clone((value as Record<string, unknown>)[name]);
  return copy as T;
}

/** RFC 7386. */
export function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
