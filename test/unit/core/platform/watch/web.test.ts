/** Asks servers as they are: each of their answers is media, or a fault with a word of ours. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FetchFault } from '../../../../../src/core/platform/watch/verdict.ts';
import {
  ByteBudget,
  decodeText,
  openWeb,
  readBody,
  WatchError,
  type Web,
} from '../../../../../src/core/platform/watch/web.ts';

const CODED: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};
const { signal } = new AbortController();
const question = { late: AbortSignal.timeout(60_000), signal };
let server: Server;
let base: string;
let web: Web;

beforeAll(async () => {
  server = createServer((request, response) => {
    const [, kind, value = ''] = (request.url ?? '').split('/');
    if (kind === 'status') response.writeHead(Number(value)).end('x');
    else if (kind === 'to') response.writeHead(302, { location: decodeURIComponent(value) }).end();
    else if (kind === 'hops')
      response.writeHead(302, { location: Number(value) > 1 ? `/hops/${Number(value) - 1}` : '/ok' }).end();
    else if (kind === 'coded')
      response.writeHead(200, { 'content-encoding': value }).end(CODED[value]?.(Buffer.alloc(5_000_000, 'a')));
    else if (kind === 'cut') {
      response.writeHead(200, { 'content-length': 100 }).write('only a part');
      setImmediate(() => response.destroy());
    } else if (kind === 'large') response.end(Buffer.alloc(Number(value)));
    else response.end(request.headers.authorization ?? 'open');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  web = openWeb({ allowPrivate: true });
});
afterAll(async () => {
  await web.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const limits = (maxBytes = 2 ** 20, take: (bytes: number) => boolean = () => true) => ({ maxBytes, take, signal });
const ask = (path: string, login = '') => web.ask(`http://${login}${base}${path}`, question);
const findFault = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'no fault',
    (error: unknown) => (error instanceof WatchError ? error.fault : error),
  );

test.each([
  [404, 'address_not_found'],
  [410, 'address_not_found'],
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [451, 'unauthorized'],
  [429, 'rate_limited'],
  [500, 'server_failing'],
  [503, 'server_failing'],
  [204, 'not_media'],
  [302, 'not_media'],
] as [number, FetchFault][])('status %i is %s', async (status, fault) => {
  expect(await findFault(ask(`/status/${status}`))).toBe(fault);
});

describe('redirects', () => {
  test('are followed as far as a browser would see a film', async () => {
    const { bytes } = await readBody(await ask('/hops/4'), limits());
    expect(bytes.toString()).toBe('open');
    expect(await findFault(ask('/hops/40'))).toBe('not_media');
  });
  test.each([
    ['http://169.254.169.254/latest', 'forbidden_address'],
    ['file:///etc/passwd', 'not_media'],
    ['http://', 'not_media'],
  ])('pass the same gates: %s', async (to, fault) => {
    expect(await findFault(ask(`/to/${encodeURIComponent(to)}`))).toBe(fault);
  });
  test('take a login no farther than its server', async () => {
    const own = await readBody(await ask('/own', 'ada:%C3%A4:1@'), limits());
    expect(own.bytes.toString()).toBe(`Basic ${Buffer.from('ada:ä:1').toString('base64')}`);
    const other = await readBody(await ask(`/to/${encodeURIComponent(`http://${base}/x`)}`, 'ada:1@'), limits());
    expect(other.bytes.toString()).toBe('open');
  });
});

test('nobody there, and a name that leads to a private address, are out of reach alike', async () => {
  expect(await findFault(web.ask('http://127.0.0.1:9/a', question))).toBe('unreachable');
  const lookup = (
    _: string,
    __: { all: true },
    done: (error: null, found: { address: string; family: number }[]) => void,
  ) => done(null, [{ address: '10.0.0.1', family: 4 }]);
  const strict = openWeb({ allowPrivate: false, lookup });
  expect(await findFault(strict.ask('http://tv.example/a', question))).toBe('unreachable');
  await strict.close();
});

describe('bodies', () => {
  test('that break off are out of reach', async () => {
    expect(await findFault(ask('/cut').then((answer) => readBody(answer, limits())))).toBe('unreachable');
  });
  test('are cut at their limit', async () => {
    const { bytes, isCut } = await readBody(await ask('/large/300000'), limits(1_000));
    expect([bytes.length, isCut]).toEqual([1_000, true]);
  });
  test('of all looks together hold no more than the budget, which is free again afterwards', async () => {
    const budget = new ByteBudget(200_000);
    const read = () => budget.spend(async (take) => readBody(await ask('/large/150000'), limits(2 ** 20, take)));
    const held = budget.spend(async (take, _, hasAll) => {
      take(100_000);
      hasAll();
      await read();
    });
    expect(await findFault(held)).toBe('unreachable');
    expect((await read()).bytes).toHaveLength(150_000);
  });
  test('that come slowly yield to others that starve, unless all of them are there', async () => {
    const budget = new ByteBudget(100);
    const hold = (bytes: number, isWhole = false) => {
      const end = Promise.withResolvers<void>();
      let isLate = () => false;
      const held = budget.spend(async (take, late, hasAll) => {
        take(bytes);
        if (isWhole) hasAll();
        isLate = () => late.aborted;
        await end.promise;
        return take(1);
      });
      const finish = () => {
        end.resolve();
        return held;
      };
      return { isLate: () => isLate(), finish };
    };
    const holders = { whole: hold(40, true), slow: hold(30), next: hold(30) };
    expect(await budget.spend(async (take) => take(20))).toBe(true);
    expect(Object.entries(holders).map(([name, { isLate }]) => [name, isLate()])).toEqual([
      ['whole', false],
      ['slow', true],
      ['next', false],
    ]);
    expect(await holders.slow.finish(), 'one that has yielded takes no more').toBe(false);
    await Promise.all([holders.whole.finish(), holders.next.finish()]);
    expect(await budget.spend(async (take) => take(100)), 'all is free again').toBe(true);
  });
  test.each(Object.keys(CODED))('of few bytes of %s that become many are too large', async (coding) => {
    const answer = await ask(`/coded/${coding}`);
    const { bytes } = await readBody(answer, limits());
    expect(await findFault(decodeText(answer, bytes, 1_000_000))).toBe('playlist_too_large');
    expect(await decodeText(answer, bytes, 5_000_000)).toHaveLength(5_000_000);
  });
  test('in a coding that is not known may be read by viewers', async () => {
    const answer = await ask('/coded/constructor');
    const { bytes } = await readBody(answer, limits());
    expect(await findFault(decodeText(answer, bytes, 1_000))).toBe('unreachable');
  });
});
