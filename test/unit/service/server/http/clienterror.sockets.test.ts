/** Tests the server on real sockets: many requests at once, slow ones, large ones, and bytes that are no HTTP. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../../../src/service/lib/errors.ts';
import { buildTestServer, type ServerOptions, type TestServer } from '../../../../kit/system/server.ts';
import { until } from '../../../../kit/wait.ts';

const open: TestServer[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const { app } of open.splice(0)) await app.close();
});

async function serve(options: ServerOptions = {}) {
  const server = await buildTestServer(options);
  open.push(server);
  return { ...server, ...(await server.listen()) };
}

/** A connection that keeps all received data. */
async function dial(port: number) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk)).on('error', () => undefined);
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  return { socket, heard: () => heard, closed };
}

const head = (method: string, path: string, ...headers: string[]) =>
  `${[`${method} ${path} HTTP/1.1`, 'Host: x', 'X-API-Key: ann', ...headers].join('\r\n')}\r\n\r\n`;
const post = (...headers: string[]) => head('POST', '/v1/destinations', 'Content-Type: application/json', ...headers);

/** Returns the complete answers in order. */
function answers(text: string) {
  const found: { status: number; headers: string; body: string }[] = [];
  for (let rest = text; ; ) {
    const end = rest.indexOf('\r\n\r\n') + 4;
    const headers = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
    if (end < 4 || rest.length < end + length) return found;
    found.push({ status: Number(headers.slice(9, 12)), headers, body: rest.slice(end, end + length) });
    rest = rest.slice(end + length);
  }
}

const expectProblem = (text: string, code: ErrorCode) => {
  const [answer, ...more] = answers(text);
  expect(more).toEqual([]);
  expect(answer).toMatchObject({ status: ERRORS[code].status });
  expect(answer?.headers).toMatch(/content-type: application\/problem\+json/i);
  expect(answer?.headers).toMatch(/x-request-id: [\w-]+/i);
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({
    code,
    status: ERRORS[code].status,
    type: `/docs/errors/${code}`,
  });
};

describe('one connection', () => {
  test('100 requests that are sent before the first answer are answered in their order, slow ones among them', async () => {
    const me = () => new Promise((resolve) => setTimeout(resolve, 30 * Math.random(), { id: 'ann' }));
    const { port } = await serve({ me });
    const { socket, heard } = await dial(port);
    const paths = Array.from({ length: 100 }, (_, i) => (i % 3 ? `/v1/nothing-${i}` : '/v1/me'));
    socket.write(paths.map((path, i) => head('GET', path, `X-Request-Id: number-${i}`)).join(''));
    await until('all have come', () => answers(heard()).length === 100);
    const ids = answers(heard()).map(({ headers }) => /x-request-id: (\S+)/i.exec(headers)?.[1]);
    expect(ids).toEqual(paths.map((_, i) => `number-${i}`));
    expect(answers(heard()).map(({ status }) => status)).toEqual(paths.map((_, i) => (i % 3 ? 404 : 200)));
  });

  test('is kept for the requests of many clients, under load', async () => {
    const { url, app } = await serve();
    let connections = 0;
    app.server.on('connection', () => connections++);
    const ask = async () => {
      for (let i = 0; i < 50; i += 1) {
        const answer = await fetch(`${url}/v1/me`, { headers: { 'x-api-key': 'ann' } });
        expect(answer.status).toBe(200);
        await answer.text();
      }
    };
    await Promise.all(Array.from({ length: 8 }, ask));
    expect(connections).toBeLessThan(40);
  });

  test('a wrong request after good ones gets no answer that could be taken for one of theirs', async () => {
    const asked = Promise.withResolvers<void>();
    const me = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const { port } = await serve({ me });
    const { socket, heard, closed } = await dial(port);
    socket.write(head('GET', '/v1/me'));
    await asked.promise;
    socket.write('NO HTTP\r\n\r\n');
    await closed;
    expect(heard()).toBe('');
  });
});

