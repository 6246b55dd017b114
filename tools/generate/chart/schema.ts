/**
 * Builds the schema of the chart's values: JSON Schema with a default and a sentence for each. Pure: no I/O, no clock.
 */

/** A JSON Schema (draft 7, what both Helms read) of one value; `default` is what values.yaml shows. */
export interface Value {
  type: string | string[];
  description: string;
  default?: unknown;
  properties?: Record<string, Value>;
  additionalProperties?: boolean | { type: string };
  [keyword: string]: unknown;
}

type More = Record<string, unknown>;

export const text = (description: string, value = '', more: More = {}): Value => ({
  type: 'string',
  description,
  default: value,
  ...more,
});
export const DNS_LABEL = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';
/** A name that DNS takes, such as a namespace. */
export const name = (description: string, value = '') =>
  text(description, value, { pattern: DNS_LABEL, maxLength: 63 });
export const choice = (description: string, value: string, among: readonly string[]): Value =>
  text(description, value, { enum: among });
export const flag = (description: string, value: boolean): Value => ({ type: 'boolean', description, default: value });
export const whole = (description: string, value: number, minimum: number, maximum?: number): Value => ({
  type: 'integer',
  description,
  default: value,
  minimum,
  ...(maximum !== undefined && { maximum }),
});
export const list = (description: string, items: More, value: unknown[] = [], more: More = {}): Value => ({
  type: 'array',
  description,
  default: value,
  items,
  ...more,
});
/** Labels or annotations. */
export const strings = (description: string): Value => ({
  type: 'object',
  description,
  default: {},
  additionalProperties: { type: 'string' },
});
/** Something of Kubernetes' own, which its API server checks. */
export const native = (description: string, value: unknown = {}): Value => ({
  type: Array.isArray(value) ? 'array' : 'object',
  description,
  default: value,
});
/** Values under one name; a name that is not listed is refused. */
export const group = (description: string, properties: Record<string, Value>): Value => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties,
});

/** Returns the value in values.yaml. */
export const getDefault = (value: Value): unknown =>
  value.properties
    ? Object.fromEntries(Object.entries(value.properties).map(([name, child]) => [name, getDefault(child)]))
    : value.default;

/** Every value that is set by itself, with its path, in order. */
export const leaves = (value: Value, path: string[] = []): { path: string; value: Value }[] =>
  value.properties
    ? Object.entries(value.properties).flatMap(([name, child]) => leaves(child, [...path, name]))
    : [{ path: path.join('.'), value }];

/** The name of an existing Secret; empty where there is none. */
export const secretName = (description: string) => text(description, '', { maxLength: 253 });
