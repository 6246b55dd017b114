/** Tests the built page as browsers get it: compressed as they accept it, cached until it changes, and 404 where there is nothing. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAGE_PATHS } from '../../../../../src/service/lib/page-paths.ts';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const PAGE = '<!doctype html><title>loopstream</title>';
const EXPLAINED = ['docs', 'graphql', 'mcp'];
const SCRIPT = 'export const all = 1;';
const dir = tempDir();
let server: TestServer;

beforeAll(async () => {
  mkdirSync(join(dir, 'assets'));
  for (const [name, text] of [
    ['index.html', PAGE],
    ['assets/index-abc123.js', SCRIPT],
  ] as const) {
    writeFileSync(join(dir, name), text);
    writeFileSync(join(dir, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(dir, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(dir, 'assets/small-def456.js'), 'export {};');
  for (const name of EXPLAINED) writeFileSync(join(dir, `${name}.html`), `${PAGE} about ${name}`);
  writeFileSync(join(dir, 'schema.graphql'), 'type Query { me: User }');
  writeFileSync(join(dir, 'robots.txt'), 'User-agent: *\nDisallow: /\n');
  server = await buildTestServer({ settings: { DASHBOARD_DIR: dir } });
});
afterAll(() => server?.app.close());

const get = (url: string, encoding?: string) =>
  server.app.inject({ url, headers: { accept: 'text/html', ...(encoding && { 'accept-encoding': encoding }) } });

test('a browser gets the smallest coding that it accepts, and otherwise the file itself', async () => {
  const asset = '/assets/index-abc123.js';
  const br = await get(asset, 'gzip, deflate, br, zstd');
  expect(br.headers).toMatchObject({ 'content-encoding': 'br', 'content-type': expect.stringContaining('javascript') });
  expect(brotliDecompressSync(br.rawPayload).toString()).toBe(SCRIPT);
  const gz = await get(asset, 'gzip, deflate');
  expect(gz.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(gz.rawPayload).toString()).toBe(SCRIPT);
  const plain = await get(asset);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.body).toBe(SCRIPT);
  for (const { headers } of [br, gz, plain]) {
    expect(String(headers.vary).toLowerCase()).toContain('accept-encoding');
    expect(headers['cache-control']).toContain('immutable');
  }
  // The file is too small to be compressed.
  expect((await get('/assets/small-def456.js', 'br')).body).toBe('export {};');
});

test('the same holds for the page, at each address of its own, and it is revalidated each time', async () => {
  for (const path of ['/', '/streams/str-1', '/sign-in?next=/']) {
    const { statusCode, headers, rawPayload } = await get(path, 'br');
    expect({ statusCode, type: headers['content-type'] }).toEqual({
      statusCode: 200,
      type: expect.stringMatching(/html/),
    });
    expect(brotliDecompressSync(rawPayload).toString()).toBe(PAGE);
    expect(headers['cache-control']).toBe('no-cache');
  }
});

test('compressed files have no address of their own', async () => {
  for (const name of ['index-abc123.js.br', 'index-abc123.js.gz'])
    expect((await get(`/assets/${name}`)).statusCode).toBe(404);
});

test('the addresses of the page are those of its router', () => {
  const router = readFileSync(new URL('../../../../../src/dashboard/app/router.tsx', import.meta.url), 'utf8');
  const paths = [...router.matchAll(/\.\.\.at\('([^']+)'\)/g)].map(([, path = '']) => path);
  expect(paths.toSorted()).toEqual([...PAGE_PATHS].toSorted());
});

test('each address of the page is 200 at any depth, with a slash at its end and in capitals, as in its router', async () => {
  for (const path of PAGE_PATHS.map((one) => one.replace('$id', 'str-01m8')))
    for (const written of [path, `${path}?tab=1`, path === '/' ? path : `${path}/`, path.toUpperCase()])
      expect((await get(written)).statusCode, written).toBe(200);
});

test.each([
  '/nowhere',
  '/streams/str-1/more',
  '/sign-in.html',
  '/favicon.png',
  '/index.htm',
  '/docs/nowhere',
  '/..%2f..%2fetc',
])('a browser at %s gets 404 and the page, which says that there is nothing', async (path) => {
  const { statusCode, headers, body } = await get(path);
  expect(statusCode).toBe(404);
  expect(headers['content-type']).toMatch(/html/);
  expect(body).toBe(PAGE);
});

test('a program gets a problem at any address that is unknown, and so does a browser below those of programs', async () => {
  for (const path of ['/nowhere', '/streams', '/favicon.png'])
    for (const accept of ['application/json', '*/*', 'text/html, application/json']) {
      const answer = await server.app.inject({ url: path, headers: { accept } });
      expect([answer.statusCode, answer.json().code], `${path} as ${accept}`).toEqual([404, 'route_not_found']);
    }
  for (const path of ['/v1/nowhere', '/assets/gone-abc123.js', '/api/nowhere', '/mcp/nowhere', '/graphql/nowhere'])
    expect((await get(path)).json().code, path).toBe('route_not_found');
  expect(
    (await server.app.inject({ method: 'POST', url: '/nowhere', headers: { accept: 'text/html' } })).statusCode,
  ).toBe(404);
});

