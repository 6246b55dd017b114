/**
 * Validates requests against their TypeBox schemas, and describes errors in sentences that name the field.
 * Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import Format from 'typebox/format';
import { brokenRule, DISPLAY_NAME, patternSentence, SENTENCES as SHARED } from '../../../core/lib/sentences.ts';
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { isTime } from '../../lib/time.ts';
import { pointerPart } from './json.ts';
import { type Leniency, readLeniently } from './lenient.ts';
import { explainUnions, type SchemaError } from './union-errors.ts';

// The library also accepts times with the suffix of RFC 9557, which neither JavaScript nor Kubernetes can parse.
Format.Set('date-time', isTime);

const ARTICLES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const things = (count: unknown, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** Sentences for the keywords of our schemas; the path precedes them. */
const SENTENCES: Record<string, (params: Record<string, unknown>) => string> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((t) => ARTICLES[String(t)] ?? t)
      .join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).map(String).join(', ')}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${things(limit, 'character')}`),
  maxLength: ({ limit }) => `must have at most ${things(limit, 'character')}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${things(limit, 'entry')}`),
  maxItems: ({ limit }) => `must have at most ${limit === 1 ? '1 entry' : `${limit} entries`}`,
  uniqueItems: () => SHARED.twice,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  maxProperties: ({ limit }) => `must have at most ${limit} fields`,
  minProperties: () => 'must have at least one field',
  pattern: ({ pattern }) => patternSentence(pattern) ?? 'contains characters that are not allowed',
  format: ({ format }) =>
    format === 'date-time' ? 'must be a time such as 2027-01-31T18:00:00Z' : `must be a valid ${format}`,
};

const isInMap = ({ keyword, schemaPath }: SchemaError): boolean =>
  keyword !== 'boolean' && schemaPath.endsWith('/additionalProperties');

/** Returns one error for each field: unknown and missing ones first, then the first problem of each. */
export function fieldErrors(errors: readonly SchemaError[]): FieldError[] {
  const found = new Map<string, string>();
  // A map reports its invalid values as additional properties, too.
  const inMaps = new Set(errors.filter(isInMap).map(({ instancePath }) => instancePath));
  const add = (path: string, message: string) => {
    if (!found.has(path)) found.set(path, message);
  };
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === 'additionalProperties')
      for (const field of params.additionalProperties as string[]) {
        const path = instancePath + pointerPart(field);
        if (!inMaps.has(path)) add(path, 'is not known');
      }
    else if (keyword === 'required')
      for (const field of params.requiredProperties as string[]) add(instancePath + pointerPart(field), 'is required');
  }
  for (const { keyword, instancePath, params } of errors) {
    // An unknown field also reports `boolean` (its schema is `false`), which the lines above cover.
    const sentence = SENTENCES[keyword];
    if (sentence) add(instancePath, sentence(params));
  }
  return [...found].map(([path, message]) => ({ path, message }));
}

type Check = (data: unknown) => { value: unknown } | { error: Error };

const fail = (errors: readonly SchemaError[]): { error: Error } => ({ error: validationFailed(fieldErrors(errors)) });

/**
 * Validates bodies. A value in another form (lenient.ts) is read where the body is not valid as it is. A request without a body (Fastify
 * passes null) counts as an empty object.
 */
export function compileBody(schema: TSchema, leniency: Leniency = 'choices'): Check {
  const validator = Compile(schema);
  return (data) => {
    const value = data ?? {};
    if (validator.Check(value)) return { value };
    const read = readLeniently(schema, value, leniency);
    if (validator.Check(read)) return { value: read };
    const errors = validator.Errors(read) as SchemaError[];
    return { error: validationFailed(explainUnions(schema, read, errors, fieldErrors)) };
  };
}

const isWhole = (given: unknown): boolean =>
  typeof given === 'string' && /^-?\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given));

/** Validates query parameters. It converts text to integers and booleans by the schema, and fills in defaults. */
export function compileParameters(schema: TSchema): Check {
  const validator = Compile(schema);
  const { properties = {} } = schema as { properties?: Record<string, { type?: string; default?: unknown }> };
  const known = Object.entries(properties).map(([name, { type, default: fallback }]) => ({ name, type, fallback }));
  return (data) => {
    const value: Record<string, unknown> = { ...(data as Record<string, unknown>) };
    for (const { name, type, fallback } of known) {
      const given = value[name];
      if (given === undefined && fallback !== undefined) value[name] = fallback;
      // Given once, a parameter of several values is a text.
      if (type === 'array' && typeof given === 'string') value[name] = [given];
      if (type === 'integer' && isWhole(given)) value[name] = Number(given);
      if (type === 'boolean' && (given === 'true' || given === 'false')) value[name] = given === 'true';
    }
    if (validator.Check(value)) return { value };
    const read = readLeniently(schema, value, 'choices');
    return validator.Check(read) ? { value: read } : fail(validator.Errors(read) as SchemaError[]);
  };
}

/** Reports invalid text in any query parameter. */
function textProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(textProblem).find((problem) => problem !== undefined);
  if (typeof value !== 'string') return undefined;
  return value.isWellFormed() ? brokenRule(DISPLAY_NAME, value) : 'must be percent-encoded UTF-8';
}

/** Validates a query (query.ts): its text has no control characters, which no valid value contains. */
export function compileQuery(schema: TSchema): Check {
  const check = compileParameters(schema);
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  return (data) => {
    const errors: FieldError[] = [];
    for (const name of names) {
      const message = textProblem((data as Record<string, unknown>)[name]);
      if (message !== undefined) errors.push({ path: pointerPart(name), message });
    }
    return errors.length > 0 ? { error: validationFailed(errors) } : check(data);
  };
}
