import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type FetchOptions, fetchInto } from '../../../../../../src/core/pods/prepare/link/fetch.ts';
import { halfWritten, quiet, room, sinkTo } from '../../../../../kit/make/prepare.ts';
import { serve } from '../../../../../kit/serve.ts';

const CONTENT = randomBytes(300_000);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');

async function importLink(link: string, options: Partial<FetchOptions> = {}) {
  await using place = await room();
  const { storage } = place;
  try {
    const result = await fetchInto(sinkTo(storage), link, {
      allowPrivateLinks: true,
      maxBytes: 1e6,
      timeoutSeconds: 20,
      minBytesPerSecond: 0,
      signal: new AbortController().signal,
      log: quiet,
      retryDelayMs: 1,
      ...options,
    });
    return { ...result, content: await buffer(await storage.read('sources/x')) };
  } catch (error) {
    // A failed import leaves nothing behind.
    expect(await storage.head('sources/x')).toBeUndefined();
    expect(await halfWritten(place.path('media'))).toEqual([]);
    throw error;
  }
}

async function fetchedFrom(handler: RequestListener, options: Partial<FetchOptions> = {}, path = '/a.mp4') {
  await using server = await serve(handler);
  return await importLink(server.url + path, options);
}

const refused = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

describe('a link is imported', () => {
  test('completely, hashed, with its size and progress', async () => {
    const progress: number[] = [];
    const result = await fetchedFrom((_, res) => res.setHeader('content-length', CONTENT.length).end(CONTENT), {
      onProgress: (fraction) => progress.push(fraction),
    });
    expect(result).toEqual({ sha256: SHA256, sizeBytes: CONTENT.length, content: CONTENT });
    expect(progress.at(-1)).toBe(1);
  });

  test('through redirects, relative ones too', async () => {
    const result = await fetchedFrom((req, res) => {
      if (req.url === '/end') return res.end(CONTENT);
      return res.writeHead(302, { location: req.url === '/a.mp4' ? 'b' : '/end' }).end();
    });
    expect(result.sha256).toBe(SHA256);
  });

  test('with the name and password in the link, which no other host gets', async () => {
    await using other = await serve((req, res) => res.end(req.headers.authorization ?? 'nothing'));
    await using server = await serve((_, res) => res.writeHead(302, { location: other.url }).end());
    const withLogin = (url: string) => url.replace('http://', 'http://me:p%40ss@');
    expect(String((await importLink(withLogin(server.url))).content)).toBe('nothing');
    const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(String((await importLink(withLogin(other.url))).content)).toBe(basic);
  });

  test.each([201, 203, 206, 226])('with the status %i', async (status) => {
    expect((await fetchedFrom((_, res) => res.writeHead(status).end(CONTENT))).sha256).toBe(SHA256);
  });

  /** Sends parts of so many bytes at most, whatever is asked for. */
  const inParts =
    (bytes: number, headers: Record<string, string>, size = String(CONTENT.length)): RequestListener =>
    (req, res) => {
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      if (start >= CONTENT.length) return res.writeHead(416, { 'content-range': `bytes */${CONTENT.length}` }).end();
      const end = Math.min(CONTENT.length, start + bytes);
      const range = `bytes ${start}-${end - 1}/${size}`;
      return res.writeHead(206, { ...headers, 'content-range': range }).end(CONTENT.subarray(start, end));
    };

  test.each([
    [CONTENT.length, { etag: '"a"' }],
    [100_000, { etag: '"a"' }],
    [100_000, {}],
    [99_999, { 'last-modified': 'Wed, 01 Oct 2025 10:00:00 GMT' }],
  ])('in parts of %i bytes that nobody asked for, with the headers %j', async (bytes, headers) => {
    expect((await fetchedFrom(inParts(bytes, headers))).sha256).toBe(SHA256);
  });

  test.each([CONTENT.length, 70_000])('in parts of %i bytes that do not name the size of the file', async (bytes) => {
    expect((await fetchedFrom(inParts(bytes, {}, '*'))).sha256).toBe(SHA256);
  });

  test('after errors that pass', async () => {
    let asked = 0;
    const result = await fetchedFrom((_, res) => (++asked < 3 ? res.writeHead(503).end() : res.end(CONTENT)));
    expect(result.sha256).toBe(SHA256);
  });
});

