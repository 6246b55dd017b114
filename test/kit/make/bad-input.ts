/**
 * Derives every wrong request from the API's description: for each operation, each parameter and each field of its body, one at a time,
 * with everything else valid.
 */

import { pointerPart } from '../../../src/service/server/http/json.ts';
import type { Json, OpenApi, OperationObject } from '../../../src/service/server/openapi/document.ts';
import { isForPerson } from '../../../src/service/server/operations/scopes.ts';

export interface BadRequest {
  /** `POST /v1/streams: /name is 5`. */
  what: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** The operation takes a person's session; a key is refused before any other check. */
  byPerson: boolean;
  /** The expected status and code. Without a code any 4xx passes. */
  status?: number;
  code?: string;
  /** For 422: a field that `errors` must name, or a part of it. */
  field?: string;
}

export type Schema = Json & {
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  enum?: unknown[];
  anyOf?: Schema[];
};

/** Raw JSON for values that JSON.stringify cannot write. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'x y', ''];
const TEXTS = { control: 'a\u0000b', escape: '\u001b[2J', delete: 'a\u007f', escapeInOne: '\u009b2J' };
const HALVES = ['"\\ud83d"', '"x\\udc00y"', '"\\udc00\\ud83d"'];
const NUMBERS = ['1e999', '-1e999', '9007199254740993', '1e308', '0.1', '-1', '123456789012345678901234567890'];
const TIMES = ['noon', '', '2027-01-31', '2027-02-30T18:00:00Z', '2027-01-31T18:00:00', '2027-01-31T24:00:01Z'].concat([
  '2027-01-31T18:00:00Z[Europe/Berlin]',
  '2027-12-31T23:59:60Z',
  '\u0662\u0660\u0662\u0667-01-31T18:00:00Z',
]);
const deep = (depth: number) => new Raw('['.repeat(depth) + ']'.repeat(depth));

const listTypes = ({ type, enum: among }: Schema): string[] =>
  type !== undefined
    ? [type].flat().map(String)
    : (among ?? []).map((value) => (typeof value === 'number' ? 'integer' : typeof value));

/** Returns values that a schema refuses. */
function wrongValues(schema: Schema): unknown[] {
  const types = listTypes(schema);
  const takes = (type: string) => types.includes(type);
  const wrong: unknown[] = [null, deep(40), ...HALVES.map((text) => new Raw(text))];
  if (!takes('boolean')) wrong.push(true);
  if (!takes('array')) wrong.push([], [[]]);
  if (!takes('object')) wrong.push({}, new Raw('{"__proto__":[]}'));
  if (!takes('integer') && !takes('number')) wrong.push(12.5, -1, new Raw('1e999'));
  if (!takes('string')) wrong.push('text', '', '5');
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems, pattern, format } = schema;
  if (schema.enum) wrong.push('nothing', '', '__proto__', ...(takes('integer') ? [31, -1] : []));
  else if (takes('string')) {
    if (typeof maxLength === 'number') wrong.push('x'.repeat(maxLength + 1), '\u{1f600}'.repeat(maxLength + 1));
    if (typeof minLength === 'number' && minLength > 0) wrong.push('x'.repeat(minLength - 1));
    if (pattern !== undefined) wrong.push(...Object.values(TEXTS));
    if (format === 'date-time') wrong.push(...TIMES);
  } else if (takes('integer')) {
    if (typeof maximum === 'number') wrong.push(new Raw(String(BigInt(maximum) + 1n)), new Raw('1e308'));
    if (typeof minimum === 'number') wrong.push(minimum - 1);
    wrong.push(1.5, ...['1e999', '-1e999', '0.1'].map((text) => new Raw(text)));
  }
  if (takes('array') && schema.items) {
    const item = listTypes(schema.items).includes('object') ? {} : 'x';
    if (typeof maxItems === 'number') wrong.push(Array(maxItems + 1).fill(item));
    if (typeof minItems === 'number' && minItems > 0) wrong.push([]);
    if (uniqueItems) wrong.push(['x', 'x']);
  }
  return wrong;
}

/** A body with one mistake: its text, and the mistake's place. */
export interface Wrong {
  text: string;
  field: string;
  what: string;
}

/** Writes JSON, with each Raw value as it is. */
export function writeJson(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, entry]) => entry !== undefined)
    .map(([name, entry]) => `${JSON.stringify(name)}:${writeJson(entry)}`)
    .join(',')}}`;
}

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}… (${text.length})` : text);

/**
 * Returns a valid member of a union of objects, which differ by their `op`, with the fields of another member's example where they match.
 */
function buildValid({ properties = {} }: Schema, example: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(properties).map(([name, { enum: among, minimum }]) => [
    name,
    among?.[0] ?? example[name] ?? minimum ?? 0,
  ]);
  return Object.fromEntries(entries);
}

