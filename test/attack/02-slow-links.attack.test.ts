/** Attacks an import with slow servers: a byte now and then, headers without end, redirects, bytes without end. */
import type { RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type FetchOptions, fetchInto } from '../../src/core/pods/prepare/link/fetch.ts';
import { ServerSpeed } from '../../src/core/pods/prepare/link/server-speed.ts';
import { quiet, room, sinkTo } from '../kit/make/prepare.ts';
import { serve } from '../kit/serve.ts';

/** An installation's limits, but shorter. */
const SHORT = { timeoutSeconds: 60, minBytesPerSecond: 1000, windowSeconds: 0.3, openTimeoutMs: 1500, retryDelayMs: 1 };

async function importLink(link: string, options: Partial<FetchOptions> = {}) {
  await using place = await room();
  const { signal } = new AbortController();
  const common = { allowPrivateLinks: true, maxBytes: 1e6, signal, log: quiet };
  try {
    return await fetchInto(sinkTo(place.storage), link, { ...common, ...SHORT, ...options });
  } finally {
    expect(await place.storage.list('incoming/')[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
  }
}

async function fetchedFrom(handler: RequestListener, options: Partial<FetchOptions> = {}) {
  await using server = await serve(handler);
  return await importLink(`${server.url}/film.mp4`, options);
}

/** Starts a TCP server, for answers that no HTTP server gives. */
async function rawServer(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => answer(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mp4`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Writes again and again until the other side has gone. */
function drip(target: ServerResponse | Socket, piece: () => string | Buffer, everyMs: number): void {
  const timer = setInterval(() => (target.destroyed ? clearInterval(timer) : target.write(piece())), everyMs);
  target.once('close', () => clearInterval(timer));
}

const refused = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringMatching(new RegExp(message)) });

describe('a server that sends too slowly is given up', () => {
  test('when it sends a byte now and then, with the rate that was measured and the least that is taken', async () => {
    const slow = fetchedFrom((_, res) => drip(res, () => 'x', 20));
    await expect(slow).rejects.toEqual(
      refused('link_too_slow', 'It sent \\d+ bytes per second .* the minimum is 1000'),
    );
  });

  test('when it answers at once, and then sends almost nothing', async () => {
    const slow = fetchedFrom((_, res) => {
      res.write(Buffer.alloc(10_000));
      drip(res, () => 'x', 20);
    });
    await expect(slow).rejects.toEqual(refused('link_too_slow'));
  });

  test('when it breaks off after each byte and sends the next one, as often as it is asked', async () => {
    const size = 1_000_000;
    const slow = fetchedFrom((req, res) => {
      const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const range = { 'content-range': `bytes ${from}-${size - 1}/${size}` };
      res.writeHead(from > 0 ? 206 : 200, { etag: '"a"', 'content-length': size - from, ...(from > 0 && range) });
      res.write('x', () => setTimeout(() => res.destroy(), 20));
    });
    await expect(slow).rejects.toEqual(refused('link_too_slow'));
  });

  test('and one that is only slower than its storage is not: a stalled storage is not the server’s fault', () => {
    const speed = new ServerSpeed(1000, 1);
    expect(speed.add(10, 1500)).toBeUndefined();
    for (let piece = 0; piece < 100; piece++) expect(speed.add(10_000, 100)).toBeUndefined();
    expect(speed.add(10, 2000)).toBeLessThan(1000);
  });

  test('by a setting: 0 takes any rate', async () => {
    const speed = new ServerSpeed(0, 1);
    for (let piece = 0; piece < 10; piece++) expect(speed.add(0, 1000)).toBeUndefined();
  });
});

describe('a server that never comes to the file is given up', () => {
  test('when its headers do not end', async () => {
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, () => 'x-a: b\r\n', 20);
    });
    await expect(importLink(server.url)).rejects.toEqual(refused('link_unreachable'));
  });

  test('when it has only interim answers', async () => {
    await using server = await rawServer((socket) => drip(socket, () => 'HTTP/1.1 103 Early Hints\r\n\r\n', 20));
    await expect(importLink(server.url)).rejects.toEqual(refused('link_unreachable'));
  });

  test('when it takes its time with each of many redirects', async () => {
    const slow = fetchedFrom((_, res) => void setTimeout(() => res.writeHead(302, { location: '/again' }).end(), 150));
    await expect(slow).rejects.toEqual(refused('link_unreachable', 'did not respond in time'));
  });

  test('when its headers are larger than any server’s', async () => {
    await using server = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1000)}\r\n`.repeat(100)}\r\n`),
    );
    await expect(importLink(server.url)).rejects.toEqual(refused('link_unreachable'));
  });
});

describe('a server that sends more than was said', () => {
  test('without a length is given up at the limit', async () => {
    const endless = fetchedFrom((_, res) => drip(res, () => Buffer.alloc(100_000), 1));
    await expect(endless).rejects.toEqual(refused('media_too_large'));
  });

  const ZEROS = Buffer.alloc(50_000_000);
  test.each([
    ['gzip', () => gzipSync(ZEROS)],
    ['br', () => brotliCompressSync(ZEROS)],
    ['zstd', () => zstdCompressSync(ZEROS)],
    ['deflate, gzip', () => gzipSync(deflateSync(ZEROS))],
    ['gzip, gzip, gzip', () => gzipSync(gzipSync(gzipSync(ZEROS)))],
  ])('packed as %s is given up at the limit of its unpacked content, long before its end', async (encoding, pack) => {
    const bomb = pack();
    const before = process.memoryUsage().rss;
    const packed = fetchedFrom((_, res) => res.writeHead(200, { 'content-encoding': encoding }).end(bomb));
    await expect(packed).rejects.toEqual(refused('media_too_large'));
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  test('packed again and again is refused', async () => {
    const layers = Array.from({ length: 100 }, () => 'gzip').join(', ');
    const packed = fetchedFrom((_, res) => res.writeHead(200, { 'content-encoding': layers }).end(gzipSync('x')));
    await expect(packed).rejects.toEqual(refused('link_unreachable', 'too many times'));
  });

  test('packed, without end and with nothing in it, is given up: as too slow, and as too large', async () => {
    const packedNothing = (piece: Buffer, everyMs: number) => (_: unknown, res: ServerResponse) => {
      res.writeHead(200, { 'content-encoding': 'gzip' });
      drip(res, () => piece, everyMs);
    };
    const [nothing, more] = [1, 1000].map((times) => Buffer.concat(Array.from({ length: times }, () => gzipSync(''))));
    await expect(fetchedFrom(packedNothing(nothing ?? ZEROS, 20))).rejects.toEqual(refused('link_too_slow'));
    const fast = fetchedFrom(packedNothing(more ?? ZEROS, 1), { minBytesPerSecond: 0 });
    await expect(fast).rejects.toEqual(refused('media_too_large'));
  });

  test('in a packed transfer is kept as it came, or refused: nothing is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    await using server = await rawServer((socket) =>
      socket.end(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n${bomb.length.toString(16)}\r\n`),
          bomb,
          Buffer.from('\r\n0\r\n\r\n'),
        ]),
      ),
    );
    const outcome = await importLink(server.url).catch((error) => error.code);
    if (typeof outcome === 'object') expect(outcome.sizeBytes).toBe(bomb.length);
    else expect(outcome).toBe('link_unreachable');
  });
});
