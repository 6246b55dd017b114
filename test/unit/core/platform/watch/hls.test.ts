/** Reads addresses of HLS as servers have them; what is decoded is what a player would decode. */
import { createCipheriv } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../../src/core/lib/clock.ts';
import type { MediaInput } from '../../../../../src/core/platform/watch/decode.ts';
import { HlsReader } from '../../../../../src/core/platform/watch/hls.ts';
import { ByteBudget, openWeb, WatchError, type Web } from '../../../../../src/core/platform/watch/web.ts';

const { signal } = new AbortController();
const HEAD = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';
/** A packet of MPEG-TS, with a byte to tell it by. */
const packets = (byte: number, count = 2) =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.concat([Buffer.from([0x47]), Buffer.alloc(187, byte)])));

let server: Server;
let web: Web;
let base: string;
let files: Record<string, string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void)>;
let asked: string[];
let decoded: { container: string; bytes: Buffer }[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1);
    asked.push(path);
    const file = files[path];
    if (typeof file === 'function') file(request, response);
    else if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  web = openWeb({ allowPrivate: true });
});
afterAll(async () => {
  await web.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  [files, asked, decoded] = [{}, [], []];
});

function open(name = 'a.m3u8'): HlsReader {
  const decode = async ({ container, media }: MediaInput) => {
    decoded.push({ container, bytes: Buffer.concat(media) });
    return { kind: 'pictures' as const, pictures: [] };
  };
  return new HlsReader(`${base}${name}`, { web, decode, budget: new ByteBudget(2 ** 26), clock: systemClock });
}

async function sample(reader: HlsReader) {
  const read = await reader.read(signal);
  if (read.kind !== 'media') throw new Error(read.kind);
  return reader.sample(read.playlist, signal);
}

describe('a sample', () => {
  const list = (count: number) => Array.from({ length: count }, (_, at) => `#EXTINF:2,\n${at}.ts\n`).join('');

  test('has the newest seconds of media in their order, and nothing twice', async () => {
    files = { 'a.m3u8': HEAD + list(5), '3.ts': packets(3), '4.ts': packets(4), '5.ts': packets(5) };
    const reader = open();
    expect(await sample(reader)).toMatchObject({ kind: 'media', sequence: 4 });
    expect(decoded[0]).toEqual({ container: 'mpegts', bytes: Buffer.concat([packets(3), packets(4)]) });
    expect(await sample(reader)).toBeNull();
    files['a.m3u8'] = HEAD + list(6);
    expect(await sample(reader)).toMatchObject({ sequence: 5 });
    expect(decoded[1]?.bytes).toEqual(packets(5));
  });

  test('is missing when the newest segment is, and is none when it is only out of reach', async () => {
    files = { 'a.m3u8': HEAD + list(2), '0.ts': packets(1) };
    expect(await sample(open())).toEqual({ kind: 'fault', fault: 'segments_missing' });
    files['1.ts'] = (_, response) => void response.writeHead(403).end();
    expect(await sample(open())).toBeNull();
  });

  test('of something else than media cannot be decoded', async () => {
    files = { 'a.m3u8': HEAD + list(1), '0.ts': '<!doctype html>' };
    expect(await sample(open())).toEqual({ kind: 'fault', fault: 'not_decodable' });
  });

  test('of sound alone has no picture', async () => {
    files = { 'a.m3u8': HEAD + list(1), '0.ts': Buffer.from('fff15080', 'hex') };
    expect(await sample(open())).toMatchObject({ kind: 'media', pictures: [] });
    expect(decoded).toEqual([]);
  });

  test('has only the head of a very long segment', async () => {
    files = { 'a.m3u8': HEAD + list(2), '0.ts': packets(1), '1.ts': packets(2, 100_000) };
    await sample(open());
    expect(decoded[0]?.bytes.length).toBe(8 * 2 ** 20);
  });

  test('has its initialization, once fetched, in front', async () => {
    const box = (name: string) => Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from(name)]);
    const line = '#EXT-X-MAP:URI="init.mp4"\n';
    files = { 'a.m3u8': `${HEAD}${line}${list(1)}`, 'init.mp4': box('ftyp'), '0.ts': box('moof'), '1.ts': box('moof') };
    const reader = open();
    await sample(reader);
    files['a.m3u8'] = `${HEAD}${line}${list(2)}`;
    await sample(reader);
    expect(decoded.map(({ container, bytes }) => [container, bytes.toString('latin1', 4, 8)])).toEqual([
      ['mov', 'ftyp'],
      ['mov', 'ftyp'],
    ]);
    expect(asked.filter((path) => path === 'init.mp4')).toHaveLength(1);
  });

  test('has a range of a file, also of a server that knows no ranges', async () => {
    const whole = Buffer.concat([packets(1), packets(2), packets(3)]);
    files = { 'a.m3u8': `${HEAD}#EXT-X-BYTERANGE:376@376\n#EXTINF:2,\nall.ts\n`, 'all.ts': whole };
    await sample(open());
    files['all.ts'] = ({ headers }, response) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
      response.writeHead(206).end(whole.subarray(Number(first), Number(last) + 1));
    };
    await sample(open());
    expect(decoded.map(({ bytes }) => bytes)).toEqual([packets(2), packets(2)]);
  });
});

