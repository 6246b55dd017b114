/** Tests bodies as servers really send them: plain under a meaningless header, and compressed. */
import { createHash, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { failure, fetched, fetchedFrom, serveRaw } from '../../../../../kit/make/links.ts';

// Half of it can be compressed, so that compressed and plain bytes differ in length.
const CONTENT = Buffer.concat([randomBytes(100_000), Buffer.alloc(100_000, 'loop')]);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');

const packed: Record<string, (plain: Buffer) => Buffer> = {
  gzip: (plain) => zlib.gzipSync(plain),
  'x-gzip': (plain) => zlib.gzipSync(plain),
  deflate: (plain) => zlib.deflateSync(plain),
  br: (plain) => zlib.brotliCompressSync(plain),
  zstd: (plain) => zlib.zstdCompressSync(plain),
};
const serving =
  (body: Buffer, encoding: string | string[]): RequestListener =>
  (_, res) =>
    res.setHeader('content-encoding', encoding).setHeader('content-length', body.length).end(body);

describe('a body is taken as it is', () => {
  test.each([
    ...[
      '',
      ' ',
      'identity',
      'IDENTITY',
      'Identity ',
      'aws-chunked',
      'AWS-Chunked',
      'aws-chunked,',
      ',',
      'identity, aws-chunked',
    ],
    ...['none', 'binary', '8bit', 'utf-8', 'null'],
  ])('under Content-Encoding %j', async (encoding) => {
    expect((await fetchedFrom(serving(CONTENT, encoding))).sha256).toBe(SHA256);
  });

  test('under headers that are repeated', async () => {
    expect((await fetchedFrom(serving(CONTENT, ['identity', 'aws-chunked', '']))).sha256).toBe(SHA256);
  });

  test.each(['gzip', 'zstd'])('where %s is claimed of plain bytes', async (encoding) => {
    const mp4 = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42'), CONTENT]);
    expect((await fetchedFrom(serving(mp4, encoding))).content).toEqual(mp4);
  });

  test('where there is nothing in it', async () => {
    expect((await fetchedFrom(serving(Buffer.alloc(0), 'gzip'))).sizeBytes).toBe(0);
  });
});

describe('a body is unpacked', () => {
  test.each(Object.keys(packed))('from %s', async (coding) => {
    const body = packed[coding]?.(CONTENT) ?? CONTENT;
    const result = await fetchedFrom(serving(body, coding.toUpperCase()));
    expect(result).toMatchObject({ sha256: SHA256, sizeBytes: CONTENT.length });
  });

  test('from deflate without its zlib header, which some servers leave out', async () => {
    expect((await fetchedFrom(serving(zlib.deflateRawSync(CONTENT), 'deflate'))).sha256).toBe(SHA256);
  });

  test.each([['aws-chunked, gzip'], ['gzip, aws-chunked,'], [['aws-chunked', 'gzip']]])(
    'from gzip under %j',
    async (encoding) => {
      expect((await fetchedFrom(serving(zlib.gzipSync(CONTENT), encoding))).sha256).toBe(SHA256);
    },
  );

  test('from codings on top of each other, the last one first', async () => {
    const body = zlib.brotliCompressSync(zlib.gzipSync(CONTENT));
    expect((await fetchedFrom(serving(body, 'gzip, br'))).sha256).toBe(SHA256);
  });

  test('from gzip in several members, as logs and backups have them', async () => {
    const body = Buffer.concat([zlib.gzipSync(CONTENT.subarray(0, 1000)), zlib.gzipSync(CONTENT.subarray(1000))]);
    expect((await fetchedFrom(serving(body, 'gzip'))).sha256).toBe(SHA256);
  });

  test('with its progress, which is that of the bytes on the way', async () => {
    const progress: number[] = [];
    await fetchedFrom(serving(zlib.gzipSync(CONTENT), 'gzip'), { onProgress: (fraction) => progress.push(fraction) });
    expect(progress.at(-1)).toBe(1);
    expect(Math.max(...progress)).toBe(1);
  });
});

describe('a packed body that breaks off', () => {
  const BODY = zlib.gzipSync(CONTENT);
  const half = Math.floor(BODY.length / 2);

  /** Breaks the first answer in the middle; then sends the requested rest. */
  const breaking = (headers: Record<string, string>, rest: Buffer = BODY, ranges: string[] = []): RequestListener => {
    let answers = 0;
    return (req, res) => {
      ranges.push(req.headers.range ?? '');
      if (++answers === 1) {
        res.writeHead(200, { ...headers, 'content-encoding': 'gzip', 'content-length': BODY.length });
        return res.write(BODY.subarray(0, half), () => res.destroy());
      }
      const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      const range = { 'content-range': `bytes ${from}-${rest.length - 1}/${rest.length}` };
      return res
        .writeHead(from > 0 ? 206 : 200, { ...headers, 'content-encoding': 'gzip', ...(from > 0 && range) })
        .end(rest.subarray(from));
    };
  };

  test('is joined as it was sent, and unpacked behind the joint', async () => {
    const ranges: string[] = [];
    expect((await fetchedFrom(breaking({ etag: '"a"' }, BODY, ranges))).sha256).toBe(SHA256);
    expect(ranges).toEqual(['', expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    expect(Number(/\d+/.exec(ranges[1] ?? '')?.[0])).toBeLessThanOrEqual(half);
  });

  test.each([
    ['a weak tag', { etag: 'W/"a"' }],
    ['a date alone', { 'last-modified': new Date(0).toUTCString() }],
    ['nothing', {}],
  ])('under %s is fetched again from the start, since it may be packed in another way', async (_what, headers) => {
    const ranges: string[] = [];
    const again = zlib.gzipSync(CONTENT, { level: 1 });
    expect((await fetchedFrom(breaking(headers as Record<string, string>, again, ranges))).sha256).toBe(SHA256);
    expect(ranges).toEqual(['', '']);
  });

  test('and continues plain is fetched again from the start', async () => {
    let answers = 0;
    const result = await fetchedFrom((req, res) => {
      answers++;
      if (answers === 1) {
        res.writeHead(200, { etag: '"a"', 'content-encoding': 'gzip', 'content-length': BODY.length });
        return res.write(BODY.subarray(0, half), () => res.destroy());
      }
      const from = Number(/bytes=(\d+)-/.exec(req.headers.range ?? '')?.[1] ?? 0);
      if (from === 0) return res.end(CONTENT);
      return res
        .writeHead(206, { etag: '"a"', 'content-range': `bytes ${from}-${BODY.length - 1}/${BODY.length}` })
        .end(CONTENT.subarray(from, BODY.length));
    });
    expect(result.sha256).toBe(SHA256);
    expect(answers).toBe(3);
  });
});

describe('a body that cannot be decoded is link_unreachable', () => {
  test.each(['compress', 'dcb', 'gzip, compress'])('as %s, which is named', async (encoding) => {
    await expect(fetchedFrom(serving(CONTENT, encoding))).rejects.toThrow(
      failure('link_unreachable', 'encodes the file as'),
    );
  });

  test('where its bytes do not match their coding', async () => {
    const broken = zlib.gzipSync(CONTENT);
    broken.fill(0xff, 5000, 6000);
    await expect(fetchedFrom(serving(broken, 'gzip'))).rejects.toThrow(
      failure('link_unreachable', 'cannot be decoded'),
    );
  });

  test('where it ends too soon', async () => {
    const cut = zlib.gzipSync(CONTENT).subarray(0, 5000);
    await expect(fetchedFrom(serving(cut, 'gzip'))).rejects.toThrow(failure('link_unreachable', 'cannot be decoded'));
  });
});

test('an empty header of a raw answer, as object stores send it, is none', async () => {
  await using server = await serveRaw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Encoding:\r\nContent-Length: 4\r\n\r\nloop`),
  );
  expect(String((await fetched(`${server.url}/a`)).content)).toBe('loop');
});
