/**
 * Adapts schemas for client generators: named objects and enums become components with one type each, values of an enum have one
 * type, and integers declare their width. Pure: no I/O, no clock.
 */
import type { Json } from './document.ts';

const INT32 = 2 ** 31 - 1;
/** Keys that stay beside a reference. */
const BESIDE = ['description', 'default'];

const referTo = (name: string, schema: Json): Json => ({
  $ref: `#/components/schemas/${name}`,
  ...Object.fromEntries(BESIDE.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]])),
});

/** Returns `value` with each schema adapted; named ones move to `schemas`. */
export function shapeSchemas(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((entry) => shapeSchemas(entry, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const object: Json = Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, shapeSchemas(entry, schemas)]),
  );
  if (Array.isArray(object.enum)) return shapeEnum(object, object.enum, schemas);
  if (object.type === 'integer') return { ...object, format: object.format ?? findWidth(object) };
  // Other titled objects, such as the document's `info`, have no type.
  if (typeof object.title !== 'string' || object.type !== 'object') return object;
  schemas[object.title] = object;
  return { $ref: `#/components/schemas/${object.title}` };
}

function shapeEnum(schema: Json, values: readonly unknown[], schemas: Record<string, Json>): Json {
  const [texts, numbers] = ['string', 'number'].map((type) => values.filter((value) => typeof value === type));
  if (texts?.length && numbers?.length) {
    const { enum: _both, title, ...rest } = schema;
    const anyOf = [shapeEnum({ enum: texts, title }, texts, schemas), shapeEnum({ enum: numbers }, numbers, schemas)];
    return { ...rest, anyOf };
  }
  const type = texts?.length ? 'string' : 'integer';
  if (typeof schema.title !== 'string') return { type, ...(type === 'integer' && { format: 'int32' }), ...schema };
  const name = schema.title;
  const known = schemas[name]?.enum as unknown[] | undefined;
  if (known && known.join() !== values.join()) throw new Error(`Two enums have the name ${name}.`);
  schemas[name] = { type, title: name, enum: values };
  return referTo(name, schema);
}

/**
 * Names the values of named enums for languages that have one namespace for all of them (openapi-generator's Go has `const FAILED`). If
 * another enum shares a value's name, all values of this enum get its name as a prefix. An enum that has all values of the other, and more,
 * keeps its own: it was there first, since a request accepts more than an answer has.
 */
export function nameValues(schemas: Record<string, Json>): void {
  const nameValue = (value: unknown) => String(value).toUpperCase();
  const enums = Object.entries(schemas).filter(([, schema]) => Array.isArray(schema.enum));
  for (const [name, schema] of enums) {
    const values = schema.enum as unknown[];
    const others = enums.flatMap(([other, theirs]) => {
      const names = (theirs.enum as unknown[]).map(nameValue);
      const isPart = names.length < values.length && names.every((one) => values.map(nameValue).includes(one));
      return other === name || isPart ? [] : names;
    });
    if (!values.some((value) => others.includes(nameValue(value)))) continue;
    const prefix = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
    schema['x-enum-varnames'] = values.map((value) => `${prefix}_${nameValue(value)}`);
  }
}

/** An integer without bounds may be as large as a byte count. */
const findWidth = ({ minimum = 0, maximum = Number.POSITIVE_INFINITY }: Json): 'int32' | 'int64' =>
  Number(maximum) <= INT32 && Number(minimum) >= -INT32 ? 'int32' : 'int64';
