/**
 * Compares two schemas of the same place in two descriptions (JSON Schema 2020-12, the part of it that the API uses): a
 * request may only become wider, an answer must keep what it has. Pure: no I/O, no clock.
 */
import type { Json, OpenApi } from '../../src/service/server/openapi/document.ts';

/** `at`: the JSON pointer of a field, `*` for any entry of a list; empty for the whole. */
export interface Break {
  at: string;
  text: string;
}

export type Side = 'request' | 'response';

export interface Place {
  schema: Json;
  /** The document that references lead into. */
  doc: OpenApi;
}

/** One way to be valid: a schema without references and unions. `rules` are those that are about several fields. */
interface Alternative {
  kind: string;
  schema: Json;
  rules: string[];
  doc: OpenApi;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const record = (value: unknown): Record<string, Json> => (value ?? {}) as Record<string, Json>;

function resolve({ schema, doc }: Place): Json {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref ?? ''))?.[1];
  return name === undefined ? schema : resolve({ schema: doc.components.schemas[name] ?? {}, doc });
}

const getKind = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** Returns the members of a union; `any` for a schema without a type. */
function alternatives(place: Place): Alternative[] {
  const { doc } = place;
  const { allOf, ...own } = resolve(place);
  const parts = list(allOf).map((part) => resolve({ schema: part as Json, doc }));
  const isRule = (part: Json) => part.type === undefined && part.enum === undefined && part.properties === undefined;
  const schema = parts.filter((part) => !isRule(part)).reduce(both, own);
  const rules = parts.filter(isRule).map((part) => JSON.stringify(part));
  const union = list(schema.anyOf ?? schema.oneOf) as Json[];
  if (union.length > 0) return union.flatMap((part) => alternatives({ schema: part, doc }));
  const values = schema.const === undefined ? list(schema.enum) : [schema.const];
  const kinds = schema.type === undefined ? [...new Set(values.map(getKind))] : [schema.type].flat().map(String);
  return (kinds.length === 0 ? ['any'] : kinds).map((kind) => ({ kind, schema, rules, doc }));
}

/** Merges the requirements of both. */
const both = (a: Json, b: Json): Json => ({
  ...a,
  ...b,
  properties: { ...record(a.properties), ...record(b.properties) },
  required: [...list(a.required), ...list(b.required)],
});

const covers = (wide: string, narrow: string): boolean =>
  wide === narrow || wide === 'any' || (wide === 'number' && narrow === 'integer');

/** Lists the parts of `before` that `after` breaks. */
export function compareSchemas(before: Place, after: Place, side: Side, at = '', seen = ''): Break[] {
  // A schema that refers to itself is compared once.
  const step = ` ${String(before.schema.$ref ?? '')}>`;
  if (before.schema.$ref !== undefined && seen.includes(step)) return [];
  const [old, now] = [alternatives(before), alternatives(after)];
  const [all, allowed] = side === 'request' ? [old, now] : [now, old];
  const verb = side === 'request' ? 'can no longer be' : 'can now be';
  return all.flatMap((one) => {
    const exact = allowed.filter(({ kind }) => kind === one.kind);
    const matches = exact.length > 0 ? exact : allowed.filter(({ kind }) => covers(kind, one.kind));
    if (matches.length === 0) return [{ at, text: `${verb} ${one.kind === 'any' ? 'anything' : one.kind}` }];
    // Compares with the most similar object of a union.
    const found = matches.map((match) => {
      const [a, b] = side === 'request' ? [one, match] : [match, one];
      return [...valueBreaks(a, b, side, at), ...partBreaks(a, b, side, at, seen + step)];
    });
    return found.reduce((least, breaks) => (breaks.length < least.length ? breaks : least));
  });
}

const listValues = ({ kind, schema }: Alternative): unknown[] | undefined =>
  (schema.const === undefined ? (schema.enum as unknown[] | undefined) : [schema.const])?.filter((value) =>
    covers(kind, getKind(value)),
  );

