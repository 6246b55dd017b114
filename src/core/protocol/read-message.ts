/**
 * Reads a message by its schema. The sender may be of another release than the reader: unknown fields are dropped, and missing fields
 * that have a default get it. A message that cannot be read is a value too, so a reader never throws. Pure: no I/O, no clock.
 *
 * The schema is read as JSON Schema, so this file loads no library.
 */
import type { Static, TSchema } from 'typebox';

export type Read<T> = { ok: true; message: T } | { ok: false; failure: ReadFailure };

/** Why a message cannot be read. It repeats nothing of the message, which may hold secrets. */
export interface ReadFailure {
  code: 'not_json' | 'unexpected';
  /** JSON Pointer of the first value that is missing or unexpected; empty for the whole message. */
  path: string;
}

/**
 * `strict`: one broken field breaks the message. `lenient`: a broken field counts as missing, and a broken element of a list is left out, so that
 * the rest of what a pod says still counts.
 */
export type Policy = 'strict' | 'lenient';

/** The part of JSON Schema that messages use. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  /** Longer texts of a lenient message are cut. */
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  default?: unknown;
  /** Of our own: overrules the policy of the message for this part of it. */
  policy?: Policy;
}

class Broken {
  readonly path: string;
  constructor(path: string) {
    this.path = path;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const patterns = new Map<string, RegExp>();
function matches(text: string, pattern: string): boolean {
  // linear-time: patterns are those of our own schemas, which have no two loops beside each other.
  const compiled = patterns.get(pattern) ?? new RegExp(pattern, 'u');
  patterns.set(pattern, compiled);
  return compiled.test(text);
}

function readObject({ properties = {}, required = [] }: Schema, value: unknown, policy: Policy, path: string): unknown {
  if (!isObject(value)) return new Broken(path);
  const found: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const at = `${path}/${name}`;
    const isGiven = Object.hasOwn(value, name) && value[name] !== undefined;
    const field = isGiven ? readValue(schema, value[name], policy, at) : new Broken(at);
    if (!(field instanceof Broken)) found[name] = field;
    else if (isGiven && (schema.policy ?? policy) === 'strict') return field;
    else if (schema.default !== undefined) found[name] = schema.default;
    else if (required.includes(name)) return field;
  }
  return found;
}

function readList({ items = {}, minItems = 0, maxItems }: Schema, value: unknown, policy: Policy, path: string) {
  if (!Array.isArray(value)) return new Broken(path);
  if (policy === 'strict' && value.length > (maxItems ?? value.length)) return new Broken(path);
  const found: unknown[] = [];
  for (const [index, element] of value.slice(0, maxItems).entries()) {
    const read = readValue(items, element, policy, `${path}/${index}`);
    if (!(read instanceof Broken)) found.push(read);
    else if (policy === 'strict') return read;
  }
  return found.length < minItems ? new Broken(path) : found;
}

function readText({ minLength = 0, maxLength, pattern, format }: Schema, value: unknown, policy: Policy) {
  if (typeof value !== 'string' || value.length < minLength) return undefined;
  if (policy === 'strict' && value.length > (maxLength ?? value.length)) return undefined;
  if (pattern !== undefined && !matches(value, pattern)) return undefined;
  if (format === 'date-time' && Number.isNaN(Date.parse(value))) return undefined;
  return value.slice(0, maxLength);
}

function readNumber({ type, minimum, exclusiveMinimum, maximum }: Schema, value: unknown) {
  const isNumber = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  const number = value as number;
  if (!isNumber || number < (minimum ?? number) || number > (maximum ?? number)) return undefined;
  return exclusiveMinimum !== undefined && number <= exclusiveMinimum ? undefined : number;
}

function readAnyOf(schemas: Schema[], value: unknown, policy: Policy, path: string): unknown {
  for (const schema of schemas) {
    const read = readValue(schema, value, policy, path);
    if (!(read instanceof Broken)) return read;
  }
  return new Broken(path);
}

function readValue(schema: Schema, value: unknown, outer: Policy, path: string): unknown {
  const policy = schema.policy ?? outer;
  if (schema.anyOf) return readAnyOf(schema.anyOf, value, policy, path);
  if ('const' in schema) return value === schema.const ? value : new Broken(path);
  if (schema.enum) return schema.enum.includes(value) ? value : new Broken(path);
  switch (schema.type) {
    case 'object':
      return readObject(schema, value, policy, path);
    case 'array':
      return readList(schema, value, policy, path);
    case 'string':
      return readText(schema, value, policy) ?? new Broken(path);
    case 'number':
    case 'integer':
      return readNumber(schema, value) ?? new Broken(path);
    case 'boolean':
      return typeof value === 'boolean' ? value : new Broken(path);
    case 'null':
      return value === null ? value : new Broken(path);
    default:
      return value;
  }
}

/** Reads a message that was parsed from JSON. */
export function readMessage<T extends TSchema>(schema: T, value: unknown, policy: Policy): Read<Static<T>> {
  const message = readValue(schema as Schema, value, policy, '');
  if (message instanceof Broken) return { ok: false, failure: { code: 'unexpected', path: message.path } };
  return { ok: true, message: message as Static<T> };
}

/** Reads a message from its JSON text. */
export function readJson<T extends TSchema>(schema: T, text: string | undefined, policy: Policy): Read<Static<T>> {
  try {
    return readMessage(schema, JSON.parse(text ?? ''), policy);
  } catch {
    return { ok: false, failure: { code: 'not_json', path: '' } };
  }
}
