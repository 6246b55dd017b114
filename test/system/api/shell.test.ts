import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '../../../src/service/lib/errors.ts';
import { run } from '../../kit/run.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

let api: TestApi;
let ada: Client;
const page = tempDir();

beforeAll(async () => {
  await mkdir(join(page, 'assets'));
  await writeFile(join(page, 'index.html'), '<!doctype html><title>loopstream</title>');
  await writeFile(join(page, 'docs.html'), '<!doctype html><title>API reference · loopstream</title>');
  await writeFile(join(page, 'assets/index-abc123.js'), 'export {};');
  api = await startTestApi({ dashboardDir: page });
  ada = await api.client('ada');
});

afterAll(() => api?.stop());

const problem = (code: keyof typeof ERRORS) => ({
  status: ERRORS[code].status,
  body: expect.objectContaining({ type: `/docs/errors/${code}`, title: ERRORS[code].title, code }),
});

const destination = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };

describe('open to everyone', () => {
  test('status reports that Kubernetes and the database answer', async () => {
    const { status, body } = await call(`${api.url}/v1/status`, 'GET');
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', components: { kubernetes: 'ok', database: 'ok' } });
  });

  test('the description is OpenAPI 3.1 and names every operation with its security and its problems', async () => {
    const { body } = await call<Record<string, never>>(`${api.url}/v1/openapi.json`, 'GET');
    const doc = body as unknown as {
      openapi: string;
      info: { version: string };
      paths: Record<string, Record<string, Record<string, unknown>>>;
      components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
    };
    expect(doc.openapi).toMatch(/^3\.1/);
    expect(doc.info.version).toBe('1.0.0');
    expect(Object.keys(doc.components.schemas)).toEqual(expect.arrayContaining(['Stream', 'Problem', 'PlaylistList']));
    expect(JSON.stringify(doc)).not.toContain('"$id"');
    const list = doc.paths['/v1/playlists']?.get;
    expect(list?.security).toEqual([{ apiKey: [] }, { bearer: [] }, { oauth2: ['service:read'] }]);
    expect(Object.keys(list?.responses as object)).toEqual(
      expect.arrayContaining(['200', '401', '403', '422', '429', '502']),
    );
    expect(doc.paths['/v1/status']?.get?.security).toEqual([]);
    const operations = Object.values(doc.paths).flatMap((item) => Object.values(item));
    for (const operation of operations) expect(operation.operationId).toBeTypeOf('string');
    // Every reference leads somewhere.
    for (const [, name] of JSON.stringify(doc).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      expect(doc.components.schemas).toHaveProperty(name ?? '');
  });

  test('the page of a problem’s type exists, and the API pages too', async () => {
    for (const path of ['/docs/errors/stream_not_ready', '/docs/errors', '/docs/']) {
      const { status, headers } = await call(`${api.url}${path}`, 'GET');
      expect(status, path).toBe(200);
      expect(headers.get('content-type')).toMatch(/text\/html/);
    }
    expect(await call(`${api.url}/docs/errors/toString`, 'GET')).toMatchObject(problem('route_not_found'));
  });

  test('the page is served for a browser on any path but those of the API, its assets for ever', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml' };
    for (const path of ['/', '/streams/str-1']) {
      const { status, headers, body } = await call<string>(`${api.url}${path}`, 'GET', undefined, browser);
      expect({ path, status, body }).toEqual({ path, status: 200, body: expect.stringContaining('<title>loopstream') });
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*media-src 'self' blob:$/);
    }
    const asset = await call(`${api.url}/assets/index-abc123.js`, 'GET');
    expect(asset.headers.get('cache-control')).toMatch(/immutable/);
    expect(await call(`${api.url}/v1/nothing`, 'GET', undefined, browser)).toMatchObject(problem('route_not_found'));
    expect(await call(`${api.url}/assets/gone.js`, 'GET', undefined, browser)).toMatchObject(
      problem('route_not_found'),
    );
  });

  test('health, readiness and metrics are on another port', async () => {
    expect((await call(`${api.opsUrl}/healthz`, 'GET')).status).toBe(200);
    expect((await call(`${api.opsUrl}/readyz`, 'GET')).status).toBe(200);
    const { body } = await call<string>(`${api.opsUrl}/metrics`, 'GET');
    expect(body).toMatch(/http_request_duration_seconds_count\{[^}]*route="\/v1\/status"/);
    expect((await call(`${api.url}/metrics`, 'GET')).status).toBe(404);
  });
});