/** The schema of the values that are not null, and whether null is one too. */
function readNullable(schema: Schema): { schema: Schema; takesNull: boolean } {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = others;
  const takesNull = others.length !== (schema.anyOf?.length ?? 0);
  return only && takesNull && others.length === 1 ? { schema: only, takesNull } : { schema, takesNull };
}

/** `put` makes a whole body from the value at `field`. */
export function listWrongValues(given: Schema, good: unknown, field: string, put: (value: unknown) => string): Wrong[] {
  const wrong = (value: unknown, at = field): Wrong => ({
    text: put(value),
    field: at,
    what: `${at || 'body'} is ${short(writeJson(value))}`,
  });
  const { schema, takesNull } = readNullable(given);
  const values = wrongValues(schema).filter((value) => value !== null || !takesNull);
  const found = field === '' ? [] : values.map((value) => wrong(value));
  if (schema.properties) {
    const object = (good ?? {}) as Record<string, unknown>;
    const entries = Object.entries(object);
    const raw = (more: string) =>
      new Raw(`{${[...entries.map(([k, v]) => `${JSON.stringify(k)}:${writeJson(v)}`), more].join(',')}}`);
    for (const name of NAMES)
      found.push({
        ...wrong(raw(`${JSON.stringify(name)}:1`), field + pointerPart(name)),
        what: `${field} has ${name}`,
      });
    for (const [name, value] of entries) {
      const again = wrong(raw(`${JSON.stringify(name)}:${writeJson(value)}`), field + pointerPart(name));
      found.push({ ...again, what: `${again.field} appears twice` });
    }
    for (const name of schema.required ?? []) {
      const without = wrong({ ...object, [name]: undefined }, field + pointerPart(name));
      found.push({ ...without, what: `${without.field} is missing` });
    }
    for (const [name, inner] of Object.entries(schema.properties))
      found.push(
        ...listWrongValues(inner, object[name], field + pointerPart(name), (value) =>
          put({ ...object, [name]: value }),
        ),
      );
  }
  const among = schema.items?.anyOf ?? [schema.items ?? []].flat();
  for (const one of among) {
    const example = (good as unknown[] | undefined)?.[0];
    const first = among.length > 1 ? buildValid(one, example as Record<string, unknown>) : example;
    found.push(...listWrongValues(one, first, `${field}/0`, (value) => put([value])));
  }
  return found;
}

/** Mistakes of a whole body, for any operation. */
const BODIES: readonly {
  what: string;
  body: string | Uint8Array;
  status: number;
  code: string;
  headers?: Record<string, string>;
}[] = [
  ...['null', '[]', '5', '"x"', 'true', '[{}]'].map((body) => ({
    what: `the body is ${body}`,
    body,
    status: 422,
    code: 'validation_failed',
  })),
  ...['{', '{"a":1,}', 'NaN', '{}{}', "{'a':1}", '\u0000', '{"a":"\u0007"}'].map((body) => ({
    what: `the body is ${JSON.stringify(body)}`,
    body,
    status: 400,
    code: 'malformed_json',
  })),
  {
    what: 'the body is no UTF-8',
    body: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
    status: 400,
    code: 'malformed_json',
  },
  { what: 'the body is UTF-16', body: Buffer.from('{"name":"x"}', 'utf16le'), status: 400, code: 'malformed_json' },
  { what: 'the body is as deep as it is long', body: deep(200_000).text, status: 422, code: 'validation_failed' },
  ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x'].map((type) => ({
    what: `the type is ${type}`,
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    headers: { 'content-type': type },
  })),
  {
    what: 'the body is compressed',
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    headers: { 'content-encoding': 'gzip' },
  },
];
const LARGE = {
  what: 'the body is 1 MiB and 1 byte',
  body: `"${'x'.repeat(1024 * 1024 - 1)}"`,
  status: 413,
  code: 'payload_too_large',
};

const IDS = [
  '__proto__',
  'constructor',
  'none',
  '%00',
  '%ff',
  '%ed%a0%80',
  '..%2f..%2fstreams',
  '%2e%2e',
  'e%CC%81',
].concat(['x'.repeat(511), 'x'.repeat(513), '%F0%9F%98%80', '%0d%0aX-Injected:%201', "'%20or%201=1--"]);

/** Invalid text: bytes that are not UTF-8, half of a surrogate pair, and a percent sign without two digits. */
const NO_TEXT = ['%ff', '%ed%a0%80', 'a%zz', '%'];
const CONTROL = ['%00', 'a%0ab', '%1b%5b2J', '%7f', '%c2%9b2J'];

/** Returns values of a parameter in a path or query, as they stand in a URL. */
function wrongParameters(schema: Schema): string[] {
  if (schema.enum) return ['nothing', '', '__proto__', ...CONTROL, ...NO_TEXT];
  if (listTypes(schema).includes('integer'))
    return [
      '',
      'x',
      '1e3',
      '0x10',
      '5%20',
      '%D9%A5',
      '1,5',
      'NaN',
      ...[...NUMBERS, ...CONTROL, ...NO_TEXT],
      String(Number(schema.minimum ?? 0) - 1),
    ];
  const long = typeof schema.maxLength === 'number' ? ['x'.repeat(schema.maxLength + 1)] : [];
  return [...long, ...CONTROL, ...NO_TEXT];
}

