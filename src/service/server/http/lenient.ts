/**
 * Understands values that clients send in another form than their schema asks for: `30` or `F_30` among the choices of a text, and from
 * agents a number in the place of a text, or the reverse. Only values that have one meaning are read so. Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';

interface JsonSchema {
  type?: string;
  enum?: readonly unknown[];
  anyOf?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  items?: JsonSchema;
  format?: string;
}

/** `choices`: only texts with choices. `all`: numbers, texts, lists and objects in the place of each other too. */
export type Leniency = 'choices' | 'all';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A whole number that JSON carries exactly, as its digits. A longer one has lost some on its way. */
const asDigits = (value: unknown): string | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;

const isDigits = (text: string): boolean => /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));

/** Reads a choice of digits and a unit: `q_1080p` and `1080p` are one in two spellings. */
function spell(choice: unknown): { word: string; digits: string } | undefined {
  const [, word, digits] = /^(?:[a-z]_)?((\d+)[a-z]?)$/.exec(String(choice)) ?? [];
  return word !== undefined && digits !== undefined ? { word, digits } : undefined;
}

/** Returns the choice that a value means: in another case, or by its digits alone. Undefined where none or several could be meant. */
export function findChoice(choices: readonly unknown[], given: unknown): unknown {
  const text = typeof given === 'string' ? given.trim() : asDigits(given);
  if (text === undefined || text === '') return undefined;
  const lower = text.toLowerCase();
  const same = choices.find((choice) => String(choice).toLowerCase() === lower);
  if (same !== undefined) return same;
  const meant = choices.filter((choice) => {
    const { word, digits } = spell(choice) ?? {};
    return word === lower || digits === lower;
  });
  return new Set(meant.map((choice) => spell(choice)?.word)).size === 1 ? meant[0] : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads a value that has another type than the schema's. */
function convert({ type, format, items }: JsonSchema, value: unknown): unknown {
  if (type === 'string' && format === undefined) return asDigits(value) ?? value;
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if ((type === 'integer' || type === 'number') && isDigits(text)) return Number(text);
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : value);
  if (type === 'object' && text.startsWith('{')) return parseJson(text) ?? value;
  if (type !== 'array') return value;
  return text.startsWith('[') ? (parseJson(text) ?? value) : items?.type === 'string' ? [value] : value;
}

/** Returns the value as the schema asks for it, as far as it is understood. Not validated. */
export function readLeniently(schema: TSchema, value: unknown, leniency: Leniency): unknown {
  const { enum: choices, anyOf, items, properties } = schema as JsonSchema;
  if (choices) return choices.includes(value) ? value : (findChoice(choices, value) ?? value);
  if (anyOf) {
    if (anyOf.some((one) => Value.Check(one as TSchema, value))) return value;
    const read = anyOf.map((one) => readLeniently(one as TSchema, value, leniency));
    const match = read.findIndex((one, index) => Value.Check(anyOf[index] as TSchema, one));
    return match === -1 ? value : read[match];
  }
  const converted = leniency === 'all' ? convert(schema as JsonSchema, value) : value;
  if (items && Array.isArray(converted)) return converted.map((one) => readLeniently(items as TSchema, one, leniency));
  if (!properties || !isObject(converted)) return converted;
  const entries = Object.entries(converted).map(([name, one]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, field ? readLeniently(field as TSchema, one, leniency) : one];
  });
  return Object.fromEntries(entries);
}
