/** Tests requests that are no GraphQL: the answer names the mistake, and the log has no failure of ours. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';

let server: TestServer;
let app: FastifyInstance;

beforeAll(async () => {
  server = await buildTestServer({ me: () => ({ id: 'ada', email: 'ada@example.com', createdAt: new Date() }) });
  app = server.app;
});
afterAll(() => app.close());

interface Answer {
  status: number;
  body: { code?: string; data?: unknown; errors?: { message: string; extensions?: { code: string } }[] };
}

async function ask(method: 'GET' | 'POST', given: { url?: string; body?: string; headers?: object }): Promise<Answer> {
  const { url = '/graphql', body, headers = { 'content-type': 'application/json' } } = given;
  const answer = await app.inject({
    method,
    url,
    headers: { 'x-api-key': 'ada', ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: answer.statusCode, body: answer.json() };
}
const post = (body: string, headers: object = {}) =>
  ask('POST', { body, headers: { 'content-type': 'application/json', ...headers } });
const get = (query: Record<string, string>) =>
  ask('GET', { url: `/graphql?${new URLSearchParams(query)}`, headers: {} });

const ME = '{ me { id } }';
const apq = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };

describe('a mistake is the caller’s', () => {
  test.each<[what: string, () => Promise<Answer>, code: string, says: RegExp]>([
    ['an empty object', () => post('{}'), 'malformed_request', /`query` is missing/],
    ['a query that is a number', () => post('{"query":5}'), 'malformed_request', /`query` must be a string/],
    ['a list', () => post('[]'), 'malformed_request', /one operation per request/],
    ['a list of operations', () => post(`[{"query":"${ME}"}]`), 'malformed_request', /Turn off batching/],
    ['a text', () => post('"x"'), 'malformed_request', /must be a JSON object/],
    ['a number', () => post('5'), 'malformed_request', /must be a JSON object/],
    ['no body', () => ask('POST', {}), 'malformed_request', /body is empty/],
    ['no body and no type', () => ask('POST', { headers: {} }), 'malformed_request', /body is empty/],
    ['variables in a list', () => post(`{"query":"${ME}","variables":[]}`), 'malformed_request', /`variables` must be/],
    ['variables in a text', () => post(`{"query":"${ME}","variables":"{}"}`), 'malformed_request', /`variables`/],
    ['a numbered operation', () => post(`{"query":"${ME}","operationName":5}`), 'malformed_request', /`operationName`/],
    ['extensions in a list', () => post(`{"query":"${ME}","extensions":[]}`), 'malformed_request', /`extensions`/],
    ['GET without a query', () => get({}), 'malformed_request', /`query` is missing/],
    [
      'GET with variables that are no JSON',
      () => get({ query: ME, variables: '{' }),
      'malformed_request',
      /must be JSON/,
    ],
    [
      'a document that is named',
      () => post('{"documentId":"sha256:a"}'),
      'malformed_request',
      /the server stores no operations/,
    ],
    [
      'an operation that is not there',
      () => post('{"query":"query A { me { id } }","operationName":"B"}'),
      'validation_failed',
      /The query has no operation with this name/,
    ],
    [
      'two operations and no name',
      () => post('{"query":"query A { me { id } } query B { me { id } }"}'),
      'validation_failed',
      /The query has no operation with this name/,
    ],
    ['a subscription', () => post('{"query":"subscription { a }"}'), 'validation_failed', /subscription/i],
    [
      'a mutation by GET',
      () => get({ query: 'mutation { deleteStream(id: "a") { id } }' }),
      'method_not_allowed',
      /sent with POST/,
    ],
    ['an empty query', () => post('{"query":""}'), 'validation_failed', /Syntax Error/],
  ])('%s', async (_what, send, code, says) => {
    const { status, body } = await send();
    expect(body.errors?.map(({ extensions }) => extensions?.code)).toEqual([code]);
    expect(body.errors?.[0]?.message).toMatch(says);
    expect(status).toBeLessThan(500);
  });

  test.each<[what: string, () => Promise<Answer>, status: number, code: string]>([
    ['no JSON', () => post('{'), 400, 'malformed_json'],
    [
      'another type of content',
      () => ask('POST', { body: ME, headers: { 'content-type': 'application/graphql' } }),
      415,
      'unsupported_media_type',
    ],
    [
      'a form',
      () => ask('POST', { body: 'query=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      415,
      'unsupported_media_type',
    ],
  ])('%s, which is not GraphQL', async (_what, send, status, code) => {
    expect(await send()).toMatchObject({ status, body: { code } });
  });

  test('and none of it is logged as a failure', () => {
    expect(server.logs()).not.toMatch(/"level":[56]0/);
  });
});

describe('a hash in place of a query', () => {
  test('is answered as Apollo’s clients want it, by either method and in either type', async () => {
    const answers = await Promise.all([
      post(JSON.stringify({ operationName: 'A', variables: {}, extensions: apq })),
      post(JSON.stringify({ query: null, extensions: apq }), { accept: 'application/graphql-response+json' }),
      get({ operationName: 'A', extensions: JSON.stringify(apq) }),
    ]);
    for (const { body } of answers)
      expect(body).toEqual({
        errors: [{ message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }],
      });
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);
  });

  test('does not matter where the query is there too, and other extensions are none', async () => {
    expect((await post(JSON.stringify({ query: ME, extensions: apq }))).body.data).toEqual({ me: { id: 'ada' } });
    const other = await post(JSON.stringify({ extensions: { tracing: {} } }));
    expect(other.body.errors?.[0]?.extensions?.code).toBe('malformed_request');
  });
});

describe('real clients’ requests are accepted', () => {
  test.each<[string, Record<string, string>]>([
    ['a quoted charset', { 'content-type': 'application/json; charset="utf-8"' }],
    ['a charset in its old name', { 'content-type': 'application/json;charset=UTF8' }],
    ['a type for pages', { accept: 'text/html' }],
    ['no preference', { accept: '*/*;q=0.1' }],
  ])('%s', async (_what, headers) => {
    expect(await post(JSON.stringify({ query: ME }), headers)).toEqual({
      status: 200,
      body: { data: { me: { id: 'ada' } } },
    });
  });
});
