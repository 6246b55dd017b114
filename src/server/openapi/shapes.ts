/**
 * Adapts schemas for client generators: named objects and enums become components with one type each, values of an enum have one
 * type, and integers declare their width. Pure: no I/O, no clock.
 */
import { ACCOUNT_CLASSES } from '../../settings/limits.ts';
import type { Json } from './document.ts';

/** Names of enums that appear in several places. A place names an enum that appears once. */
const ENUMS: Record<string, readonly string[]> = {
  AccountClass: ACCOUNT_CLASSES,
  ComponentState: ['ok', 'unavailable'],
  FramerateText: ['f_24', 'f_25', 'f_30', 'f_60', '24', '25', '30', '60'],
  InvoiceKind: ['invoice', 'credit_note'],
  MediaKind: ['video', 'audio'],
  OnItemFailure: ['Skip', 'Block'],
  PlaylistMode: ['sequential', 'shuffle'],
  PreparationState: ['preparing', 'ready', 'failed'],
  QualityText: ['q_720p', 'q_1080p', 'q_1440p', 'q_2160p', '720p', '1080p', '1440p', '2160p'],
  StreamStart: ['Progressive', 'Prepared'],
  StreamStatus: [
    'idle',
    'scheduled',
    'waiting',
    'starting',
    'live',
    'reconnecting',
    'stopping',
    'stopped',
    'ended',
    'failed',
  ],
  UploadType: ['VIDEO', 'AUDIO'],
  UsageGroup: ['day', 'stream'],
};
const NAMES = new Map(Object.entries(ENUMS).map(([name, values]) => [values.join(), name]));

/**
 * Some languages have one namespace for the values of all enums (openapi-generator's Go has `const FAILED`). If another enum shares
 * a value's name, all values of this enum get its name as a prefix.
 */
function nameVariables(name: string, values: readonly unknown[]): Json {
  const nameValue = (value: unknown) => String(value).toUpperCase();
  const others = Object.entries(ENUMS).flatMap(([other, theirs]) => (other === name ? [] : theirs.map(nameValue)));
  if (!values.some((value) => others.includes(nameValue(value)))) return {};
  const prefix = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  return { 'x-enum-varnames': values.map((value) => `${prefix}_${nameValue(value)}`) };
}

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
    const { enum: _both, ...rest } = schema;
    return {
      ...rest,
      anyOf: [shapeEnum({ enum: texts }, texts, schemas), shapeEnum({ enum: numbers }, numbers, schemas)],
    };
  }
  const type = texts?.length ? 'string' : 'integer';
  const shaped = { type, ...(type === 'integer' && { format: 'int32' }), ...schema };
  const name = NAMES.get(values.join());
  if (name === undefined) return shaped;
  schemas[name] = { type, title: name, enum: values, ...nameVariables(name, values) };
  return referTo(name, schema);
}

/** An integer without bounds may be as large as a byte count. */
const findWidth = ({ minimum = 0, maximum = Number.POSITIVE_INFINITY }: Json): 'int32' | 'int64' =>
  Number(maximum) <= INT32 && Number(minimum) >= -INT32 ? 'int32' : 'int64';