test.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
  ['a range beyond the end of its file', (_, response) => void response.writeHead(416).end()],
  ['a range that a server without ranges does not reach', (_, response) => void response.end(packets(1))],
  [
    'a coding that nobody asked for',
    (_, response) => void response.writeHead(206, { 'content-encoding': 'br' }).end(packets(1)),
  ],
])('a segment with %s says nothing of viewers', async (_, file) => {
  files = { 'a.m3u8': `${HEAD}#EXT-X-BYTERANGE:376@9999\n#EXTINF:2,\nall.ts\n`, 'all.ts': file };
  expect(await sample(open())).toBeNull();
});

test('an initialization that is larger than any is says nothing of viewers', async () => {
  files = {
    'a.m3u8': `${HEAD}#EXT-X-MAP:URI="init.mp4"\n#EXTINF:2,\n0.ts\n`,
    'init.mp4': Buffer.alloc(100_000),
    '0.ts': packets(1),
  };
  expect(await sample(open())).toBeNull();
});

test('a ladder and its rendition have one limit of time together', async () => {
  const late = (text: string) => (_: IncomingMessage, response: ServerResponse) => {
    setTimeout(() => response.end(text), 7_000).unref();
  };
  files = {
    'a.m3u8': late('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\none.m3u8\n'),
    'one.m3u8': late(`${HEAD}#EXTINF:2,\n0.ts\n`),
  };
  await expect(open().read(signal)).rejects.toEqual(new WatchError('unreachable'));
  expect(asked).toEqual(['a.m3u8', 'one.m3u8']);
}, 60_000);

describe('a key in the clear', () => {
  const key = Buffer.alloc(16, 9);
  const encrypt = (bytes: Buffer, iv: Buffer) => {
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    return Buffer.concat([cipher.update(bytes), cipher.final()]);
  };
  const numbered = Buffer.alloc(16);
  numbered[15] = 7;
  const given = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');

  test.each([
    ['the number of the segment', '', numbered],
    ['a vector of its own', `,IV=0x${given.toString('hex')}`, given],
  ])('opens a segment with %s', async (_, attribute, iv) => {
    files = {
      'a.m3u8': `${HEAD}#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-KEY:METHOD=AES-128,URI="key"${attribute}\n#EXTINF:2,\n0.ts\n`,
      key,
      '0.ts': encrypt(packets(1), iv),
    };
    await sample(open());
    expect(decoded[0]?.bytes.subarray(0, 376)).toEqual(packets(1));
  });

  test.each([
    ['that we do not get', (_: IncomingMessage, response: ServerResponse) => void response.writeHead(403).end()],
    ['that is none', 'a page'],
  ])('%s is one of those who may see it', async (_, file) => {
    files = {
      'a.m3u8': `${HEAD}#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF:2,\n0.ts\n`,
      key: file,
      '0.ts': packets(1),
    };
    expect(await sample(open())).toBe('protected');
  });
});

describe('an address', () => {
  test('of a ladder with an address that has expired is read anew', async () => {
    files = { 'a.m3u8': `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\none.m3u8\n`, 'one.m3u8': `${HEAD}#EXTINF:2,\n0.ts\n` };
    const reader = open();
    await reader.read(signal);
    await reader.read(signal);
    expect(asked).toEqual(['a.m3u8', 'one.m3u8', 'one.m3u8']);
    files['a.m3u8'] = `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ntwo.m3u8\n`;
    files['one.m3u8'] = (_, response) => void response.writeHead(403).end();
    files['two.m3u8'] = `${HEAD}#EXTINF:2,\n0.ts\n`;
    expect(await reader.read(signal)).toMatchObject({ kind: 'media' });
  });

  test('that has not changed is not sent again', async () => {
    files['a.m3u8'] = ({ headers }, response) => {
      if (headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"1"' }).end(`${HEAD}#EXTINF:2,\n0.ts\n`);
    };
    const reader = open();
    const first = await reader.read(signal);
    expect(await reader.read(signal)).toEqual(first);
  });

  test('of HTTP-FLV is known by its first bytes', async () => {
    files['a.m3u8'] = (_, response) => void response.write(Buffer.from('464c560105', 'hex'));
    expect(await open().read(signal)).toEqual({ kind: 'flv' });
  });

  test.each([
    ['a ladder of ladders', '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n'],
    ['nothing', ''],
    ['a page', '<html>'],
    ['the beginning of a playlist', '#EXT'],
  ])('with %s is no media', async (_, text) => {
    files['a.m3u8'] = text;
    await expect(open().read(signal)).rejects.toEqual(new WatchError('not_media'));
  });
});