test('a file of the page is itself for browsers and programs, and a file that is missing is 404', async () => {
  const robots = await get('/robots.txt');
  expect([robots.statusCode, robots.headers['content-type'], robots.body]).toEqual([
    200,
    expect.stringContaining('text/plain'),
    'User-agent: *\nDisallow: /\n',
  ]);
  expect((await server.app.inject('/robots.txt')).body).toBe(robots.body);
  for (const path of ['/robots.text', '/manifest.json', '/favicon.ico'])
    expect((await get(path)).statusCode, path).toBe(404);
});

/** The header of a browser that opens an address. */
const VISIT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

test.each(EXPLAINED)(
  'a browser that opens /%s gets the page about it, with and without a slash, under the policy of pages',
  async (name) => {
    for (const url of [`/${name}`, `/${name}/`]) {
      const answer = await server.app.inject({ url, headers: { accept: VISIT } });
      expect([answer.statusCode, answer.body]).toEqual([200, `${PAGE} about ${name}`]);
      expect(answer.headers['content-security-policy']).toMatch(/script-src 'self';/);
      expect(answer.headers['cache-control']).toBe('no-cache');
    }
    expect((await get(`/${name}.html`)).statusCode, 'the address of the file').toBe(404);
  },
);

test('at the addresses of programs, a program gets what it got: another form, another method, a query in the address', async () => {
  const key = { 'x-api-key': 'ann' };
  const me = '/graphql?query=%7Bme%7Bid%7D%7D';
  for (const [method, url, headers, status] of [
    ['GET', '/graphql', {}, 401],
    ['GET', '/graphql', { ...key, accept: 'application/json' }, 400],
    ['GET', '/graphql', { ...key, accept: '*/*' }, 400],
    ['GET', '/graphql', { ...key, accept: 'text/html, application/json' }, 400],
    ['GET', me, { ...key, accept: VISIT }, 200],
    ['POST', '/graphql', { accept: VISIT }, 401],
    ['GET', '/mcp', {}, 405],
    ['GET', '/mcp', { ...key, accept: 'text/event-stream' }, 405],
    ['GET', '/mcp', { ...key, accept: 'application/json, text/event-stream' }, 405],
    ['POST', '/mcp', { accept: VISIT }, 401],
  ] as const) {
    const answer = await server.app.inject({ method, url, headers });
    expect(answer.statusCode, `${method} ${url} ${JSON.stringify(headers)}`).toBe(status);
    expect(answer.headers['content-type']).toMatch(/json/);
    expect(answer.headers['content-security-policy']).toBe(
      "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
  }
});

test('a server without pages answers browsers as it answers programs, and shows the description in place of the reference', async () => {
  const { app } = await buildTestServer();
  try {
    for (const url of ['/graphql', '/mcp', '/nowhere']) {
      const answer = await app.inject({ url, headers: { accept: VISIT } });
      expect(answer.headers['content-type'], url).toMatch(/problem\+json/);
    }
    expect((await app.inject({ url: '/docs', headers: { accept: VISIT } })).headers.location).toBe('/v1/openapi.json');
  } finally {
    await app.close();
  }
});

test('the schema is shown as a text', async () => {
  const { statusCode, headers } = await get('/schema.graphql');
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
});
