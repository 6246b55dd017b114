import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaDocument } from '../../../../src/service/server/graphql/schema.ts';
import { describeApi } from '../../../../src/service/server/openapi/describe.ts';
import type { Json, OpenApi } from '../../../../src/service/server/openapi/document.ts';
import { breakingChanges } from '../../../../tools/generate/breaking.ts';
import { schemaBreaks } from '../../../../tools/generate/graphql.ts';

/** Returns a file of the last commit: `make generate` follows the code, so its output would prove nothing. */
const committed = (path: string): string =>
  execFileSync('git', ['show', `HEAD:${path}`], {
    cwd: join(import.meta.dirname, '../../../..'),
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });

test('users of the committed docs/openapi.json can use this API', async () => {
  const before = JSON.parse(committed('docs/openapi.json')) as OpenApi;
  expect(Object.keys(before.paths).length).toBeGreaterThan(20);
  expect(breakingChanges(before, await describeApi())).toEqual([]);
});

test('users of the committed docs/schema.graphql can use this schema', () => {
  expect(schemaBreaks(committed('docs/schema.graphql'), schemaDocument())).toEqual([]);
});

// biome-ignore lint/suspicious/noExplicitAny: tests reach into a document of any depth.
type Any = any;
type Change = (doc: Any) => void;

/** A description of our own, so that the proof does not depend on the current API. */
const base = (): Any => ({
  paths: {
    '/v1/things': {
      post: {
        operationId: 'createThing',
        security: [{ apiKey: [] }, { oauth2: ['service:write'] }],
        parameters: [{ name: 'wait', in: 'query', required: false, schema: { type: 'integer', maximum: 60 } }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/In' } } },
        },
        responses: {
          '201': {
            headers: { Location: {} },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Out' } } },
          },
          '422': { $ref: '#/components/responses/validation_failed' },
        },
      },
    },
  },
  components: {
    responses: { validation_failed: { content: { 'application/problem+json': { schema: problem } } } },
    schemas: {
      In: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', maxLength: 200 },
          kind: { enum: ['a', 'b', 1] },
          tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
        },
      },
      Out: {
        type: 'object',
        required: ['id', 'kind', 'at', 'more', 'children'],
        properties: {
          id: { type: 'string' },
          kind: { enum: ['a', 'b'] },
          at: { type: 'string', format: 'date-time' },
          more: {
            anyOf: [{ type: 'object', required: ['x'], properties: { x: { type: 'integer' } } }, { type: 'null' }],
          },
          children: { type: 'array', items: { $ref: '#/components/schemas/Out' } },
        },
      },
    },
  },
});
const problem = {
  allOf: [
    { type: 'object', properties: { code: { enum: ['x', 'y'] } } },
    { type: 'object', properties: {} },
  ],
};

const changed = (change: Change): string[] => {
  const after = base();
  change(after);
  return breakingChanges(base() as OpenApi, after as OpenApi);
};
const post = (doc: Any) => doc.paths['/v1/things'].post;
const input = (doc: Any) => doc.components.schemas.In;
const output = (doc: Any) => doc.components.schemas.Out;

