import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import Schema from 'typebox/schema';
import { beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPE_NAMES } from '../../../../../src/service/domain/events/record.ts';
import { describeApi } from '../../../../../src/service/server/openapi/describe.ts';
import type { Json, MediaTypeObject, OpenApi } from '../../../../../src/service/server/openapi/document.ts';
import { resolveResponse } from '../../../../../src/service/server/openapi/openapi.ts';
import { OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';

let doc: OpenApi;

beforeAll(async () => {
  doc = await describeApi();
});

const operations = () =>
  Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, operation })),
  );

test('docs/openapi.json matches the routes (fix with `make generate`)', () => {
  const snapshot = readFileSync(join(import.meta.dirname, '../../../../../docs/openapi.json'), 'utf8');
  expect(JSON.parse(snapshot)).toEqual(JSON.parse(JSON.stringify(doc)));
});

test('it is valid OpenAPI 3.1, and every reference leads somewhere', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(doc));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
  for (const [, kind = '', name = ''] of JSON.stringify(doc).matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g))
    expect((doc.components as Record<string, Json>)[kind], `${kind}/${name}`).toHaveProperty([name]);
});

test('no server’s address is in it: clients use the one that they read it from', () => {
  expect(doc.servers).toEqual([{ url: '/' }]);
  expect(JSON.stringify(doc)).not.toMatch(/127\.0\.0\.1|localhost/);
});

// openapi-generator 7.14 reads no nullable field, for Python, of a schema that has an object without a name.
test('a request that a null may be in has a name for each of its objects', () => {
  const schemas = Object.entries(doc.components.schemas as Record<string, Json>);
  for (const [name, { properties = {} }] of schemas.filter(([name]) => /(Create|Update|Input)$/.test(name))) {
    const text = JSON.stringify(properties);
    if (text.includes('"type":"null"')) expect(text, name).not.toContain('"properties":{');
  }
});

describe('every operation', () => {
  test('says its scope, and that it may be refused for want of it', () => {
    for (const { name, operation } of operations()) {
      const scope = OPERATION_SCOPES[operation.operationId as keyof typeof OPERATION_SCOPES];
      const programs = [{ apiKey: [] }, { bearer: [] }, { oauth2: [`service:${scope}`] }];
      const security = scope === null ? [] : scope === 'person' ? [{ session: [] }] : programs;
      expect(operation.security, name).toEqual(security);
      expect('403' in operation.responses, name).toBe(scope !== null);
      expect(operation.summary, name).toMatch(/\S/);
    }
  });

  test('declares the contract’s list of playlists', () => {
    const list = doc.paths['/v1/playlists']?.get;
    expect(Object.keys(list?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '401', '403', '404', '422', '429', '502']),
    );
  });

  test('names the headers of every answer', () => {
    for (const { name, operation } of operations())
      for (const [status, response] of Object.entries(operation.responses)) {
        const headers = Object.keys(resolveResponse(doc, response).headers ?? {});
        const always = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
        expect(headers, `${name} ${status}`).toEqual(expect.arrayContaining(always));
        expect(headers.includes('Retry-After'), `${name} ${status}`).toBe(['429', '502', '503'].includes(status));
        expect(headers.includes('Location'), `${name} ${status}`).toBe(status === '201');
      }
  });
});

test('each type of events is a webhook, whose example is such an event', () => {
  const webhooks = Object.entries(doc.components.pathItems as typeof doc.paths);
  expect(doc.webhooks).toEqual(
    Object.fromEntries(EVENT_TYPE_NAMES.map((type) => [type, { $ref: `#/components/pathItems/${type}` }])),
  );
  expect(webhooks.map(([type]) => type)).toEqual(EVENT_TYPE_NAMES);
  const ids = webhooks.map(([, { post }]) => post?.operationId);
  expect(new Set([...ids, ...operations().map(({ operation }) => operation.operationId)]).size).toBe(
    ids.length + operations().length,
  );
  for (const [type, { post }] of webhooks) {
    const { schema, example } = post?.requestBody?.content['application/json'] ?? {};
    expect(check(schema, example), type).toBe(true);
    expect(check(schema, { ...(example as object), type: 'other' }), type).toBe(false);
    expect(post?.parameters?.map(({ name }) => name)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature']);
  }
});

/** Validates against the schema with its components. */
const check = (schema: Json | undefined, value: unknown): boolean => {
  const text = JSON.stringify({ ...schema, $defs: doc.components.schemas });
  return Schema.Compile(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))).Check(value);
};

