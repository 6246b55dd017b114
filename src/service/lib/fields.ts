/**
 * Computes what follows from the table of fields of a noun: the schemas of its record and of its request bodies, the record of a
 * Kubernetes object, and the merge patch of a request. Pure: no I/O, no clock.
 *
 * The types of the table stay static: `recordSchema()` and `bodySchema()` return the schemas that its lines name.
 */
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { nullable } from './schemas.ts';

/** Request bodies that contain a field, and whether it must be given there. */
type Uses = Readonly<Record<string, 'required' | 'optional'>>;
type NoUse = Record<never, never>;

/** A line of the table. */
export interface Field<Output extends TSchema = TSchema, Input extends TSchema = TSchema, In = Uses> {
  /** Schema in the record. */
  output: Output;
  /** Schema in request bodies. */
  input: Input;
  in: In;
  /** Returns the value in the record. */
  read?: (source: never) => Static<Output>;
  /** Returns the merge patch that sets the value, or removes it where it is undefined. */
  write?: (value: never) => object;
  /** Words of the page; `choices` are those of the values of an enum. */
  label?: string;
  choices?: Readonly<Record<string, string>>;
  /** Name of the enum in GraphQL, where it differs from noun and field. */
  graphqlType?: string;
  /** The caller of the reader computes the value, for example from the time. */
  isComputed?: true;
  /** False for a field that lists in GraphQL cannot be filtered by. */
  isFilter?: boolean;
}

/** Options of every line. */
type FieldMore = Pick<Field, 'label' | 'graphqlType' | 'isFilter'>;

export type FieldTable = Readonly<Record<string, Field>>;

/** Value of a property in a resource. */
type Read<Property extends TSchema> = Static<Property> | (Property extends TOptional<TSchema> ? undefined : never);

/** A value whose properties may be null, which removes them. */
type Patch<Value> = { [Key in keyof Value]: Value[Key] | null };

interface FieldOptions<Source, Property extends TSchema, In, Absent, Output extends TSchema, Input extends TSchema>
  extends FieldMore {
  in?: In;
  /** Value in the record while the resource has none. Without it, the default of the resource's schema. */
  absent?: Absent;
  /** Schemas, where they are not that of the resource. */
  output?: Output;
  input?: Input;
  read?: (value: Read<Property>, source: Source) => Static<Output>;
  /** Returns the value in the resource; null removes it. */
  write?: (value: Static<Input>) => Patch<Static<Property>> | null;
  /** Property of the resource that excludes this one: a write removes it. */
  replaces?: string;
  choices?: Readonly<Record<Static<Output> & string, string>>;
}

/** Where fields live in a resource. */
interface Place<Source, Properties extends TProperties> {
  schema: TObject<Properties>;
  get: (source: Source) => object | undefined;
  /** Returns the merge patch of the spec that patches this place. */
  put?: (patch: object) => object;
}

/** Returns a function that declares a field by the property of the resource that holds it: its schema, sentence and default. */
export function fieldsIn<Source, Properties extends TProperties>(place: Place<Source, Properties>) {
  const { schema, get, put = (patch) => patch } = place;
  return <
    Key extends keyof Properties & string,
    const In extends Uses = NoUse,
    Absent = never,
    Output extends TSchema = TUnsafe<Static<Properties[Key]> | Absent>,
    Input extends TSchema = TUnsafe<Static<Properties[Key]>>,
  >(
    key: Key,
    options: FieldOptions<Source, Properties[Key], In, Absent, Output, Input> = {},
  ): Field<Output, Input, In> => {
    const { absent, read, write, replaces, ...own } = options;
    const property = schema.properties[key] as TSchema & { default?: unknown };
    const fallback = absent === undefined ? property.default : absent;
    if (!read && fallback === undefined && Type.IsOptional(property))
      throw new TypeError(`The field ${key} needs a default, or a value for a resource without it.`);
    const plain = omitDefault(property);
    const output = absent === null ? toNullable(plain) : plain;
    return {
      in: {},
      output,
      input: plain,
      ...own,
      read: (source: Source) => {
        const value = (get(source) as Json | undefined)?.[key] ?? fallback;
        return read ? read(value as never, source) : value;
      },
      write: (value: Static<Input> | undefined) => {
        const set = value === undefined ? null : write ? write(value) : value;
        return put({ [key]: set, ...(replaces !== undefined && value !== undefined && { [replaces]: null }) });
      },
    } as unknown as Field<Output, Input, In>;
  };
}

