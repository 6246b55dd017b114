/** Proves that a slow link is fetched by several connections where its server allows that, and loses nothing where it does not. */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fetched } from '../../../../../kit/make/links.ts';
import { serve } from '../../../../../kit/serve.ts';

const RANGE_BYTES = 32 * 1024;
const SHORT = { ranges: { rangeBytes: RANGE_BYTES, measureMs: 120, minSecondsLeft: 0.1 } };
const CONTENT = randomBytes(14 * RANGE_BYTES + 1234);
const hash = (content: Buffer) => createHash('sha256').update(content).digest('hex');
/** Bytes that a connection gets at a time, and the time between two of these pieces. */
const PIECE_BYTES = 4096;
const PIECE_MS = 20;

interface Request {
  /** Bytes [start, end) that are asked for. */
  start: number;
  end: number;
  /** Of all requests, from 0. */
  number: number;
}

interface Film {
  content?: Buffer;
  etag?: string;
  headers?: Record<string, string>;
}

/** Answers for the server, and returns true; false leaves the answer to the server. */
type Answer = (request: Request, response: ServerResponse) => boolean;

interface ServerOptions {
  film?: (request: Request) => Film;
  answer?: Answer;
  /** All connections share the speed of one. */
  isShared?: boolean;
}

/** A server whose speed is limited for each connection. */
async function serveSlowly({ film = () => ({}), answer = () => false, isShared = false }: ServerOptions) {
  const requests: Request[] = [];
  let open = 0;
  let most = 0;
  let turn = Promise.resolve();
  // One pause after the other, whatever the number of connections: they are no faster together on a busy machine either.
  const oneInTurn = () => {
    turn = turn.then(pause);
    return turn;
  };
  const read = ({ headers }: IncomingMessage, { length }: Buffer): Request => {
    const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
    return { start: Number(start ?? 0), end: end ? Number(end) + 1 : length, number: requests.length };
  };
  const server = await serve((message, response) => {
    const about = film(read(message, CONTENT));
    const { content = CONTENT, etag = '"one"', headers = { etag, 'accept-ranges': 'bytes' } } = about;
    const request = read(message, content);
    requests.push(request);
    most = Math.max(most, ++open);
    response.once('close', () => open--);
    if (answer(request, response)) return;
    const isPart = message.headers.range !== undefined && (message.headers['if-range'] ?? etag) === etag;
    const [start, end] = isPart ? [request.start, request.end] : [0, content.length];
    response.writeHead(isPart ? 206 : 200, {
      ...headers,
      'content-length': end - start,
      ...(isPart && { 'content-range': `bytes ${start}-${end - 1}/${content.length}` }),
    });
    sendSlowly(response, content.subarray(start, end), isShared ? oneInTurn : undefined);
  });
  return { ...server, requests, most: () => most };
}

const pause = () => setTimeout(PIECE_MS);

function sendSlowly(response: ServerResponse, content: Buffer, wait: () => Promise<void> = pause): void {
  const send = (at: number) => {
    if (response.destroyed) return;
    const piece = content.subarray(at, at + PIECE_BYTES);
    if (at + PIECE_BYTES >= content.length) response.end(piece);
    else response.write(piece, () => void wait().then(() => send(at + PIECE_BYTES)));
  };
  send(0);
}

async function fetchSlowly(options: ServerOptions) {
  await using server = await serveSlowly(options);
  const result = await fetched(`${server.url}/film.mp4`, { ...SHORT, maxBytes: 1e8 });
  return { ...result, requests: server.requests, most: server.most() };
}

test('a server that limits each connection is asked for ranges by four at most, each once', async () => {
  const { sha256, requests, most } = await fetchSlowly({});
  expect(sha256).toBe(hash(CONTENT));
  expect(most).toBe(4);
  const [whole, ...ranges] = requests;
  expect(whole).toMatchObject({ start: 0, end: CONTENT.length });
  const sorted = ranges.sort((a, b) => a.start - b.start);
  for (const [n, range] of sorted.entries()) expect(range.end).toBe(sorted[n + 1]?.start ?? CONTENT.length);
});

test.each<[string, (request: Request) => Film]>([
  ['says nothing of ranges', () => ({ headers: { etag: '"one"' } })],
  ['refuses ranges', () => ({ headers: { etag: '"one"', 'accept-ranges': 'none' } })],
  ['does not say which content it sends', () => ({ headers: { 'accept-ranges': 'bytes' } })],
  ['has only a weak tag', () => ({ headers: { 'accept-ranges': 'bytes', etag: 'W/"one"' } })],
])('a server that %s is asked once', async (_, film) => {
  const { sha256, requests } = await fetchSlowly({ film });
  expect(sha256).toBe(hash(CONTENT));
  expect(requests).toHaveLength(1);
});