describe('bytes that are no HTTP get 400 with a problem, and the connection closes', () => {
  test.each([
    ['a length and chunks', `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['two lengths', `${post('Content-Length: 2', 'Content-Length: 3')}{}`],
    ['a length that is none', `${post('Content-Length: 2x')}{}`],
    ['a negative length', post('Content-Length: -1')],
    ['chunked twice', `${post('Transfer-Encoding: chunked, chunked')}0\r\n\r\n`],
    ['chunked, but not last', `${post('Transfer-Encoding: chunked, gzip')}0\r\n\r\n`],
    ['a chunk whose size is none', `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`],
    ['no host', 'GET /v1/me HTTP/1.1\r\nX-API-Key: ann\r\n\r\n'],
    ['a space before the colon', post('Transfer-Encoding : chunked')],
    ['a header that goes on in the next line', head('GET', '/v1/me', 'X-A: b', ' c')],
    ['a bare line feed', 'GET /v1/me HTTP/1.1\nHost: x\n\n'],
    ['a zero byte in a header', head('GET', '/v1/me', 'X-A: a\0b')],
    ['another protocol', 'GET /v1/me HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a method that nobody knows', 'FROBNICATE /v1/me HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00'],
  ])('%s', async (_what, text) => {
    const { port } = await serve();
    const { socket, heard, closed } = await dial(port);
    socket.write(text);
    await closed;
    expectProblem(heard(), 'malformed_request');
  });

  test('headers of more than 16 KiB are 431', async () => {
    const { port } = await serve();
    const { socket, heard, closed } = await dial(port);
    socket.write(head('GET', '/v1/me', `X-Long: ${'x'.repeat(17 * 1024)}`));
    await closed;
    expectProblem(heard(), 'headers_too_large');
  });
});

describe('bodies', () => {
  const send = async (url: string, body: BodyInit, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/v1/destinations`, {
      method: 'POST',
      headers: { 'x-api-key': 'ann', 'content-type': 'application/json', ...headers },
      body,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } as RequestInit);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as { code: string } };
  };
  const MIB = 1024 * 1024;

  test('1 MiB is accepted, one byte more is 413, with and without a declared length', async () => {
    const { url } = await serve();
    const fill = (size: number) => JSON.stringify({ name: 'x'.repeat(size - 11) });
    expect(fill(MIB)).toHaveLength(MIB);
    expect(await send(url, fill(MIB))).toMatchObject({ status: 422 });
    expect(await send(url, fill(MIB + 1))).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    const chunked = new Blob([fill(MIB + 1)]).stream();
    expect(await send(url, chunked)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  });

  test('compressed ones get 415: a few bytes may be gigabytes', async () => {
    const { url } = await serve();
    const bomb = gzipSync(Buffer.alloc(64 * MIB, ' '));
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip']) {
      const answer = await send(url, bomb, { 'content-encoding': encoding });
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
      expect(answer.headers.get('accept-encoding')).toBe('identity');
    }
    expect(await send(url, '{}', { 'content-encoding': 'identity' })).toMatchObject({ status: 422 });
  });

  test('a trickling one gets 408 after its time, and others are answered meanwhile', async () => {
    const { port, url } = await serve({ timeouts: { bodyMs: 1000 } });
    const { socket, heard, closed } = await dial(port);
    socket.write(`${post('Content-Length: 1000')}{`);
    const drip = setInterval(() => socket.write(' '), 50);
    expect((await fetch(`${url}/v1/status`)).status).toBe(200);
    await closed;
    clearInterval(drip);
    expectProblem(heard(), 'request_timeout');
  });

  test('an interrupted one is no failure of the server, and is not logged as one', async () => {
    const { port, logs } = await serve();
    const { socket } = await dial(port);
    socket.write(`${post('Content-Length: 1000', 'X-Request-Id: cut')}{`);
    socket.end();
    await until('it is over', () => logs().includes('cut') || socket.destroyed);
    expect(logs()).not.toMatch(/"level":50/);
  });
});

