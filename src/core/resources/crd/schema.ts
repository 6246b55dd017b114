/**
 * Converts a TypeBox type to a structural schema, the subset of OpenAPI that a CustomResourceDefinition takes: every
 * node has a type, there are no unions and no references. Pure: no I/O, no clock.
 *
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
import type { TSchema } from 'typebox';

/** A CEL rule; `message` is what `kubectl apply` shows when it is broken. */
export interface CelRule {
  rule: string;
  message: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired';
  /** The path that the message points to when it is not the node itself, e.g. `.endAt`. */
  fieldPath?: string;
  /** The rule is evaluated at creation too; `oldSelf` is then an optional without a value. */
  optionalOldSelf?: boolean;
}

export interface Structural {
  type: string;
  description?: string;
  properties?: Record<string, Structural>;
  required?: string[];
  items?: Structural;
  additionalProperties?: Partial<Structural>;
  maxProperties?: number;
  enum?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-validations'?: CelRule[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** Keywords that are copied unchanged. Every other keyword of a type is either handled below or refused. */
const KEPT = [
  'description',
  'default',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  // A map: what its values are is written as a structural schema already.
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
] as const;
const HANDLED = new Set<string>([...KEPT, 'type', 'enum', 'const', 'properties', 'required', 'items', '$id', 'title']);

/** `path` only serves the message of the error that a type with no structural counterpart gives. */
export function toStructural(type: TSchema, path = 'schema'): Structural {
  const source = type as unknown as Record<string, unknown>;
  const strange = Object.keys(source).filter((key) => !HANDLED.has(key));
  if (strange.length > 0) throw new TypeError(`${path}: ${strange.join(', ')} has no place in a structural schema.`);
  const schema: Structural = { type: readType(source, path) };
  for (const key of KEPT) if (source[key] !== undefined) Object.assign(schema, { [key]: source[key] });
  if (source.const !== undefined) schema.enum = [source.const];
  if (Array.isArray(source.enum)) schema.enum = [...source.enum];
  if (source.properties) {
    const properties = Object.entries(source.properties as Record<string, TSchema>);
    schema.properties = Object.fromEntries(properties.map(([k, v]) => [k, toStructural(v, `${path}.${k}`)]));
    // Kubernetes fills in defaults before it validates, so a user need not give these fields: an editor should not ask
    // for them.
    const required = ((source.required as string[] | undefined) ?? []).filter(
      (name) => schema.properties?.[name]?.default === undefined,
    );
    if (required.length > 0) schema.required = required;
  }
  if (source.items) schema.items = toStructural(source.items as TSchema, `${path}[]`);
  return schema;
}

function readType(source: Record<string, unknown>, path: string): string {
  if (typeof source.type === 'string') return source.type;
  const values = Array.isArray(source.enum) ? source.enum : source.const === undefined ? [] : [source.const];
  const types = new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)));
  const [only] = types;
  if (types.size !== 1 || only === undefined) throw new TypeError(`${path}: a structural schema needs one type.`);
  return only;
}

/** Additions that a TypeBox type has no words for, by path: `spec.items[].uploadName`. */
export type Additions = Record<
  string,
  Pick<
    Structural,
    'x-kubernetes-list-type' | 'x-kubernetes-list-map-keys' | 'x-kubernetes-map-type' | 'x-kubernetes-validations'
  >
>;

/** Puts the additions in; '' is the root. Throws when a path leads nowhere, so that a renamed field does not lose its rule. */
export function decorate(root: Structural, additions: Additions): Structural {
  const copy = structuredClone(root);
  for (const [path, addition] of Object.entries(additions)) {
    let node: Structural | undefined = copy;
    for (const step of path === '' ? [] : path.split('.')) {
      const name = step.replace('[]', '');
      node = node?.properties?.[name];
      if (step.endsWith('[]')) node = node?.items;
    }
    if (!node) throw new TypeError(`There is no ${path} to add ${Object.keys(addition).join(', ')} to.`);
    Object.assign(node, addition);
  }
  return copy;
}
