/**
 * Attacks the sender of requests to endpoints by what their receivers answer, and by names that lead elsewhere later. Real servers on
 * loopback answer; each answer ends, is short, and has a stable code.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { DELIVERY_ERRORS } from '../../src/core/lib/codes/deliveries.ts';
import type { AddressLookup } from '../../src/core/lib/guarded-agent.ts';
import { findFailure, judge } from '../../src/service/domain/endpoints/outcome.ts';
import { createPost, type PostOptions } from '../../src/service/domain/endpoints/post.ts';
import { makeAuthority } from '../kit/real/certificates.ts';
import { tempDir } from '../kit/temp-dir.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends one request, and returns the result. */
async function send(url: string, options: Partial<PostOptions> = {}) {
  const { post, close } = createPost({ allowPrivate: true, timeoutMs: 1_000, ...options });
  closers.push(close);
  return post({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
}
const sendTo = async (listener: RequestListener) =>
  send(`http://127.0.0.1:${await listen(createServer(listener))}/hook`);
const sendToBytes = async (bytes: string) => {
  const server = createTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
  return send(`http://127.0.0.1:${await listen(server)}/hook`);
};

describe('an answer', () => {
  test.each<[string, RequestListener]>([
    ['of 10 MB', (_, response) => response.end('x'.repeat(10_000_000))],
    [
      'without an end',
      (_, response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          response.once('drain', more);
        };
        more();
      },
    ],
  ])('%s is kept in its beginning alone, and its connection ends', async (_, listener) => {
    const ended = Promise.withResolvers<void>();
    const found = await sendTo((request, response) => {
      request.socket.once('close', () => ended.resolve());
      listener(request, response);
    });
    expect(found).toMatchObject({ status: 200, body: 'x'.repeat(1000) });
    await ended.promise;
  });

  test('that comes byte by byte ends with the time of the request', async () => {
    const ended = Promise.withResolvers<void>();
    const found = await sendTo((request, response) => {
      const timer = setInterval(() => response.write('x'), 50);
      request.socket.once('close', () => {
        clearInterval(timer);
        ended.resolve();
      });
    });
    expect(found.status).toBe(200);
    await ended.promise;
  });

  test('with the character U+0000 and with half characters is text that a database takes', async () => {
    const { body = '' } = await sendTo((_, response) =>
      response.end(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80])),
    );
    expect(body).toMatch(/^a[^\0]+$/);
    expect(body.isWellFormed()).toBe(true);
  });

  test.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['has headers of 1 MB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['ends in its headers', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['has the status 0', 'HTTP/1.1 000 Nothing\r\n\r\n'],
  ])('that %s is a failure with a stable code', async (_, bytes) => {
    const failure = findFailure(await sendToBytes(bytes));
    expect(Object.keys(DELIVERY_ERRORS)).toContain(failure);
  });

  test.each([
    '31536000',
    '-1',
    '1e9',
    '9'.repeat(400),
    'soon',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    '-271821-04-20',
    '0x10',
    '5, 5',
  ])('with Retry-After %s is waited for four hours at most, and not less than without it', async (wanted) => {
    const found = await sendTo((_, response) => response.writeHead(503, { 'retry-after': wanted }).end());
    const { retryInMs } = judge(found, { attempts: 0, ageMs: 0 }, 0);
    const plain = judge({ ...found, retryAfterMs: undefined }, { attempts: 0, ageMs: 0 }, 0);
    expect(retryInMs).toBeGreaterThanOrEqual(plain.retryInMs ?? 0);
    expect(retryInMs).toBeLessThanOrEqual(4 * 3_600_000);
  });
});

test.each([
  ['has expired', -1],
  ['was issued by nobody known', 2],
])('a certificate that %s ends the connection before the request, with a code of certificates', async (_, days) => {
  const { certFile, keyFile } = await (await makeAuthority(tempDir())).issue('receiver', 'IP:127.0.0.1', days);
  let requests = 0;
  const server = createTlsServer(
    { cert: await readFile(certFile), key: await readFile(keyFile) },
    (_request, response) => {
      requests += 1;
      response.end();
    },
  );
  const { failure } = await send(`https://127.0.0.1:${await listen(server)}/hook`);
  expect(failure).toMatch(/^certificate_/);
  expect(requests).toBe(0);
});

describe('a host of a confirmed endpoint', () => {
  const answering =
    (...addresses: string[]): AddressLookup =>
    (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  test.each([['127.0.0.1'], ['169.254.169.254'], ['::1'], ['::ffff:10.0.0.1'], ['93.184.215.14', '127.0.0.1']])(
    'whose name leads to %s later gets no connection, and looks like a name that does not exist',
    async (...addresses) => {
      let visits = 0;
      const port = await listen(createTcpServer(() => visits++));
      const found = await send(`http://rebound.example.com:${port}/`, {
        allowPrivate: false,
        lookup: answering(...addresses),
      });
      expect(found).toMatchObject({ failure: 'dns_failed' });
      expect(visits).toBe(0);
    },
  );

  test.each(['127.0.0.1', '[::1]', '169.254.169.254', '[::ffff:7f00:1]', 'localhost'])(
    'that is %s is refused at the connection too',
    async (host) => {
      let visits = 0;
      const port = await listen(createTcpServer(() => visits++));
      expect(await send(`http://${host}:${port}/`, { allowPrivate: false })).toMatchObject({
        failure: 'address_forbidden',
      });
      expect(visits).toBe(0);
    },
  );
});
