/** Tests that a file is imported from servers whose answers browsers read, and a strict parser does not. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type FetchOptions, fetchInto } from '../../../../../../src/core/pods/prepare/link/fetch.ts';
import { parseHead, readFraming } from '../../../../../../src/core/pods/prepare/link/lenient.ts';
import { quiet, room, sinkTo } from '../../../../../kit/make/prepare.ts';

const CONTENT = randomBytes(300_000);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const LENGTH = `Content-Length: ${CONTENT.length}`;

/** A server that answers with bytes as they are; `requests` are the heads that it was sent. */
async function serveRaw(answer: (socket: Socket, head: string) => void) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      requests.push(text);
      answer(socket, text);
      text = '';
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp4`,
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function importFrom(answer: (socket: Socket, head: string) => void, options: Partial<FetchOptions> = {}) {
  await using server = await serveRaw(answer);
  await using place = await room();
  const result = await fetchInto(sinkTo(place.storage), server.url, {
    allowPrivateLinks: true,
    maxBytes: 1e6,
    timeoutSeconds: 20,
    minBytesPerSecond: 0,
    signal: new AbortController().signal,
    log: quiet,
    retryDelayMs: 1,
    ...options,
  });
  expect(
    createHash('sha256')
      .update(await buffer(await place.storage.read('sources/x')))
      .digest('hex'),
  ).toBe(SHA256);
  return { ...result, requests: server.requests };
}

const say =
  (lines: string[], { eol = '\r\n', body = CONTENT as Buffer } = {}) =>
  (socket: Socket) => {
    socket.write(lines.join(eol) + eol + eol, 'latin1');
    socket.end(body);
  };
const chunked = (eol = '\r\n') =>
  Buffer.concat([
    Buffer.from(`${(100_000).toString(16)} ;x=y${eol}`),
    CONTENT.subarray(0, 100_000),
    Buffer.from(`${eol}${(200_000).toString(16)}${eol}`),
    CONTENT.subarray(100_000),
    Buffer.from(`${eol}0${eol}${eol}`),
  ]);

describe('a file is imported from a server that sends', () => {
  test.each<[string, (socket: Socket, head: string) => void]>([
    ['its length twice', say(['HTTP/1.1 200 OK', LENGTH, 'Server: x', LENGTH])],
    ['its length twice in one line', say(['HTTP/1.1 200 OK', `${LENGTH}, ${CONTENT.length}`])],
    ['a length and chunks', say(['HTTP/1.1 200 OK', LENGTH, 'Transfer-Encoding: chunked'], { body: chunked() })],
    ['line feeds alone', say(['HTTP/1.1 200 OK', LENGTH], { eol: '\n' })],
    [
      'line feeds alone, and chunks',
      say(['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'], { eol: '\n', body: chunked('\n') }),
    ],
    ['a blank in the name of a header', say(['HTTP/1.1 200 OK', 'X Powered By: NAS', LENGTH])],
    ['a blank before the colon', say(['HTTP/1.1 200 OK', 'X-Powered-By : NAS', LENGTH])],
    ['a header without a colon', say(['HTTP/1.1 200 OK', 'nonsense', LENGTH])],
    [
      'headers of 21 kB',
      say(['HTTP/1.1 200 OK', ...Array.from({ length: 42 }, (_, i) => `X-${i}: ${'x'.repeat(500)}`), LENGTH]),
    ],
    ['the answer of a radio', say(['ICY 200 OK', 'icy-name: Radio'])],
    [
      'an interim answer',
      (socket) => {
        socket.write('HTTP/1.1 103 Early Hints\nLink: x\n\n');
        say(['HTTP/1.1 200 OK', LENGTH], { eol: '\n' })(socket);
      },
    ],
  ])('%s', async (_what, answer) => {
    expect((await importFrom(answer)).sizeBytes).toBe(CONTENT.length);
  });

  test('a redirect in such an answer', async () => {
    const result = await importFrom((socket, head) =>
      head.startsWith('GET /end ')
        ? say(['HTTP/1.1 200 OK', LENGTH], { eol: '\n' })(socket)
        : say(['HTTP/1.1 302 Found', 'Location: /end'], { eol: '\n', body: Buffer.alloc(0) })(socket),
    );
    // The strict parser is not asked again of the same server, and a connection carries one request.
    expect(result.requests).toHaveLength(3);
    expect(result.requests[2]).toContain('connection: close');
  });

  test('such an answer that breaks off: the rest is asked for', async () => {
    let answers = 0;
    const result = await importFrom((socket, head) => {
      const start = Number(/range: bytes=(\d+)-/.exec(head)?.[1] ?? 0);
      const lines = [
        start > 0 ? 'HTTP/1.1 206 Partial Content' : 'HTTP/1.1 200 OK',
        'ETag: "a"',
        `Content-Length: ${CONTENT.length - start}`,
        ...(start > 0 ? [`Content-Range: bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}`] : []),
      ];
      say(lines, { eol: '\n', body: CONTENT.subarray(start, ++answers > 3 ? undefined : start + 100_000) })(socket);
    });
    expect(result.requests.some((head) => head.includes('if-range: "a"'))).toBe(true);
  });
});

describe('the limits hold on the lenient way too', () => {
  const broken = (eol: string, more: string[] = []) => say(['HTTP/1.1 200 OK', ...more], { eol });

  test('a private address behind a redirect is forbidden', async () => {
    const private_ = importFrom(say(['HTTP/1.1 302 Found', 'Location: http://169.254.169.254/x'], { eol: '\n' }));
    await expect(private_).rejects.toMatchObject({ code: 'link_forbidden' });
  });

  test('an address of a name that is private at the second look is as unknown', async () => {
    await using server = await serveRaw(broken('\n'));
    let looks = 0;
    const lookup: FetchOptions['lookup'] = (_host, _options, callback) =>
      callback(null, [{ address: ++looks > 1 ? '169.254.169.254' : '127.0.0.1', family: 4 }]);
    await using place = await room();
    const link = server.url.replace('127.0.0.1', 'files.example');
    const importing = fetchInto(sinkTo(place.storage), link, {
      allowPrivateLinks: true,
      lookup,
      maxBytes: 1e6,
      timeoutSeconds: 20,
      minBytesPerSecond: 0,
      signal: new AbortController().signal,
      log: quiet,
      retryDelayMs: 1,
    });
    await expect(importing).rejects.toMatchObject({ code: 'link_unreachable' });
    expect(server.requests).toHaveLength(1);
  });

  test('too many bytes are too large, announced or not', async () => {
    const large = { code: 'media_too_large' };
    await expect(importFrom(broken('\n', [LENGTH]), { maxBytes: 1000 })).rejects.toMatchObject(large);
    await expect(importFrom(broken('\n'), { maxBytes: 1000 })).rejects.toMatchObject(large);
  });

  test('a server that says nothing more is late', async () => {
    const silent = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\nX: y\n');
    await expect(importFrom(silent, { openTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'link_unreachable',
      message: expect.stringContaining('did not respond in time'),
    });
  });

  test('an import that is stopped ends the connection', async () => {
    const stopped = new AbortController();
    const reason = new Error('stopped');
    const importing = importFrom(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\n${LENGTH}\n\nabc`);
        stopped.abort(reason);
      },
      { signal: stopped.signal },
    );
    await expect(importing).rejects.toBe(reason);
  });

  test('headers without an end, lengths that differ and another protocol are named', async () => {
    const endless = Array.from({ length: 600 }, (_, i) => `X-${i}: ${'x'.repeat(500)}`);
    for (const [answer, message] of [
      [broken('\n', endless), /headers of the server have more than 256 kB/],
      [broken('\r\n', ['Content-Length: 5', 'Content-Length: 6']), /several lengths/],
      [(socket: Socket) => void socket.end('220 ftp.example FTP server ready\r\n\r\n'), /does not answer by HTTP/],
    ] as const)
      await expect(importFrom(answer)).rejects.toMatchObject({
        code: 'link_unreachable',
        message: expect.stringMatching(message),
      });
  });
});

test('a head of a million carriage returns is read once', () => {
  expect(parseHead(`HTTP/1.1 200 OK\n${'\r'.repeat(1e6)}x: y\n`).headers.x).toBe('y');
  expect(readFraming({ statusCode: 200, headers: { 'transfer-encoding': 'Chunked ', 'content-length': '5' } })).toEqual(
    {
      length: undefined,
      isChunked: true,
    },
  );
});