describe('a source that drops in the middle', () => {
  /** Sends 100,000 bytes at a time, then breaks the connection. */
  const dropping = (etag: (request: number) => string, ranges: string[] = []) => {
    let requests = 0;
    return (req: IncomingMessage, res: ServerResponse) => {
      const tag = etag(requests++);
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      ranges.push(req.headers.range ?? '');
      const partial = start > 0 && req.headers['if-range'] === tag;
      const from = partial ? start : 0;
      res.writeHead(partial ? 206 : 200, {
        etag: tag,
        'content-length': CONTENT.length - from,
        ...(partial && { 'content-range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` }),
      });
      res.write(CONTENT.subarray(from, from + 100_000), () => from + 100_000 < CONTENT.length && res.destroy());
    };
  };

  test('is asked for the rest, and the result is exact', async () => {
    const ranges: string[] = [];
    expect((await fetchedFrom(dropping(() => '"one"', ranges))).sha256).toBe(SHA256);
    expect(ranges.length).toBeGreaterThan(1);
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range))).toBe(true);
  });

  test('and whose content changed meanwhile is fetched again: two files are never joined', async () => {
    let version = 0;
    const old = randomBytes(CONTENT.length);
    const changing: RequestListener = (req, res) => {
      version++;
      // The first version drops. A request for the rest gets the second version whole or, without If-Range, its end.
      const [content, tag] = version === 1 ? [old, '"1"'] : [CONTENT, '"2"'];
      res.setHeader('etag', tag);
      if (version === 1)
        return res.setHeader('content-length', content.length).write(old.subarray(0, 100_000), () => res.destroy());
      const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      if (from === 0) return res.end(content);
      // This server ignores If-Range.
      return res
        .writeHead(206, { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` })
        .end(content.subarray(from));
    };
    expect((await fetchedFrom(changing)).sha256).toBe(SHA256);
    expect(version).toBe(3);
  });

  test('and then sends parts of the rest is asked until all is there', async () => {
    const result = await fetchedFrom((req, res) => {
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const end = Math.min(start + 90_000, CONTENT.length);
      res.setHeader('etag', '"one"');
      if (start === 0)
        return res.setHeader('content-length', CONTENT.length).write(CONTENT.subarray(0, end), () => res.destroy());
      return res
        .writeHead(206, { 'content-range': `bytes ${start}-${end - 1}/${CONTENT.length}` })
        .end(CONTENT.subarray(start, end));
    });
    expect(result.sha256).toBe(SHA256);
  });

  test('and then sends parts without a byte is given up', async () => {
    const asking = fetchedFrom((req, res) => {
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const range = `bytes ${start}-${start + 9}/${CONTENT.length}`;
      return res
        .writeHead(206, { etag: '"a"', 'content-range': range })
        .end(CONTENT.subarray(start, start === 0 ? 10 : start));
    });
    await expect(asking).rejects.toThrow(refused('link_unreachable', 'does not send the rest'));
  });

  const DATE = 'Wed, 01 Oct 2025 10:00:00 GMT';

  /** Breaks each answer after 100,000 bytes, and sends parts where `reads` takes the condition. */
  const conditional =
    (reads: (ifRange: string | undefined) => boolean, status = 200, starts: number[] = []): RequestListener =>
    (req, res) => {
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const isRead = reads(req.headers['if-range'] as string | undefined);
      if (start > 0 && !isRead && status !== 200) return res.writeHead(status).end();
      const from = isRead ? start : 0;
      starts.push(from);
      res.writeHead(from > 0 ? 206 : 200, {
        etag: '"same"',
        'last-modified': DATE,
        'accept-ranges': 'bytes',
        'content-length': CONTENT.length - from,
        ...(from > 0 && { 'content-range': `bytes ${from}-${CONTENT.length - 1}/${CONTENT.length}` }),
      });
      return res.write(CONTENT.subarray(from, from + 100_000), () => from + 100_000 < CONTENT.length && res.destroy());
    };

  test.each<[string, (ifRange: string | undefined) => boolean, number]>([
    ['by its date alone', (ifRange) => ifRange === undefined || ifRange === DATE, 200],
    ['by its date alone, and refuses a tag', (ifRange) => ifRange === DATE, 412],
    ['without a condition', (ifRange) => ifRange === undefined, 200],
    ['without a condition, and refuses one', (ifRange) => ifRange === undefined, 400],
  ])('and is known to its server %s goes on from where it was', async (_, reads, status) => {
    const starts: number[] = [];
    expect((await fetchedFrom(conditional(reads, status, starts))).sha256).toBe(SHA256);
    expect(starts.at(-1)).toBeGreaterThanOrEqual(100_000);
  });

  test('and changes behind a server that reads no condition is fetched again: two files are never joined', async () => {
    const [old, now] = [randomBytes(CONTENT.length), CONTENT];
    let answers = 0;
    const result = await fetchedFrom((req, res) => {
      const start = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const isOld = ++answers <= 2;
      const part = start > 0 && req.headers['if-range'] === undefined;
      res.writeHead(part ? 206 : 200, {
        etag: isOld ? '"old"' : '"now"',
        'accept-ranges': 'bytes',
        'content-length': CONTENT.length - (part ? start : 0),
        ...(part && { 'content-range': `bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}` }),
      });
      if (!isOld) return res.end(now.subarray(part ? start : 0));
      return res.write(old.subarray(0, 100_000), () => res.destroy());
    });
    expect(result.sha256).toBe(SHA256);
    expect(answers).toBe(4);
  });

  /** Breaks each of the first answers in the middle, and ignores Range. */
  const breaking = (times: number, headers: Record<string, string> = {}, ranges: (string | undefined)[] = []) => {
    let answers = 0;
    return (req: IncomingMessage, res: ServerResponse) => {
      ranges.push(req.headers.range);
      res.writeHead(200, { 'content-length': CONTENT.length, ...headers });
      if (++answers > times) return res.end(CONTENT);
      return res.write(CONTENT.subarray(0, 100_000), () => res.destroy());
    };
  };

  test('and sends no ranges is fetched again', async () => {
    const ranges: (string | undefined)[] = [];
    expect((await fetchedFrom(breaking(1, { etag: '"one"' }, ranges))).sha256).toBe(SHA256);
    expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=/), undefined]);
  });

  test('and has no validator is fetched again, without a request for the rest', async () => {
    const ranges: (string | undefined)[] = [];
    expect((await fetchedFrom(breaking(2, {}, ranges))).sha256).toBe(SHA256);
    expect(ranges).toEqual([undefined, undefined, undefined]);
  });

  test('again and again is given up', async () => {
    const ranges: (string | undefined)[] = [];
    const hopeless = fetchedFrom(breaking(Number.POSITIVE_INFINITY, {}, ranges));
    await expect(hopeless).rejects.toThrow(refused('link_unreachable', 'does not send the rest'));
    expect(ranges).toHaveLength(3);
  });
});

describe('a link that cannot be imported has its code', () => {
  test.each([404, 403, 410, 500])('the answer %i is link_unreachable and named', async (status) => {
    const asking = fetchedFrom((_, res) => res.writeHead(status).end('no'));
    await expect(asking).rejects.toThrow(refused('link_unreachable', `returned status ${status}`));
  });

  test('a refused connection is link_unreachable', async () => {
    const gone = await serve((_, res) => res.end());
    await gone[Symbol.asyncDispose]();
    await expect(importLink(gone.url)).rejects.toThrow(refused('link_unreachable', 'refused the connection'));
  });

  test('a name that does not exist is link_unreachable', async () => {
    const lookup: FetchOptions['lookup'] = (host, _options, callback) =>
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), []);
    const asking = importLink('http://nowhere.example/a.mp4', { lookup });
    await expect(asking).rejects.toThrow(refused('link_unreachable', 'name does not exist'));
  });

  test('a private address is link_forbidden, also behind a redirect; a name with one is as none', async () => {
    let served = 0;
    await using inner = await serve((_, res) => res.end(String(++served)));
    await expect(importLink(inner.url, { allowPrivateLinks: false })).rejects.toThrow(refused('link_forbidden'));
    const metadata = (_: IncomingMessage, res: ServerResponse) =>
      res.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
    await expect(fetchedFrom(metadata)).rejects.toThrow(refused('link_forbidden'));
    const lookup: FetchOptions['lookup'] = (_host, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const named = inner.url.replace('127.0.0.1', 'media.example');
    await expect(importLink(named, { allowPrivateLinks: false, lookup })).rejects.toThrow(
      refused('link_unreachable', 'name does not exist'),
    );
    expect(served).toBe(0);
  });

  test('redirects that never end are link_unreachable', async () => {
    const asking = fetchedFrom((_, res) => res.writeHead(302, { location: '/again' }).end());
    await expect(asking).rejects.toThrow(refused('link_unreachable', 'redirects more than'));
  });

  test('too many bytes are media_too_large, announced or not', async () => {
    const announced = fetchedFrom((_, res) => res.setHeader('content-length', 10 ** 9).write('x'), { maxBytes: 1000 });
    await expect(announced).rejects.toThrow(refused('media_too_large'));
    const silent = fetchedFrom((_, res) => res.end(CONTENT), { maxBytes: 1000 });
    await expect(silent).rejects.toThrow(refused('media_too_large'));
  });

  test('a source that never ends within the time is prepare_timeout', async () => {
    const asking = fetchedFrom((_, res) => res.write('x'), { timeoutSeconds: 1 });
    await expect(asking).rejects.toThrow(refused('prepare_timeout'));
  });

  test('a stopped import rejects with the reason to stop', async () => {
    const stop = new AbortController();
    const asking = fetchedFrom((_, res) => res.write('x', () => stop.abort(new Error('SIGTERM'))), {
      signal: stop.signal,
    });
    await expect(asking).rejects.toThrow('SIGTERM');
  });
});