describe('the credential', () => {
  test('me is the user of the key', async () => {
    const { status, body } = await ada.call('GET', '/v1/me');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id: ada.accountId, email: 'ada@example.com', firstName: 'ada', lastName: null },
    });
  });

  test('the GraphQL example of the README works as it stands', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
    const example = /```sh graphql\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? '';
    const env = { PATH: process.env.PATH, API: `${api.url}/v1`, KEY: (await api.client('reader')).key };
    const { stdout } = await run('sh', ['-c', example], { env });
    const data = { me: { email: 'reader@example.com' }, streams: { totalCount: 0, edges: [] } };
    expect(JSON.parse(stdout)).toEqual({ data });
  });

  test('a missing, wrong or revoked key and a bearer token give 401, on GraphQL too', async () => {
    const bob = await api.client('bob');
    expect((await bob.call('GET', '/v1/me')).status).toBe(200);
    await api.auth.revokeApiKey(bob.keyId);
    const refused = [{}, { 'x-api-key': 'lsk_wrong' }, { 'x-api-key': '' }, { authorization: 'Bearer abc' }];
    for (const headers of refused) {
      const answer = await call(`${api.url}/v1/streams`, 'GET', undefined, headers);
      expect(answer).toMatchObject(problem('unauthenticated'));
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      const graphql = await call(`${api.url}/graphql`, 'POST', { query: '{me{id}}' }, headers);
      expect(graphql).toMatchObject(problem('unauthenticated'));
    }
    await expect.poll(async () => (await bob.call('GET', '/v1/me')).status).toBe(401);
  });
});

describe('requests that cannot be', () => {
  test('an unknown path, another method, malformed JSON, another content type and a body that is too large', async () => {
    expect(await ada.call('GET', '/v1/nope')).toMatchObject(problem('route_not_found'));
    const method = await ada.call('PUT', '/v1/streams');
    expect(method).toMatchObject(problem('method_not_allowed'));
    expect(method.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(await ada.call('PUT', '/graphql')).toMatchObject(problem('method_not_allowed'));
    expect(await ada.call('POST', '/v1/destinations', '{"name":')).toMatchObject(problem('malformed_json'));
    const xml = { 'content-type': 'application/xml' };
    expect(await ada.call('POST', '/v1/destinations', '<a/>', xml)).toMatchObject(problem('unsupported_media_type'));
    const large = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    expect(await ada.call('POST', '/v1/destinations', large)).toMatchObject(problem('payload_too_large'));
    expect(await ada.call('GET', '/v1/streams/%ff')).toMatchObject({ status: 404 });
  });

  test('every wrong field is named, with the reason', async () => {
    const body = { ...destination, name: '', rtmpKey: 5, extra: 1, __proto__x: {} };
    const { status, body: answer } = await ada.call('POST', '/v1/destinations', body);
    expect(status).toBe(422);
    expect(answer.code).toBe('validation_failed');
    expect(answer.errors).toEqual(
      expect.arrayContaining([
        { path: '/extra', message: 'is not known' },
        { path: '/name', message: 'must not be empty' },
        { path: '/rtmpKey', message: 'must be a string' },
      ]),
    );
    const proto = await ada.call('POST', '/v1/destinations', '{"name":"a","__proto__":{"x":1}}');
    expect(proto.body.errors).toEqual(expect.arrayContaining([{ path: '/__proto__', message: 'is not known' }]));
    for (const none of ['null', '[]', '5', ''])
      expect((await ada.call('POST', '/v1/destinations', none)).status, none).toBe(422);
  });

  test('unknown query parameters are ignored, wrong ones are named', async () => {
    expect((await ada.call('GET', '/v1/me?limit=5&colour=red')).status).toBe(200);
    expect((await ada.call('GET', '/v1/streams?limit=5&colour=red&_=1')).status).toBe(200);
    for (const limit of ['0', '101', 'ten', '1.5', '', '1&limit=2', '99999999999999999999'])
      expect((await ada.call('GET', `/v1/streams?limit=${limit}`)).body, limit).toMatchObject({
        code: 'validation_failed',
        errors: [{ path: '/limit' }],
      });
    const otherList = Buffer.from('dst 2026-01-01T00:00:00Z dst-1').toString('base64url');
    for (const cursor of ['nonsense', otherList, `${otherList}=`])
      expect((await ada.call('GET', `/v1/streams?cursor=${cursor}`)).body, cursor).toMatchObject({
        code: 'validation_failed',
        errors: [{ path: '/cursor' }],
      });
  });
});

describe('limits', () => {
  test('every REST answer has the remaining requests, and 429 the time to wait; another account is not affected', async () => {
    const small = await api.replica({ rateLimit: { requests: 5, windowMs: 60_000 } });
    const carl = await api.client('carl');
    const ask = (path: string, key = carl.key) => call(`${small.url}${path}`, 'GET', undefined, { 'x-api-key': key });
    const statuses = [];
    for (const path of ['/v1/me', '/v1/streams/none', '/v1/nope', '/v1/streams?limit=0', '/v1/me', '/v1/me']) {
      const { status, headers } = await ask(path);
      statuses.push(status);
      expect(headers.get('ratelimit-limit'), path).toBe('5');
      expect(headers.get('ratelimit-remaining')).toBe(String(Math.max(0, 5 - statuses.length)));
      expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(50);
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(50);
    }
    expect(statuses).toEqual([200, 404, 404, 422, 200, 429]);
    expect(await ask('/v1/me')).toMatchObject(problem('rate_limited'));
    expect((await ask('/v1/me', ada.key)).status).toBe(200);
    const anonymous = await call(`${small.url}/v1/me`, 'GET');
    expect(anonymous.headers.get('ratelimit-remaining')).toBe('4');
    await small.stop();
  });
});
