/**
 * Builds schemas of tools that all common clients take. Some model providers refuse every request when one tool has an enum
 * without a type, or one that mixes strings and numbers (Gemini), or keywords that they do not know (`uniqueItems`, by strict modes).
 * REST's own schemas validate the arguments, so nothing is lost. Pure: no I/O, no clock.
 */

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords that some clients refuse; the server checks each of them itself. */
const UNPORTABLE: ReadonlySet<string> = new Set(['uniqueItems', 'minProperties', 'title']);
/** In results the names and types say enough: the rest would be two thirds of the list that each conversation begins with. */
const WORDS: ReadonlySet<string> = new Set([
  ...UNPORTABLE,
  ...['description', 'required', 'pattern', 'minLength', 'maxLength'],
]);

/** The values of an enum as texts, with their type: a number is one of the texts, too. */
function typeEnum({ enum: values, ...schema }: Json): Json {
  if (!Array.isArray(values)) return schema;
  return { type: 'string', enum: [...new Set(values.map(String))], ...schema };
}

function simplify(schema: unknown, without: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => simplify(one, without));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(typeEnum(schema)).flatMap(([keyword, value]): [string, unknown][] => {
    // The names of properties are no keywords.
    if (keyword === 'properties' && isObject(value))
      return [
        [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, simplify(one, without)]))],
      ];
    return without.has(keyword) ? [] : [[keyword, keyword === 'default' ? value : simplify(value, without)]];
  });
  return Object.fromEntries(entries);
}

export const toPortableInput = (schema: unknown): unknown => simplify(schema, UNPORTABLE);
export const toPortableOutput = (schema: unknown): unknown => simplify(schema, WORDS);
