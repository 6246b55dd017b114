/** Tests the built page as browsers get it: compressed as they accept it, and cached until it changes. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

const PAGE = '<!doctype html><title>loopstream</title>';
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