const TUS_VERSION = 'Tus-Resumable';
const INVALID = { status: 422, code: 'validation_failed' };
/** The expected answers to an invalid header. */
const OF_HEADER: Record<string, Partial<BadRequest>> = {
  'Idempotency-Key': { ...INVALID, field: '/Idempotency-Key' },
  [TUS_VERSION]: { status: 412, code: 'tus_version_unsupported' },
};

/** Values of parameters in paths, beside the id. */
const RIGHT: Record<string, string> = { version: '1', format: 'csv' };

const filled = (path: string, ids: Record<string, string>, others: Record<string, string> = {}) => {
  const noun = path.split('/')[2] ?? '';
  return path.replaceAll(/\{(\w+)\}/g, (whole, name) =>
    name === 'id' ? (ids[noun] ?? 'none') : (others[name] ?? RIGHT[name] ?? whole),
  );
};

function ofParameters(
  id: string,
  path: string,
  operation: OperationObject,
  ids: Record<string, string>,
): Partial<BadRequest>[] {
  return (operation.parameters ?? []).flatMap(({ name, in: place, schema }) => {
    const getContext = (value: string, more: Partial<BadRequest>) => ({
      what: `${id}: ${name} is ${short(value)}`,
      ...more,
    });
    if (place === 'path' && name === 'id')
      // The library of tus checks its own headers first. HTTP clients shorten a path with two dots, perhaps to another operation's:
      // /v1/playlists/../changes is /v1/changes. /v1/streams/../events is answered, as it should be.
      return IDS.filter((value) => value !== '%2e%2e' || !path.endsWith('/events')).map((value) =>
        getContext(value, {
          path: filled(path, {}).replace('none', value),
          ...(!path.includes('resumable') && value !== '%2e%2e' && { status: value === '%00' ? 422 : 404 }),
        }),
      );
    if (place === 'path')
      return wrongParameters(schema).map((value) =>
        getContext(value, { path: filled(path, ids, { [name]: value || '%20' }) }),
      );
    if (place === 'header')
      return ['', ' ', 'x'.repeat(256), '\u00e9'].map((value) =>
        // The library of tus checks its own header first.
        getContext(value, {
          ...(path.includes('resumable') && name !== TUS_VERSION ? {} : OF_HEADER[name]),
          headers: { [name.toLowerCase()]: value },
        }),
      );
    const refused = { ...INVALID, field: `/${name}` };
    const values = [...(name === 'cursor' ? ['nonsense', '__proto__', 'a%20b'] : []), ...wrongParameters(schema)];
    return [...values, `${values[0]}&${name}=1`].map((value) =>
      getContext(value, { ...refused, path: `${filled(path, ids)}?${name}=${value}` }),
    );
  });
}

/** Returns the schema with its references resolved. */
export const resolveSchema = (doc: OpenApi, schema: unknown): Schema =>
  JSON.parse(JSON.stringify(schema), (_name, value) =>
    typeof value?.$ref === 'string' ? resolveSchema(doc, doc.components.schemas[value.$ref.split('/').at(-1)]) : value,
  );

/** `ids` has one existing id for each noun. `body` returns a valid body for an example of the description. */
export function listBadRequests(
  doc: OpenApi,
  ids: Record<string, string>,
  body: (example: unknown) => unknown,
): BadRequest[] {
  const JSON_TYPE = { 'content-type': 'application/json' };
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([verb, operation]) => {
      const method = verb.toUpperCase();
      const id = `${method} ${path}`;
      const media = operation.requestBody?.content['application/json'];
      const good = media && body(media.example);
      const text = media && writeJson(good);
      const base = {
        method,
        path: filled(path, ids),
        headers: media ? JSON_TYPE : {},
        byPerson: isForPerson(operation.operationId),
        ...(text !== undefined && { body: text }),
      };
      const wrong: Partial<BadRequest>[] = ofParameters(id, path, operation, ids);
      if (media) {
        for (const one of listWrongValues(resolveSchema(doc, media.schema), good, '', writeJson))
          wrong.push({ ...one, what: `${id}: ${one.what}`, body: one.text, status: 422, code: 'validation_failed' });
        // Clients generated from the description write null for an absent body.
        const bodies =
          operation.requestBody?.required === false ? BODIES.filter(({ body }) => body !== 'null') : BODIES;
        for (const one of [...bodies, LARGE]) wrong.push({ ...one, what: `${id}: ${one.what}` });
      }
      return wrong.map((one) => ({ ...base, ...one, headers: { ...base.headers, ...one.headers } }) as BadRequest);
    }),
  );
}
