import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { KubeError } from '../../../../../src/core/kube/types.ts';
import { currentTrace } from '../../../../../src/core/lib/context.ts';
import { readTrace } from '../../../../../src/core/lib/tracing/trace-context.ts';
import { AppError } from '../../../../../src/service/lib/errors.ts';
import type { Principal, Scope } from '../../../../../src/service/lib/scopes.ts';
import { toAppError } from '../../../../../src/service/server/http/problem.ts';
import { OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';
import { buildTestServer } from '../../../../kit/system/server.ts';

const open: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

/** Starts a server for any client, with these scopes. */
async function server(options: { me?: () => unknown; scopes?: Scope[]; stopping?: AbortSignal; prefix?: string } = {}) {
  const { prefix = 'service', scopes = ['read'], ...rest } = options;
  const principal: Principal = { accountId: 'a', userId: 'a', scopes: new Set(scopes), via: 'key' };
  const settings = { SCOPE_PREFIX: prefix };
  const { app } = await buildTestServer({ ...rest, settings, auth: { authenticate: async () => principal } });
  open.push(app);
  return app;
}

describe('scopes', () => {
  test('each operation has a route, each route an operation, and OpenAPI shows it', async () => {
    const app = await server();
    const { paths } = (await app.inject('/v1/openapi.json')).json();
    const described = Object.values(paths).flatMap((item) => Object.values(item as object));
    expect(described.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(OPERATION_SCOPES).sort());
  });

  test('a principal without the scope is refused by its name, in REST and GraphQL', async () => {
    const app = await server({ scopes: ['billing'], prefix: 'acme' });
    for (const [method, url, scope] of [
      ['GET', '/v1/streams', 'acme:read'],
      ['POST', '/v1/streams', 'acme:write'],
      ['DELETE', '/v1/streams/str-1', 'acme:destructive'],
    ] as const) {
      const answer = await app.inject({ method, url });
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toMatchObject({ code: 'insufficient_scope', detail: expect.stringContaining(scope) });
    }
    const graphql = await app.inject({ method: 'POST', url: '/graphql', payload: { query: '{ me { id } }' } });
    expect(graphql.json().errors).toMatchObject([{ extensions: { code: 'insufficient_scope' } }]);
  });
});

describe('security headers', () => {
  const PAGES = ['/', '/docs', '/docs/errors', '/docs/errors/internal', '/v11', '/graphql-not'];
  const ANSWERS = ['/v1/status', '/v1/me', '/v1/nope', '/v1', '/v1?limit=1', '/graphql', '/graphql?query={me{id}}'];
  const EVERYWHERE = [...PAGES, ...ANSWERS];
  const servedAt = async (publicUrl: string) => {
    const { app } = await buildTestServer({ settings: { PUBLIC_URL: publicUrl } });
    open.push(app);
    return async (url: string) => (await app.inject(url)).headers;
  };

  test('an answer of the API is nothing that a browser runs, frames, loads from elsewhere or guesses the type of', async () => {
    const getHeaders = await servedAt('http://127.0.0.1:8080');
    for (const url of ANSWERS) {
      const headers = await getHeaders(url);
      expect({ url, ...headers }).toMatchObject({
        url,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });

  test('a page forbids browsers to guess types, to frame it and to send a referrer', async () => {
    const getHeaders = await servedAt('http://127.0.0.1:8080');
    for (const url of PAGES) {
      const headers = await getHeaders(url);
      expect({ url, ...headers }).toMatchObject({
        url,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'origin-agent-cluster': '?1',
        'x-dns-prefetch-control': 'off',
        'x-download-options': 'noopen',
        'x-permitted-cross-domain-policies': 'none',
        'x-xss-protection': '0',
      });
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });

  test('only a server that is public over TLS requires TLS from then on (RFC 6797)', async () => {
    const [getHeadersOverTls, getHeaders] = [
      await servedAt('https://loops.example.com'),
      await servedAt('http://loops.example.com'),
    ];
    for (const url of EVERYWHERE) {
      const overTls = await getHeadersOverTls(url);
      const [, seconds] = /^max-age=(\d+); includeSubDomains$/.exec(String(overTls['strict-transport-security'])) ?? [];
      expect(Number(seconds), url).toBeGreaterThanOrEqual(31_536_000);
      expect(await getHeaders(url)).not.toHaveProperty('strict-transport-security');
    }
  });
});

describe('the sources that a page may load', () => {
  const readPolicy = async (app: FastifyInstance, url: string) => {
    const header = String((await app.inject(url)).headers['content-security-policy']);
    return Object.fromEntries(header.split(';').map((part) => part.split(/ (.*)/)));
  };
  const nothing = {
    'default-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  const own = {
    ...nothing,
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
  };

  test('the page: nothing inline and nothing from elsewhere', async () => {
    const app = await server();
    for (const url of ['/', '/streams/str-1', '/docs-not'])
      expect(await readPolicy(app, url), url).toEqual({ ...own, 'media-src': "'self' blob:" });
  });

  test('only the reference may add styles and data: images, and no page may run a script that is inline', async () => {
    const app = await server();
    for (const url of ['/docs', '/docs/'])
      expect(await readPolicy(app, url), url).toEqual({
        ...own,
        'style-src': "'self' 'unsafe-inline'",
        'img-src': "'self' data:",
        'media-src': "'none'",
      });
  });

  test('a page of an error code has its one style, known by its hash', async () => {
    const app = await server();
    for (const url of ['/docs/errors', '/docs/errors/internal']) {
      const { body } = await app.inject(url);
      const style = /<style>(.*)<\/style>/.exec(body)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      expect(await readPolicy(app, url), url).toEqual({ ...nothing, 'style-src': `'sha256-${hash}'` });
    }
  });
});

describe('errors', () => {
  const secret = 'postgres://user:word@host';
  test.each([
    [new KubeError(0, 'Unreachable', secret), 502, 'upstream_unavailable'],
    [new KubeError(500, 'InternalError', secret), 502, 'upstream_unavailable'],
    [Object.assign(new Error(secret), { code: 'ECONNREFUSED' }), 502, 'upstream_unavailable'],
    [new Error(`timeout exceeded when trying to connect ${secret}`), 502, 'upstream_unavailable'],
    [new Error(secret), 500, 'internal'],
    [secret, 500, 'internal'],
    [new AppError('conflict', 'Twice.', { cause: new Error(secret) }), 409, 'conflict'],
  ])('%s becomes %i %s with nothing of its inside', async (thrown, status, code) => {
    const me = () => {
      throw thrown;
    };
    const app = await server({ me });
    const answer = await app.inject('/v1/me');
    expect({ status: answer.statusCode, code: answer.json().code }).toEqual({ status, code });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.headers['retry-after']).toBe(status === 502 ? '5' : undefined);
    expect(answer.body).not.toContain('word');
    const graphql = await app.inject({ method: 'POST', url: '/graphql', payload: { query: '{ me { id } }' } });
    expect(graphql.json().errors[0].extensions.code).toBe(code);
    expect(graphql.body).not.toContain('word');
  });

  test('while stopping: 503 with a time to come again, and the connection is closed', async () => {
    const stopping = new AbortController();
    const app = await server({ stopping: stopping.signal });
    expect((await app.inject('/v1/me')).statusCode).toBe(200);
    stopping.abort();
    for (const url of ['/v1/me', '/v1/status', '/docs/errors', '/nope']) {
      const answer = await app.inject(url);
      expect({ url, status: answer.statusCode, code: answer.json().code }).toEqual({
        url,
        status: 503,
        code: 'shutting_down',
      });
      expect(answer.headers).toMatchObject({ connection: 'close', 'retry-after': '5' });
    }
  });

  test('Fastify’s refusals are the client’s error, also unforeseen ones', () => {
    const theirs = (code: string, statusCode: number) => Object.assign(new Error(secret), { code, statusCode });
    const getCode = (error: unknown) => toAppError(error).code;
    expect(getCode(theirs('FST_ERR_OF_TOMORROW', 400))).toBe('malformed_request');
    expect(getCode(theirs('FST_ERR_OF_TOMORROW', 418))).toBe('malformed_request');
    expect(getCode(theirs('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415))).toBe('unsupported_media_type');
    expect(getCode(theirs('FST_ERR_CTP_BODY_TOO_LARGE', 413))).toBe('payload_too_large');
    expect(getCode(theirs('FST_ERR_BAD_URL', 400))).toBe('route_not_found');
    for (const ours of [theirs('FST_ERR_REP_INVALID', 500), theirs('SOME_LIBRARY', 404), new Error(secret)])
      expect(getCode(ours)).toBe('internal');
  });

  test('a request id that is given comes back, a strange one does not', async () => {
    const app = await server();
    const id = async (given: string) =>
      (await app.inject({ url: '/v1/status', headers: { 'x-request-id': given } })).headers['x-request-id'];
    expect(await id('abc-123')).toBe('abc-123');
    expect(await id('a b\tc')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('traces (W3C Trace Context)', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = `00-${trace}-00f067aa0ba902b7-01`;

  test('a given one is in every log line of the request, and in requests to others', async () => {
    let handedOn: unknown;
    const me = async () => {
      await new Promise(setImmediate);
      handedOn = currentTrace();
      throw new Error('for the log');
    };
    const { app, logs } = await buildTestServer({ me });
    open.push(app);
    const ask = (headers: Record<string, string>) =>
      app.inject({ url: '/v1/me', headers: { 'x-api-key': 'ann', ...headers } });
    await ask({ traceparent: parent, tracestate: 'vendor=1', 'x-request-id': 'traced' });
    expect(handedOn).toEqual({ traceparent: parent, tracestate: 'vendor=1' });
    const lines = logs()
      .split('\n')
      .filter((line) => line.includes('traced'));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ trace_id: trace, requestID: 'traced' });
    await ask({});
    expect(handedOn).toBeUndefined();
  });

  test('a path that is longer than any is answered with the id of the request, too', async () => {
    const { app } = await buildTestServer();
    open.push(app);
    const url = `/v1/streams/${'x'.repeat(513)}`;
    const answer = await app.inject({ url, headers: { 'x-api-key': 'ann', 'x-request-id': 'long' } });
    expect(answer.json()).toMatchObject({ status: 404, code: 'route_not_found' });
    expect(answer.headers['x-request-id']).toBe('long');
  });

  test('credentials are in no log line, whichever header held them', async () => {
    const { app, logs } = await buildTestServer({
      me: () => {
        throw new Error('for the log');
      },
      auth: { authenticate: async () => ({ accountId: 'ann', userId: 'ann', scopes: new Set(['read']), via: 'key' }) },
    });
    open.push(app);
    const secret = 'lsk_abcdefghijklmnopqrstuvwxyz';
    for (const headers of [{ authorization: `Bearer ${secret}` }, { 'x-api-key': secret }])
      expect((await app.inject({ url: '/v1/me', headers })).statusCode).toBe(500);
    expect(logs()).toContain('for the log');
    expect(logs()).not.toContain(secret);
  });

  test('an unreadable one counts as none', () => {
    const none = '0'.repeat(16);
    expect(readTrace({ traceparent: parent })?.traceId).toBe(trace);
    expect(readTrace({ traceparent: `cc-${trace}-00f067aa0ba902b7-01-what-comes` })?.traceId).toBe(trace);
    const wrong = [
      '',
      trace,
      `${parent}-more`,
      parent.toUpperCase(),
      `ff${parent.slice(2)}`,
      `00-${none}${none}-00f067aa0ba902b7-01`,
    ];
    for (const traceparent of [...wrong, `00-${trace}-${none}-01`, `${parent}\n`])
      expect(readTrace({ traceparent })).toBeUndefined();
    expect(readTrace({ traceparent: parent, tracestate: 'x'.repeat(513) })?.headers).toEqual({ traceparent: parent });
  });
});