test('a server that sends shorter parts than were asked for leaves no hole in front of the ranges', async () => {
  const answer: Answer = ({ start, end, number }, response) => {
    if (number > 0 && end < CONTENT.length) return false;
    const stop = Math.min(end, start + 1.5 * RANGE_BYTES);
    const range = `bytes ${start}-${stop - 1}/${CONTENT.length}`;
    response.writeHead(206, { etag: '"one"', 'accept-ranges': 'bytes', 'content-range': range });
    sendSlowly(response, CONTENT.subarray(start, stop));
    return true;
  };
  expect((await fetchSlowly({ answer })).sha256).toBe(hash(CONTENT));
});

test('a fast server is asked once', async () => {
  await using server = await serve((_, response) => {
    response.writeHead(200, { etag: '"one"', 'accept-ranges': 'bytes', 'content-length': CONTENT.length });
    response.end(CONTENT);
  });
  const ranges = { ...SHORT.ranges, minSecondsLeft: 5 };
  expect(await fetched(server.url, { ranges })).toMatchObject({ sha256: hash(CONTENT) });
});

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  ({ number }, response) => {
    if (number === 0) return false;
    response.writeHead(code, headers).end('no');
    return true;
  };

test.each<[string, Answer]>([
  ['has too many requests', status(429, { 'retry-after': '3600' })],
  ['is busy', status(503)],
  ['denies ranges', status(403)],
  ['has no such range', status(416)],
  [
    'sends the whole file',
    ({ number }, response) => {
      if (number === 0) return false;
      response.writeHead(200, { etag: '"one"', 'content-length': CONTENT.length });
      sendSlowly(response, CONTENT);
      return true;
    },
  ],
  [
    'sends another range',
    ({ number, start, end }, response) => {
      if (number === 0) return false;
      const range = `bytes ${start - 1}-${end - 2}/${CONTENT.length}`;
      response.writeHead(206, { etag: '"one"', 'content-range': range }).end(CONTENT.subarray(start - 1, end - 1));
      return true;
    },
  ],
  [
    'redirects ranges to another host',
    ({ number }, response) => {
      if (number === 0) return false;
      response.writeHead(302, { location: 'http://localhost:1/film.mp4' }).end();
      return true;
    },
  ],
])('a server that %s goes on with the first connection alone', async (_, answer) => {
  const { sha256, requests } = await fetchSlowly({ answer });
  expect(sha256).toBe(hash(CONTENT));
  expect(requests.length).toBeLessThanOrEqual(4);
});

test('a server that is as slow to all connections together is left to one', async () => {
  const { sha256, requests } = await fetchSlowly({ isShared: true });
  expect(sha256).toBe(hash(CONTENT));
  expect(requests.length).toBeLessThan(10);
});

test.each<[string, Answer]>([
  [
    'closes a connection within a range',
    ({ number, start, end }, response) => {
      if (number !== 8) return false;
      response.writeHead(206, {
        etag: '"one"',
        'content-length': end - start,
        'content-range': `bytes ${start}-${end - 1}/${CONTENT.length}`,
      });
      response.write(CONTENT.subarray(start, start + 1000), () => response.destroy());
      return true;
    },
  ],
  [
    'becomes busy',
    ({ number }, response) => {
      if (number !== 8) return false;
      response.writeHead(503, { 'retry-after': '3600' }).end();
      return true;
    },
  ],
])('a server that %s is asked for the rest by one connection', async (_, answer) => {
  const { sha256, requests } = await fetchSlowly({ answer });
  expect(sha256).toBe(hash(CONTENT));
  // The first connection may still be there to bring the rest; otherwise it takes one more. Three others were open at the failure.
  expect(requests.filter(({ number, end }) => number > 8 && end === CONTENT.length).length).toBeLessThanOrEqual(1);
  expect(requests.length).toBeLessThanOrEqual(9 + 3 + 1);
});

test('a file that changes in the middle is fetched again: two files are never joined', async () => {
  const other = randomBytes(CONTENT.length);
  const film = ({ number }: Request): Film => (number < 8 ? {} : { content: other, etag: '"two"' });
  expect((await fetchSlowly({ film })).sha256).toBe(hash(other));
});

test('a server that ignores If-Range and changes the file is found out by its tag', async () => {
  const other = randomBytes(CONTENT.length);
  const answer: Answer = ({ number, start, end }, response) => {
    if (number < 8) return false;
    response.writeHead(start > 0 ? 206 : 200, {
      etag: '"two"',
      ...(start > 0 && { 'content-range': `bytes ${start}-${end - 1}/${other.length}` }),
    });
    response.end(other.subarray(start, end));
    return true;
  };
  expect((await fetchSlowly({ answer })).sha256).toBe(hash(other));
});

test('an import that is stopped ends all connections', async () => {
  const stop = new AbortController();
  await using server = await serveSlowly({
    answer: ({ number }) => {
      if (number === 3) stop.abort(new Error('stopped'));
      return false;
    },
  });
  await expect(fetched(server.url, { ...SHORT, signal: stop.signal, maxBytes: 1e8 })).rejects.toThrow('stopped');
});