describe('examples', () => {
  test('every body and every parameter has one, and it is as its schema says', () => {
    expect(check({ $ref: '#/components/schemas/Destination' }, { id: 1 })).toBe(false);
    for (const { name, operation } of operations()) {
      const bodies: MediaTypeObject[] = [
        ...Object.values(operation.requestBody?.content ?? {}),
        ...Object.values(operation.responses).flatMap((r) => Object.values(resolveResponse(doc, r).content ?? {})),
      ];
      for (const { schema, example, examples } of bodies) {
        // Media and the description itself have none.
        if (
          !schema ||
          [
            'getStreamPreview',
            'getUploadPreview',
            'getUploadPoster',
            'watchChanges',
            'getOpenApi',
            'appendToResumableUpload',
          ].includes(operation.operationId)
        )
          continue;
        const values = examples ? Object.values(examples).map(({ value }) => value) : [example];
        for (const value of values)
          expect({ name, value, ok: check(schema, value) }).toEqual({ name, value, ok: true });
      }
      for (const { name: parameter, schema, example } of operation.parameters ?? [])
        expect({ name, parameter, ok: check(schema, example) }).toEqual({ name, parameter, ok: true });
    }
  });
});

describe('needs of client generators', () => {
  const schemas = () => {
    const found: { at: string; schema: Json }[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      found.push({ at, schema: value as Json });
      for (const [key, inner] of Object.entries(value))
        if (key !== 'example' && key !== 'examples') walk(inner, `${at}/${key}`);
    };
    walk(doc, '');
    return found;
  };

  test('every integer says how wide it is, by its bounds', () => {
    const integers = schemas().filter(({ schema }) => schema.type === 'integer' && !schema.enum);
    expect(integers.length).toBeGreaterThan(80);
    for (const { at, schema } of integers)
      expect([at, schema.format]).toEqual([at, Number(schema.maximum ?? Infinity) < 2 ** 31 ? 'int32' : 'int64']);
  });

  test('values of an enum have one type, and there is one type of each that stands in several places', () => {
    const enums = schemas().filter(({ schema }) => Array.isArray(schema.enum));
    for (const { at, schema } of enums) {
      const types = new Set((schema.enum as unknown[]).map((value) => typeof value));
      expect([at, schema.type, types.size]).toEqual([at, types.has('string') ? 'string' : 'integer', 1]);
    }
    const several = enums.filter(({ schema }) => (schema.enum as unknown[]).length > 1 && schema.type === 'string');
    const byValues = Map.groupBy(several, ({ schema }) => String(schema.enum));
    // A new group of values needs a name in src/service/server/openapi/shapes.ts.
    expect([...byValues.values()].filter(({ length }) => length > 1).map((same) => same.map(({ at }) => at))).toEqual(
      [],
    );
  });

  test('no two constants have one name where a language has one room for all enums', () => {
    const names = Object.values(doc.components.schemas).flatMap((schema) =>
      ((schema['x-enum-varnames'] ?? schema.enum ?? []) as unknown[]).map((value) => String(value).toUpperCase()),
    );
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  test('addresses, and ids in paths, have the bounds that the server holds', () => {
    const field = (schema: string, name: string) =>
      (doc.components.schemas[schema]?.properties as Record<string, Json> | undefined)?.[name];
    expect(field('UploadFromLink', 'url')).toMatchObject({ format: 'uri', maxLength: 4096 });
    for (const schema of ['DestinationCreate', 'DestinationUpdate'])
      for (const name of ['rtmpUrl', 'url'])
        expect(field(schema, name)).toMatchObject({ pattern: expect.stringContaining('[Ss][Rr][Tt]') });
    for (const { name, operation } of operations())
      for (const { name: parameter, in: place, schema } of operation.parameters ?? [])
        if (place === 'path' && parameter === 'id') expect([name, schema.maxLength]).toEqual([name, 512]);
  });

  test('no schema is named as the constructor of another one', () => {
    const names = Object.keys(doc.components.schemas);
    expect(names.filter((name) => names.includes(name.replace(/^New/, '')) && name.startsWith('New'))).toEqual([]);
  });

  test('every operation has a description, and the document says where its docs are', () => {
    for (const { name, operation } of operations()) expect(operation.description, name).toMatch(/\w/);
    expect((doc.info as { contact?: Json }).contact).toMatchObject({ url: expect.any(String) });
  });
});
