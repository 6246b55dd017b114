/** Tests servers that are away for a while: the Job tries a few times, and reports how long the server asks clients to wait. */
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { readRetryAfter } from '../../../../../../src/core/pods/prepare/link/outage.ts';
import { failure, fetched, fetchedFrom, serveRaw } from '../../../../../kit/make/links.ts';
import { serve } from '../../../../../kit/serve.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const inSeconds = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

describe('Retry-After is read', () => {
  test.each<[string, string | string[] | undefined, number | undefined]>([
    ['as seconds', '120', 120],
    ['with blanks around', ' 8 ', 8],
    ['with a fraction', '1.5', 1.5],
    ['as nothing to wait for', '0', 0],
    ['as a date', inSeconds(90).toUTCString(), 90],
    ['as a date that is over', inSeconds(-90).toUTCString(), 0],
    ['as a date of RFC 850', 'Sunday, 01-Mar-26 12:01:00 GMT', 60],
    ['as a date in ISO 8601', inSeconds(30).toISOString(), 30],
    ['from the first value that is one', ['soon', '7'], 7],
    ['however long', '99999999', 99999999],
    ['as nothing where it is no number and no date', 'soon', undefined],
    ['as nothing where it is negative', '-5', undefined],
    ['as nothing where it is empty', '', undefined],
    ['as nothing where there is none', undefined, undefined],
  ])('%s', (_what, header, seconds) => {
    expect(readRetryAfter({ 'retry-after': header }, NOW)).toEqual(seconds === undefined ? undefined : seconds * 1000);
  });

  test('by the clock of the server, which may be wrong', () => {
    const headers = { date: inSeconds(86_400).toUTCString(), 'retry-after': inSeconds(86_400 + 20).toUTCString() };
    expect(readRetryAfter(headers, NOW)).toBe(20_000);
  });
});

describe('a server that is away for a moment is waited for in the Job', () => {
  test.each([202, 408, 425, 429, 500, 502, 503, 504, 509, 520, 522, 529])('after %i', async (status) => {
    let asked = 0;
    const result = await fetchedFrom((_, res) => (++asked < 3 ? res.writeHead(status).end() : res.end('film')));
    expect(String(result.content)).toBe('film');
    expect(asked).toBe(3);
  });

  test('as long as it asks for', async () => {
    let firstAt: number | undefined;
    let early = 0;
    const result = await fetchedFrom((_, res) => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt >= 1000) return res.end('film');
      early++;
      return res.writeHead(503, { 'retry-after': '1' }).end();
    });
    expect(String(result.content)).toBe('film');
    expect(early).toBe(1);
  });

  test('after a connection that is reset', async () => {
    let asked = 0;
    await using server = await serveRaw((socket) => {
      if (++asked < 3) return socket.resetAndDestroy();
      return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfilm');
    });
    expect(String((await fetched(server.url)).content)).toBe('film');
  });

  test('after a name that could not be resolved', async () => {
    await using server = await serve((_, res) => res.end('film'));
    let asked = 0;
    const result = await fetched(server.url.replace('127.0.0.1', 'media.example'), {
      lookup: (host, _options, callback) =>
        ++asked < 3
          ? callback(Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}`), { code: 'EAI_AGAIN' }), [])
          : callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    expect(String(result.content)).toBe('film');
  });
});

describe('a server that stays away is left to the operator', () => {
  const later = (seconds: number) => expect.objectContaining({ code: 'link_unreachable', retryAfterSeconds: seconds });

  test.each<[string, RequestListener]>([
    ['answers 503', (_, res) => res.writeHead(503).end()],
    ['answers 429', (_, res) => res.writeHead(429).end()],
    ['breaks the connection', (req) => req.socket.destroy()],
    ['breaks off each time', (_, res) => res.writeHead(200, { 'content-length': 9 }).write('x', () => res.destroy())],
  ])('where it %s', async (_what, handler) => {
    await expect(fetchedFrom(handler)).rejects.toThrow(later(0));
  });

  test('at once where it asks for more time than a Job may keep its place', async () => {
    let asked = 0;
    const away = fetchedFrom((_, res) => {
      asked++;
      res.writeHead(503, { 'retry-after': '60' }).end();
    });
    await expect(away).rejects.toThrow(later(60));
    expect(asked).toBe(1);
  });

  test('also where it forbids and says until when', async () => {
    const away = fetchedFrom((_, res) => res.writeHead(403, { 'retry-after': '120' }).end());
    await expect(away).rejects.toThrow(later(120));
  });

  test('where it refuses the connection, or does not answer', async () => {
    const gone = await serve((_, res) => res.end());
    await gone[Symbol.asyncDispose]();
    await expect(fetched(gone.url)).rejects.toThrow(later(0));
    await expect(fetchedFrom(() => undefined, { openTimeoutMs: 50 })).rejects.toThrow(later(0));
  });
});

describe('a fault that minutes do not fix is reported at once', () => {
  const final = (message: string) =>
    expect.objectContaining({ ...failureFields(message), retryAfterSeconds: undefined });
  const failureFields = (message: string) => ({
    code: 'link_unreachable',
    message: expect.stringMatching(message),
  });

  test.each([
    [401, 'login'],
    [403, 'everybody'],
    [404, 'does not exist'],
    [410, 'was removed'],
    [500, '500'],
    [501, '501'],
  ])('%i', async (status, advice) => {
    await expect(fetchedFrom((_, res) => res.writeHead(status).end())).rejects.toThrow(final(advice));
  });

  test('an error document of an object store, in its own words', async () => {
    const body =
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message><AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>';
    const expired = fetchedFrom((_, res) => res.writeHead(403, { 'content-type': 'application/xml' }).end(body));
    await expect(expired).rejects.toThrow(failure('link_unreachable', 'AccessDenied: Request has expired'));
    await expect(expired).rejects.not.toThrow('AKIASECRET');
  });
});