describe('seen as a break', () => {
  const breaks: [string, Change, RegExp][] = [
    ['an operation that is gone', (d) => delete d.paths['/v1/things'].post, /^POST \/v1\/things was removed$/],
    ['an operation with another id', (d) => (post(d).operationId = 'makeThing'), /operationId is now makeThing/],
    ['another scope', (d) => (post(d).security[1] = { oauth2: ['service:admin'] }), /no longer allows .*service:write/],
    ['a status of success that is gone', (d) => delete post(d).responses['201'], /201 was removed/],
    [
      'a header that is gone',
      (d) => delete post(d).responses['201'].headers.Location,
      /no longer has the header Location/,
    ],
    [
      'another content type',
      (d) => (post(d).responses['201'].content = { 'text/plain': {} }),
      /201 is no longer application\/json/,
    ],
    ['a field of an answer that is gone', (d) => delete output(d).properties.id, /201: \/id was removed/],
    ['a field that may be missing', (d) => output(d).required.shift(), /201: \/id may now be missing/],
    ['a field that may be null', (d) => (output(d).properties.id.type = ['string', 'null']), /\/id can now be null/],
    ['a field of another type', (d) => (output(d).properties.id.type = 'integer'), /\/id can now be integer/],
    ['a value gone from an answer', (d) => output(d).properties.kind.enum.pop(), /\/kind no longer has the value "b"/],
    [
      'any text in place of values',
      (d) => (output(d).properties.kind = { type: 'string' }),
      /\/kind is no longer an enum/,
    ],
    ['another format', (d) => delete output(d).properties.at.format, /\/at has a different format/],
    [
      'a field within one that may be null',
      (d) => (output(d).properties.more.anyOf[0].properties.x.type = 'number'),
      /\/more\/x can now be number/,
    ],
    [
      'an error code that is gone',
      (d) =>
        (d.components.responses.validation_failed.content['application/problem+json'].schema = {
          allOf: [{ type: 'object', properties: { code: { enum: ['x'] } } }],
        }),
      /422: \/code no longer has the value "y"/,
    ],
    [
      'a parameter that is required',
      (d) => (post(d).parameters[0].required = true),
      /query parameter wait is required/,
    ],
    [
      'a new parameter that is required',
      (d) => post(d).parameters.push({ name: 'q', in: 'query', required: true, schema: {} }),
      /query parameter q is required/,
    ],
    [
      'a tighter bound of a parameter',
      (d) => (post(d).parameters[0].schema.maximum = 30),
      /wait: the value has a tighter maximum/,
    ],
    ['a field of a request that is required', (d) => input(d).required.push('kind'), /\/kind is required now/],
    ['a field that is not taken', (d) => delete input(d).properties.tags, /\/tags is no longer accepted/],
    ['a value that is not taken', (d) => input(d).properties.kind.enum.shift(), /\/kind no longer has the value "a"/],
    ['a tighter length', (d) => (input(d).properties.name.maxLength = 100), /\/name has a tighter maxLength/],
    ['a new pattern', (d) => (input(d).properties.name.pattern = '^x'), /\/name has a different pattern/],
    [
      'entries of another type',
      (d) => (input(d).properties.tags.items.type = 'integer'),
      /\/tags\/\* can no longer be string/,
    ],
    ['a rule between fields', (d) => (input(d).allOf = [{ oneOf: [{ required: ['kind'] }] }]), /has a new rule/],
    [
      'another content type of the body',
      (d) => (post(d).requestBody.content = {}),
      /no longer accepts a body of application\/json/,
    ],
  ];
  test.each(breaks)('%s', (_name, change, sentence) => {
    const found = changed(change);
    expect(found.join('\n')).toMatch(sentence);
    for (const text of found) expect(text).toMatch(/^POST \/v1\/things/);
  });

  test('a body that becomes required, and a removed path', () => {
    const open = base();
    open.paths['/v1/things'].post.requestBody.required = false;
    open.paths['/v1/things'].post.security = [];
    expect(breakingChanges(open, base())).toEqual([
      'POST /v1/things: needs authentication now',
      'POST /v1/things: a body is required now',
    ]);
  });
});

test('of a union of objects, each is compared with its successor', () => {
  const op = (name: string, more: object) => ({
    type: 'object',
    required: ['op'],
    additionalProperties: false,
    properties: { op: { enum: [name] }, ...more },
  });
  const withChange = (...anyOf: object[]) => {
    const doc = base();
    input(doc).properties.change = { anyOf };
    return doc;
  };
  const [move, drop] = [op('move', { to: { type: 'integer' } }), op('drop', { count: { type: 'integer' } })];
  const both = withChange(move, drop);
  expect(breakingChanges(both, withChange(drop, op('add', {}), move))).toEqual([]);
  expect(breakingChanges(both, withChange(move)).join('\n')).toMatch(/\/change\/op no longer has the value "drop"/);
  expect(breakingChanges(both, withChange(move, op('drop', {})))).toEqual([
    expect.stringContaining('/change/count is no longer accepted'),
  ]);
});

test('of a union of objects each is compared with the most similar one', () => {
  const op = (name: string, field: string) => ({
    type: 'object',
    additionalProperties: false,
    required: ['op', field],
    properties: { op: { enum: [name] }, [field]: { type: 'integer' } },
  });
  const changes = (...ops: Json[]): Any => {
    const doc = base();
    input(doc).properties.changes = { type: 'array', items: { anyOf: ops } };
    return doc;
  };
  const both = changes(op('insert', 'at'), op('move', 'to'));
  expect(breakingChanges(both, structuredClone(both))).toEqual([]);
  expect(breakingChanges(both, changes(op('move', 'to'), op('insert', 'at'), op('remove', 'at')))).toEqual([]);
  expect(breakingChanges(both, changes(op('insert', 'at'))).join()).toMatch(
    /changes\/\*\/op no longer has the value "move"/,
  );
});

test('additions break no client', () => {
  const found = changed((d) => {
    d.paths['/v1/others'] = { get: { operationId: 'x', responses: {} } };
    post(d).parameters.push({ name: 'q', in: 'query', required: false, schema: { type: 'string' } });
    post(d).responses['409'] = { description: 'New.' };
    delete post(d).responses['422'];
    input(d).properties.note = { type: 'string' };
    input(d).properties.name.maxLength = 300;
    input(d).required = [];
    output(d).properties.note = { type: 'string' } satisfies Json;
    output(d).properties.more = output(d).properties.more.anyOf[0];
    output(d).properties.kind.enum.push('c');
  });
  expect(found).toEqual([]);
});
