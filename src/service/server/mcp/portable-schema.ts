/**
 * Builds schemas of tools that all common clients take. Some model providers refuse every request when one tool has an enum
 * without a type, or one that mixes strings and numbers (Gemini), or keywords that they do not know (`uniqueItems`, by strict modes).
 * REST's own schemas validate the arguments, so nothing is lost. Pure: no I/O, no clock.
 */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords that some clients refuse, and forms of texts, which agents seldom need. The server checks each of them itself. */
const UNPORTABLE: ReadonlySet<string> = new Set([
  'minLength',
  'maxLength',
  'pattern',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'title',
]);
/** In results the names and types say enough: the rest would be two thirds of the list that each conversation begins with. */
const WORDS: ReadonlySet<string> = new Set([
  ...UNPORTABLE,
  ...['description', 'required', 'enum', 'format', 'default'],
  ...['minimum', 'maximum', 'minItems', 'maxItems'],
]);

/** The values of an enum as texts, with their type: a number is one of the texts, too. */
function typeEnum({ enum: values, ...schema }: Json): Json {
  if (!Array.isArray(values)) return schema;
  return { type: 'string', enum: [...new Set(values.map(String))], ...schema };
}

/** Splits `anyOf` of one schema and null. */
function splitNull({ anyOf, ...rest }: Json): { one: Json; rest: Json } | undefined {
  const [one, none, ...more] = Array.isArray(anyOf) ? anyOf : [];
  return isObject(one) && isObject(none) && none.type === 'null' && more.length === 0 ? { one, rest } : undefined;
}

/** An argument that may be null may be left out as well, so null is not listed: some clients refuse it. */
function leaveNullOut(schema: Json): Json {
  const { one, rest } = splitNull(schema) ?? {};
  return one ? { ...one, ...rest } : schema;
}

/** A value or null, in the short form: keywords of objects and lists say nothing of null. */
function shortenNull(schema: Json): Json {
  const { one, rest } = splitNull(schema) ?? {};
  if (!one || typeof one.type !== 'string') return schema;
  return { ...one, type: [one.type, 'null'], ...rest };
}

interface Dialect {
  without: ReadonlySet<string>;
  /** Whether the values of maps are listed. */
  describesMaps: boolean;
  /** Rewrites a schema that may allow null. */
  readNull: (schema: Json) => Json;
}

function simplify(schema: unknown, dialect: Dialect): unknown {
  if (Array.isArray(schema)) return schema.map((one) => simplify(one, dialect));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(typeEnum(schema)).flatMap(([keyword, value]): [string, unknown][] => {
    // The names of properties are no keywords.
    if (keyword === 'properties' && isObject(value))
      return [
        [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, simplify(one, dialect)]))],
      ];
    // Of a map, the type of its values says enough.
    if (keyword === 'additionalProperties' && isObject(value))
      return dialect.describesMaps ? [[keyword, { type: value.type }]] : [];
    return dialect.without.has(keyword) ? [] : [[keyword, keyword === 'default' ? value : simplify(value, dialect)]];
  });
  return dialect.readNull(Object.fromEntries(entries));
}

const INPUT: Dialect = { without: UNPORTABLE, describesMaps: true, readNull: leaveNullOut };
const OUTPUT: Dialect = { without: WORDS, describesMaps: false, readNull: shortenNull };

export const toPortableInput = (schema: unknown): unknown => simplify(schema, INPUT);

/** Objects inside each other whose fields a result lists. Records of lists have one around them. */
const LISTED_DEPTH = 2;

/** Leaves out the fields of objects that lie deeper: clients see them in the result itself. */
function limitDepth(schema: unknown, depth = LISTED_DEPTH): unknown {
  if (Array.isArray(schema)) return schema.map((one) => limitDepth(one, depth));
  if (!isObject(schema)) return schema;
  const { properties, ...rest } = schema;
  const others = Object.entries(rest).map(([keyword, value]) => [keyword, limitDepth(value, depth)]);
  if (!isObject(properties)) return Object.fromEntries(others);
  if (depth === 0) return Object.fromEntries(others.filter(([keyword]) => keyword !== 'additionalProperties'));
  const fields = Object.entries(properties).map(([name, one]) => [name, limitDepth(one, depth - 1)]);
  return { ...Object.fromEntries(others), properties: Object.fromEntries(fields) };
}

/** With `isListedElsewhere`, another tool lists what is inside the fields of the record. */
export const toPortableOutput = (schema: unknown, isListedElsewhere = false): unknown =>
  limitDepth(simplify(schema, OUTPUT), isListedElsewhere ? 1 : LISTED_DEPTH);
