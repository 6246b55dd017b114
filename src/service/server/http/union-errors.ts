/**
 * Explains errors in a union of objects that one field tells apart, such as `op` of playlist changes, or of a value and null. It reports
 * the errors of the intended one only, not those of the others. Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { FieldError } from '../../lib/errors.ts';
import { pointerPart } from './json.ts';

export interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Record<string, unknown>;
}

interface ObjectSchema extends TSchema {
  type?: string;
  properties?: Record<string, { enum?: unknown[] }>;
}

interface Place {
  /** JSON pointer to the value. */
  path: string;
  among: ObjectSchema[];
  value: unknown;
}

// linear-time: the paths are those of our own schemas.
const IN_UNION = /^#(.*?\/anyOf)\/\d+(.*)$/;

const at = (root: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? value[name as never]
        : undefined;
    }, root);

/** Returns the field whose value is constant in each object and different between them. */
function findDiscriminator(among: readonly ObjectSchema[]): string | undefined {
  const [first] = among;
  return Object.keys(first?.properties ?? {}).find((name) => {
    const values = among.map(({ properties }) => properties?.[name]?.enum);
    return values.every((one) => one?.length === 1) && new Set(values.flat()).size === among.length;
  });
}

/** Returns the union's value that an error concerns; deeper errors add nothing. */
function findPlace({ instancePath, schemaPath }: SchemaError, schema: TSchema, value: unknown): Place | undefined {
  const [, union, inside = ''] = IN_UNION.exec(schemaPath) ?? [];
  if (union === undefined || !/^(\/properties\/[^/]+)?$/.test(inside)) return undefined;
  const path = inside === '' ? instancePath : instancePath.slice(0, instancePath.lastIndexOf('/'));
  return { path, among: at(schema, union) as ObjectSchema[], value: at(value, path) };
}

/** Returns the one schema that is not null; undefined where there are several. */
function findBesideNull(among: readonly ObjectSchema[]): ObjectSchema | undefined {
  const [one, ...others] = among.filter(({ type }) => type !== 'null');
  return others.length === 0 && among.length === 2 ? one : undefined;
}

/** Returns the errors of one value; undefined if its object in the union is unclear. */
function explainUnion(
  { path, among, value }: Place,
  describe: (errors: SchemaError[]) => FieldError[],
): FieldError[] | undefined {
  const describeAs = (intended: TSchema) =>
    describe(Value.Errors(intended, value) as SchemaError[]).map((error) => ({ ...error, path: path + error.path }));
  const beside = findBesideNull(among);
  if (beside) return describeAs(beside);
  const field = findDiscriminator(among);
  if (field === undefined) return undefined;
  const given = at(value, `/${field}`);
  const meant = among.find(({ properties }) => properties?.[field]?.enum?.[0] === given);
  const allowedValues = among.map(({ properties }) => properties?.[field]?.enum?.[0]);
  const nobody = { type: 'object', required: [field], properties: { [field]: { enum: allowedValues } } };
  return describeAs((meant ?? nobody) as TSchema);
}

/** Describes all errors. `describe` does so for those outside of unions. */
export function explainUnions(
  schema: TSchema,
  value: unknown,
  errors: readonly SchemaError[],
  describe: (errors: readonly SchemaError[]) => FieldError[],
): FieldError[] {
  const places = new Map<string, Place>();
  for (const error of errors) {
    const place = findPlace(error, schema, value);
    if (place) places.set(place.path, place);
  }
  const found = [...places.values()].flatMap((place) => {
    const sentences = explainUnion(place, describe);
    return sentences ? [{ path: place.path, sentences }] : [];
  });
  const isTold = ({ instancePath, schemaPath }: SchemaError) =>
    IN_UNION.test(schemaPath) &&
    found.some(({ path }) => instancePath === path || instancePath.startsWith(`${path}${pointerPart('')}`));
  return [...describe(errors.filter((error) => !isTold(error))), ...found.flatMap(({ sentences }) => sentences)];
}