describe('time-outs', () => {
  test('headers that trickle are 408', async () => {
    const { port } = await serve({ timeouts: { headersMs: 1000 } });
    const { socket, heard, closed } = await dial(port);
    socket.write('GET /v1/me HTTP/1.1\r\n');
    await closed;
    expectProblem(heard(), 'request_timeout');
  });

  test('an idle connection, and a silent one, are closed after their time', async () => {
    const { port } = await serve({ timeouts: { keepAliveMs: 1000, connectionMs: 2000 } });
    const [idle, mute] = await Promise.all([dial(port), dial(port)]);
    idle.socket.write(head('GET', '/v1/status'));
    await Promise.all([idle.closed, mute.closed]);
    expect(answers(idle.heard())).toMatchObject([{ status: 200 }]);
    expect(mute.heard()).toBe('');
  });
});

describe('methods', () => {
  test('an unsupported one gets 405 with the path’s methods, also where Fastify knows no such method', async () => {
    const { port } = await serve();
    const allowed = {
      '/v1/streams': 'GET, HEAD, POST',
      '/v1/streams/str-1': 'DELETE, GET, HEAD, PATCH',
      '/v1/me': 'GET, HEAD',
    };
    for (const [path, allow] of Object.entries(allowed))
      for (const method of ['PUT', 'PROPFIND', 'TRACE', 'QUERY', 'LOCK', 'OPTIONS']) {
        const { socket, heard } = await dial(port);
        socket.write(head(method, `${path}?a=b`));
        await until('it is answered', () => answers(heard()).length === 1);
        expectProblem(heard(), 'method_not_allowed');
        expect(heard(), method).toMatch(new RegExp(`^allow: ${allow}\r$`, 'im'));
      }
  });

  test('a path that stands for itself is not taken for an id', async () => {
    const { app } = await serve();
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const { statusCode, headers } = await app.inject({ method, url: '/v1/uploads/from-link' });
      expect({ method, statusCode, allow: headers.allow }).toEqual({ method, statusCode: 405, allow: 'POST' });
    }
  });
});

describe('pages of other origins', () => {
  const preflight = { origin: 'https://app.example.com', 'access-control-request-method': 'PATCH' };
  const asked = { ...preflight, 'access-control-request-headers': 'x-api-key,content-type' };

  test('may do nothing unless a setting names them', async () => {
    const { app } = await serve();
    const answer = await app.inject({ method: 'OPTIONS', url: '/v1/streams/str-1', headers: asked });
    expect(answer.statusCode).toBe(405);
    const read = await app.inject({ url: '/v1/me', headers: { ...preflight, 'x-api-key': 'ann' } });
    expect(read.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('that it names may use the API with a key and read all headers, on errors too; others may not', async () => {
    const { app } = await serve({ settings: { CORS_ORIGINS: 'https://app.example.com, https://b.example.com' } });
    const answer = await app.inject({ method: 'OPTIONS', url: '/v1/streams/str-1', headers: asked });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': 'x-api-key,content-type',
    });
    for (const [key, status] of [
      ['ann', 200],
      ['', 401],
    ] as const) {
      const read = await app.inject({ url: '/v1/me', headers: { origin: 'https://b.example.com', 'x-api-key': key } });
      expect(read.statusCode).toBe(status);
      expect(read.headers).toMatchObject({
        'access-control-allow-origin': 'https://b.example.com',
        'access-control-expose-headers': '*',
        vary: expect.stringContaining('Origin'),
      });
      expect(read.headers).not.toHaveProperty('access-control-allow-credentials');
    }
    const other = await app.inject({ url: '/v1/me', headers: { origin: 'https://c.example.com', 'x-api-key': 'ann' } });
    expect(other.headers).not.toHaveProperty('access-control-allow-origin');
  });
});