function valueBreaks(old: Alternative, now: Alternative, side: Side, at: string): Break[] {
  const [was, is] = [listValues(old), listValues(now)];
  const breaks = (texts: string[]) => texts.map((text) => ({ at, text }));
  if (was && is)
    return breaks(was.filter((v) => !is.includes(v)).map((v) => `no longer has the value ${JSON.stringify(v)}`));
  if (side === 'response') return breaks(was ? ['is no longer an enum'] : formatBreaks(old, now, side));
  if (is) return breaks(['is now an enum']);
  return breaks([...boundBreaks(old, now), ...formatBreaks(old, now, side)]);
}

function formatBreaks(old: Alternative, now: Alternative, side: Side): string[] {
  return ['format', 'pattern'].flatMap((keyword) => {
    const [was, is] = [old.schema[keyword], now.schema[keyword]];
    const worse = side === 'request' ? is !== undefined && is !== was : was !== undefined && is !== was;
    return worse && (side === 'request' || keyword === 'format') ? [`has a different ${keyword}`] : [];
  });
}

const LOWER = ['minLength', 'minItems', 'minimum', 'exclusiveMinimum', 'minProperties'];
const UPPER = ['maxLength', 'maxItems', 'maximum', 'exclusiveMaximum', 'maxProperties'];

/** Bounds that are tighter; of no bound at all, each new one is. */
function boundBreaks(old: Alternative, now: Alternative): string[] {
  const value = (alternative: Alternative, keyword: string, none: number) =>
    (alternative.schema[keyword] as number | undefined) ?? none;
  const tighter = [
    ...LOWER.filter((k) => value(now, k, -Infinity) > value(old, k, -Infinity)),
    ...UPPER.filter((k) => value(now, k, Infinity) < value(old, k, Infinity)),
    ...(now.schema.uniqueItems && !old.schema.uniqueItems ? ['uniqueItems'] : []),
  ];
  return [
    ...tighter.map((keyword) => `has a tighter ${keyword}`),
    ...(now.rules.some((rule) => !old.rules.includes(rule)) ? ['has a new rule'] : []),
  ];
}

function partBreaks(old: Alternative, now: Alternative, side: Side, at: string, seen: string): Break[] {
  const compare = (a: Json, b: Json, name: string) =>
    compareSchemas({ schema: a, doc: old.doc }, { schema: b, doc: now.doc }, side, `${at}/${name}`, seen);
  if (old.kind === 'array') return compare(record(old.schema).items ?? {}, record(now.schema).items ?? {}, '*');
  if (old.kind !== 'object') return [];
  const [was, is] = [record(old.schema.properties), record(now.schema.properties)];
  const [wasRequired, isRequired] = [list(old.schema.required), list(now.schema.required)];
  const closed = now.schema.additionalProperties === false;
  const breaks = (names: string[], text: string) => names.map((name) => ({ at: `${at}/${name}`, text }));
  const gone = Object.keys(was).filter((name) => !Object.hasOwn(is, name));
  const shared = Object.keys(was).filter((name) => Object.hasOwn(is, name));
  const inShared = shared.flatMap((name) => compare(was[name] ?? {}, is[name] ?? {}, name));
  if (side === 'response') {
    const optional = shared.filter((name) => wasRequired.includes(name) && !isRequired.includes(name));
    return [...breaks(gone, 'was removed'), ...breaks(optional, 'may now be missing'), ...inShared];
  }
  const required = (isRequired as string[]).filter((name) => !wasRequired.includes(name));
  const newlyClosed = closed && old.schema.additionalProperties !== false;
  return [
    ...breaks(closed ? gone : [], 'is no longer accepted'),
    ...breaks(required, 'is required now'),
    ...(newlyClosed ? [{ at, text: 'no longer accepts other fields' }] : []),
    ...inShared,
  ];
}
