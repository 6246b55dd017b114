import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ClientOptions,
  ConnectionError,
  createClient,
  LoopstreamError,
  ProblemError,
  problems,
} from '../../../../src/service/client/index.ts';
import { createProblem } from '../../../../src/service/client/problem.ts';
import { pauseMs } from '../../../../src/service/client/send.ts';
import { ERRORS, type ErrorCode } from '../../../../src/service/lib/errors.ts';

type Answer = (response: ServerResponse, request: IncomingMessage & { text: string }) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a real server that gives `answers` in turn, and repeats the last one; returns a client of it. */
async function startClient(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const seen: { line: string; headers: IncomingMessage['headers']; text: string }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, text });
    answer?.(response, Object.assign(request, { text }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  return { client: createClient({ baseUrl, apiKey: 'lsk_secret', ...options }), seen };
}

const json =
  (status: number, body?: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };
const problem = (code: ErrorCode, more: object = {}, headers = {}) => {
  const { status, title } = ERRORS[code];
  return json(status, { type: `/docs/errors/${code}`, title, status, detail: 'So it is.', code, ...more }, headers);
};
const cut: Answer = (response) => void response.socket?.destroy();
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => Promise.reject(new Error(`answered ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );

describe('a call', () => {
  test('carries the key in its header, escapes ids, and leaves out absent parameters', async () => {
    const { client, seen } = await startClient([json(200, { id: 'x' })]);
    expect(await client.streams.get('a/b?c')).toEqual({ id: 'x' });
    await client.streams.list({ q: 'a&b' }).page('n=');
    await client.streams.start('s', { wait: 5 });
    await client.streams.skip('s', { track: 'audio' });
    expect(seen.map(({ line, text }) => line + text)).toEqual([
      'GET /v1/streams/a%2Fb%3Fc',
      'GET /v1/streams?limit=100&q=a%26b&cursor=n%3D',
      'POST /v1/streams/s/start?wait=5',
      'POST /v1/streams/s/skip{"track":"audio"}',
    ]);
    expect(seen.every(({ headers }) => headers['x-api-key'] === 'lsk_secret')).toBe(true);
  });

  test('fetches an access token each time', async () => {
    let count = 0;
    const accessToken = () => `token-${++count}`;
    const { client, seen } = await startClient([json(200, {})], { apiKey: undefined as never, accessToken });
    await client.me();
    await client.me();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  test('is tried again after 429, 5xx and a torn connection, a POST with the same Idempotency-Key each time', async () => {
    const soon = { 'retry-after': '0' };
    const { client, seen } = await startClient([
      problem('rate_limited', {}, soon),
      problem('upstream_unavailable', {}, soon),
      cut,
      json(201, { id: 'str-1' }),
    ]);
    expect(await client.playlists.create({ kind: 'video', mode: 'shuffle', items: [] })).toEqual({ id: 'str-1' });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual(Array(4).fill(keys[0]));
    expect(new Set(seen.map(({ text }) => text)).size).toBe(1);
    await client.streams.stop('s', { idempotencyKey: 'mine' });
    expect(seen.at(-1)?.headers['idempotency-key']).toBe('mine');
  });

  test('waits as long as Retry-After says, and longer; a permanent refusal is not repeated', async () => {
    const { client, seen } = await startClient([problem('rate_limited', {}, { 'retry-after': '1' }), json(200, {})]);
    const since = performance.now();
    await client.me();
    expect(performance.now() - since).toBeGreaterThan(1_000);
    const refused = await startClient([problem('stream_not_found')]);
    expect(await failure(refused.client.streams.get('s'))).toBeInstanceOf(problems.StreamNotFound);
    expect([seen.length, refused.seen.length]).toEqual([2, 1]);
  });

  test('gives up after its tries, with the last error', async () => {
    const { client, seen } = await startClient([problem('shutting_down')], { maxRetries: 1 });
    expect(await failure(client.me())).toBeInstanceOf(problems.ShuttingDown);
    expect(await failure(client.me({ maxRetries: 0 }))).toBeInstanceOf(ProblemError);
    expect(seen).toHaveLength(3);
  });

  test('ends in time when nothing comes, and at once when it is aborted, also in a pause', async () => {
    const { client } = await startClient([() => undefined], { timeoutMs: 50, maxRetries: 0 });
    const error = await failure(client.me());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: 'The loopstream server did not answer in time.', isPassing: true });

    const busy = await startClient([problem('rate_limited', {}, { 'retry-after': '30' })]);
    const stop = new AbortController();
    const call = failure(busy.client.me({ signal: stop.signal }));
    await expect.poll(() => busy.seen.length).toBe(1);
    stop.abort(new Error('never mind'));
    expect(await call).toMatchObject({ message: 'never mind' });
    expect(await failure(busy.client.me({ signal: stop.signal }))).toMatchObject({ message: 'never mind' });
    expect(busy.seen).toHaveLength(1);
  });

  test('that deletes succeeds when the try before it, whose answer was lost, has deleted', async () => {
    const { client, seen } = await startClient([cut, problem('upload_not_found')]);
    expect(await client.uploads.delete('upl-1')).toBeUndefined();
    expect(seen).toHaveLength(2);
    expect(await failure(client.uploads.delete('upl-1'))).toBeInstanceOf(problems.UploadNotFound);
  });
});

test('a list goes on to its last page, and asks for each only when it is needed', async () => {
  const pages = [0, 1, 2].map((n) =>
    json(200, { data: [n * 2, n * 2 + 1], page: { hasMore: n < 2, nextCursor: n < 2 ? `c${n + 1}` : null } }),
  );
  const { client, seen } = await startClient(pages);
  const list = client.destinations.list({ limit: 2 });
  expect(seen).toEqual([]);
  const met: unknown[] = [];
  for await (const one of list) {
    expect(seen).toHaveLength(Math.floor(met.length / 2) + 1);
    met.push(one);
  }
  expect(met).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.map(({ line }) => line.split('?')[1])).toEqual(['limit=2', 'limit=2&cursor=c1', 'limit=2&cursor=c2']);
});

describe('an error', () => {
  test('has a class for each code of the table, with the content of its document', () => {
    const names = Object.keys(problems);
    expect(names).toHaveLength(Object.keys(ERRORS).length);
    for (const [i, [code, { status, title, fix }]] of Object.entries(ERRORS).entries()) {
      const document = { type: '/x', title, status, detail: 'So.', code, errors: [{ path: '/a', message: 'is b' }] };
      const headers = new Headers({ 'x-request-id': 'r-1', 'retry-after': '7' });
      const error = createProblem(status, headers, document, 0);
      const Own = problems[names[i] as keyof typeof problems];
      expect(error).toBeInstanceOf(Own);
      expect(Object.values(problems).filter((Class) => error instanceof Class)).toEqual([Own]);
      expect(error).toMatchObject({ code, status, message: 'So.', fix, requestId: 'r-1', retryAfterSeconds: 7 });
      expect([error.name, error.errors]).toEqual([names[i], document.errors]);
      expect(error.isPassing).toBe(status === 429 || status >= 500);
    }
  });

  test('of a code that is not known yet, or of a proxy, is one all the same', async () => {
    const newer = createProblem(409, new Headers(), { code: 'stream_haunted', detail: 'Boo.' }, 0);
    expect(newer).toMatchObject({
      name: 'ProblemError',
      code: 'stream_haunted',
      message: 'Boo.',
      fix: '',
      status: 409,
    });
    for (const status of [200, 404, 502]) {
      const { client } = await startClient([(response) => void response.writeHead(status).end('<html>')], {
        maxRetries: 0,
      });
      expect(await failure(client.me())).toMatchObject({ name: 'ProblemError', code: `http_${status}` });
    }
    const date = new Date(90_000).toUTCString();
    expect(createProblem(503, new Headers({ 'retry-after': date }), undefined, 60_000).retryAfterSeconds).toBe(30);
  });
});

test('pauses grow, are spread, never shorter than Retry-After, and never longer than the patience that there is', () => {
  const error = (status: number, retryAfter?: number) =>
    createProblem(
      status,
      new Headers(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      undefined,
      0,
    );
  fc.assert(
    fc.property(fc.nat(20), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(120), (tried, random, asked) => {
      const ms = pauseMs(error(503), tried, random) ?? 0;
      const most = Math.min(8_000, 500 * 2 ** tried);
      expect(ms >= most / 2 && ms <= most).toBe(true);
      const told = pauseMs(error(429, asked), tried, random);
      if (asked > 60) expect(told).toBeUndefined();
      else expect(told).toBe(asked * 1000 + ms);
      expect(pauseMs(error(409, asked), tried, random)).toBeUndefined();
    }),
  );
  expect(pauseMs(new LoopstreamError('x'), 0, 0)).toBeUndefined();
});

/** Operations without JSON: on-air video and changes have no end, posters and badges are pictures, pages of others read public addresses, and resumable uploads (tus) and webhooks have clients of their own. */
const isJson = (path: string): boolean =>
  !/\/(preview\.flv|v1\/changes|uploads\/resumable.*|uploads\/\{id\}\/poster|badges\/.*|public\/.*|streams\/\{id\}\/timeline\.\{format\}|streams\/\{id\}\/as-run\.csv|webhooks\/.*|invoices\/.*\.pdf)$/.test(
    path,
  );

test('every operation of the description has its function', async () => {
  const { client, seen } = await startClient([json(200, { data: [], page: { hasMore: false, nextCursor: null } })]);
  type Functions = { [name: string]: Functions | ((...args: unknown[]) => unknown) };
  const callAll = async (functions: Functions): Promise<void> => {
    for (const call of Object.values(functions)) {
      if (typeof call !== 'function') await callAll(call);
      // Any first argument serves: the path has `{}` in the places of ids and numbers.
      else {
        const made = call('{}', '{}') as Promise<unknown> | { page(): Promise<unknown> };
        await ('page' in made ? made.page() : made);
      }
    }
  };
  await callAll(client as unknown as Functions);
  const asked = seen.map(({ line }) => decodeURIComponent(line.split('?')[0] ?? ''));
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: Record<string, object> };
  const described = Object.entries(paths)
    .filter(([path]) => isJson(path))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
    );
  expect(asked.sort()).toEqual(described.sort());
});

test('a browser can load it: nothing of Node, and of the server no more than the table of errors', async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: ['src/service/client/index.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const others = Object.keys(metafile.inputs).filter((path) => !path.startsWith('src/service/client/'));
  expect(others.sort()).toEqual([
    'node_modules/@stablelib/base64/lib/base64.js',
    'node_modules/fast-sha256/sha256.js',
    'node_modules/standardwebhooks/dist/index.js',
    'node_modules/standardwebhooks/dist/timing_safe_equal.js',
    'src/core/lib/backoff.ts',
    'src/core/lib/clock.ts',
    'src/core/lib/codes/shared.ts',
    'src/service/lib/billing-errors.ts',
    'src/service/lib/errors.ts',
  ]);
  expect(outputFiles[0]?.contents.length).toBeLessThan(46_000);
});
