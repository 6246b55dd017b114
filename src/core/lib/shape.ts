/**
 * Checks the shape of parsed JSON by hand. The pod of a stream uses it: a schema library takes more memory than all the rest of a streamer.
 * Pure: no I/O, no clock.
 */

export type Check = (value: unknown) => boolean;

export const isString: Check = (value) => typeof value === 'string';
export const isInteger = (value: unknown): value is number => Number.isInteger(value);
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const atLeast =
  (minimum: number): Check =>
  (value) =>
    isInteger(value) && value >= minimum;

/** Checks an object's members; more members are allowed. */
export const object =
  (members: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const own = value as Record<string, unknown>;
    return (
      Object.entries(members).every(([name, check]) => Object.hasOwn(own, name) && check(own[name])) &&
      Object.entries(optional).every(([name, check]) => !Object.hasOwn(own, name) || check(own[name]))
    );
  };

export const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const oneOrMore =
  (check: Check): Check =>
  (value) =>
    list(check)(value) && (value as unknown[]).length > 0;

/** RFC 3339, section 5.6. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
export const isDateTime: Check = (value) =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