/** Declares a field of the record alone, which `read` reads. */
export const shown = <Source, Output extends TSchema>(
  output: Output,
  read: (source: Source) => Static<Output>,
  more: FieldMore = {},
): Field<Output, Output, NoUse> => ({ output, input: output, in: {}, read, ...more });

/** Declares a field of the record alone, which the caller of the reader computes. */
export const computed = <Output extends TSchema>(output: Output, more: FieldMore = {}) =>
  ({ output, input: output, in: {}, isComputed: true, ...more }) as const;

/** A body that leaves a field out does not set it, so no default is announced. */
function omitDefault(property: TSchema): Sentence {
  const { default: _default, ...plain } = property as TSchema & { default?: unknown };
  return plain;
}

type Sentence = TSchema & { description?: string };

function toNullable({ description, ...schema }: Sentence): TSchema {
  return nullable(schema, description);
}

type RecordProperties<Table extends FieldTable> = { [Key in keyof Table]: Table[Key]['output'] };

/** Fields that a body contains. */
type BodyKeys<Table extends FieldTable, Body extends string> = {
  [Key in keyof Table]: Table[Key]['in'] extends Readonly<Record<Body, string>> ? Key : never;
}[keyof Table];

type BodyProperties<Table extends FieldTable, Body extends string> = {
  [Key in BodyKeys<Table, Body>]: Table[Key]['in'] extends Readonly<Record<Body, 'required'>>
    ? Table[Key]['input']
    : TOptional<Table[Key]['input']>;
};

/** Values that the caller of the reader computes. */
type Computed<Table extends FieldTable> = {
  [Key in keyof Table as Table[Key] extends { isComputed: true } ? Key : never]: Static<Table[Key]['output']>;
};

export function recordSchema<Table extends FieldTable>(
  table: Table,
  options: { title: string },
): TObject<RecordProperties<Table>> {
  const properties = Object.entries(table).map(([name, { output }]) => [name, output]);
  return Type.Object(Object.fromEntries(properties), options) as never;
}

export function bodySchema<Table extends FieldTable, Body extends string>(
  table: Table,
  body: Body,
  options: { title: string; minProperties?: number },
): TObject<BodyProperties<Table, Body>> {
  const properties = listUses(table, body).map(([name, { input, in: uses }]) => [
    name,
    uses[body] === 'required' ? input : Type.Optional(input),
  ]);
  return Type.Object(Object.fromEntries(properties), { ...options, additionalProperties: false }) as never;
}

const listUses = (table: FieldTable, body: string) => Object.entries(table).filter(([, uses]) => uses.in[body]);

/** Returns a function that makes the record of an object; `values` are those of computed fields. */
export function createReader<Table extends FieldTable>(table: Table) {
  const fields = Object.entries(table);
  return (source: unknown, values: Computed<Table>): Static<TObject<RecordProperties<Table>>> =>
    Object.fromEntries(
      fields.map(([name, { read }]) => [name, read ? read(source as never) : values[name as keyof typeof values]]),
    ) as never;
}

/**
 * Returns the merge patch of the spec that a body asks for. Fields that the body leaves out stay as they are, or are removed with
 * `replace`.
 */
export function writeFields<Table extends FieldTable, Body extends string>(
  table: Table,
  body: Body,
  given: Static<TObject<BodyProperties<Table, Body>>>,
  { replace = false } = {},
): object {
  const values = given as Readonly<Record<string, unknown>>;
  return listUses(table, body).reduce<Json>((patch, [name, { write }]) => {
    if (values[name] === undefined && !replace) return patch;
    return mergeJson(patch, write?.(values[name] as never) ?? {});
  }, {});
}

/** Returns the spec that a body asks for. The caller adds what the spec requires beside it. */
export const createSpec = <Spec extends object>(patch: object): Spec => removeNulls(patch) as Spec;

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function mergeJson(first: Json, second: object): Json {
  const merged = Object.entries(second).map(([key, value]) => {
    const before = first[key];
    return [key, isObject(before) && isObject(value) ? mergeJson(before, value) : value];
  });
  return { ...first, ...Object.fromEntries(merged) };
}

const removeNulls = (patch: object): Json =>
  Object.fromEntries(
    Object.entries(patch).flatMap(([key, value]) =>
      value === null ? [] : [[key, isObject(value) ? removeNulls(value) : value]],
    ),
  );
