/**
 * Tests a client whose id is the address of its document, from the first request to a token, on a server that trusts the test's authority.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import {
  authorize,
  begin,
  getCode,
  type Person,
  refresh,
  signIn,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { makeAuthority } from '../../kit/real/certificates.ts';
import { type ApiProcess, startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';

let site: TestSite;
const directory = tempDir();
let documents: Server;
/** Begins each answer, and never ends it. */
let slow: Server;
let server: ApiProcess;
/** The public address of the server. */
let url: string;
let ada: Person;
let origin: string;
const asked: string[] = [];
const slowAsked: string[] = [];

const REDIRECTS = ['http://127.0.0.1:7777/callback', 'https://vscode.dev/redirect'];

beforeAll(async () => {
  const authority = await makeAuthority(join(directory, 'authority'));
  const { certFile, keyFile } = await authority.issue('apps', 'IP:127.0.0.1');
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  documents = createServer({ cert, key }, ({ url: path = '' }, response) => {
    asked.push(path);
    const about = { client_id: `${origin}${path}`, client_name: 'Night scheduler', redirect_uris: REDIRECTS };
    if (path === '/moved.json') return response.writeHead(302, { location: '/client.json' }).end();
    const size = path === '/large.json' ? 20_000 : 0;
    const told = path === '/other.json' ? { ...about, client_id: `${origin}/client.json` } : about;
    return response
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=600' })
      .end(JSON.stringify({ ...told, padding: ' '.repeat(size) }));
  });
  slow = createServer({ cert, key }, ({ url: path = '' }, response) => {
    slowAsked.push(path);
    response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    const trickle = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(trickle));
  });
  for (const each of [documents, slow]) await new Promise<void>((done) => each.listen(0, '127.0.0.1', done));
  origin = `https://127.0.0.1:${(documents.address() as AddressInfo).port}`;
  site = await startTestSite();
  const person = await site.person('ada');
  const port = await reserveFreePort();
  url = `http://127.0.0.1:${port}`;
  server = await startApiProcess({
    ...site.environment,
    LOOPSTREAM_PORT: String(port),
    LOOPSTREAM_PUBLIC_URL: url,
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    NODE_EXTRA_CA_CERTS: authority.caFile,
  });
  ada = { ...person, cookie: await signIn(url, person) };
});

afterAll(async () => {
  server?.signal('SIGTERM');
  await server?.ended;
  for (const each of [documents, slow]) {
    each?.closeAllConnections();
    each?.close();
  }
  await site?.stop();
});

const clientAt = (path: string) => ({ client_id: `${origin}${path}`, redirect_uris: REDIRECTS });

test('it is said that such clients are taken', async () => {
  const metadata = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({ client_id_metadata_document_supported: true });
});

test('a client is let in by its document, which is asked once', async () => {
  const client = clientAt('/client.json');
  const tokens = await authorize(url, ada, client, { scope: 'service:read offline_access' });
  const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  expect([me.status, await me.json()]).toMatchObject([200, { id: ada.accountId }]);
  expect((await refresh(url, client, tokens.refresh_token ?? '')).status).toBe(200);
  // A loopback redirect may have any port, but no other page.
  const { back } = await getCode(url, ada, client, { redirect_uri: 'http://127.0.0.1:33418/callback' });
  expect(back.port).toBe('33418');
  const stolen = await begin(url, ada, client, { redirect_uri: 'https://evil.example/redirect' });
  expect(stolen.location.origin).toBe(url);
  expect(asked.filter((path) => path === '/client.json')).toHaveLength(1);
  const shown = await fetch(`${url}/api/auth/oauth2/public-client?client_id=${encodeURIComponent(client.client_id)}`, {
    headers: { cookie: ada.cookie },
  });
  expect(await shown.json()).toMatchObject({
    client_id: client.client_id,
    client_name: 'Night scheduler',
    verified: false,
  });
});

test.each(['/moved.json', '/large.json', '/other.json'])('%s describes no client', async (path) => {
  const { location } = await begin(url, ada, clientAt(path));
  expect([location.origin, location.pathname, location.searchParams.get('error')]).toEqual([
    url,
    '/consent',
    'invalid_client',
  ]);
  expect(asked.filter((one) => one === path)).toHaveLength(1);
});

test('a document that trickles holds nobody up, and its host is left alone then', async () => {
  const { port } = slow.address() as AddressInfo;
  const at = (path: string) => ({ client_id: `https://127.0.0.1:${port}${path}`, redirect_uris: REDIRECTS });
  let isOver = false;
  const opening = begin(url, ada, at('/trickle.json')).finally(() => {
    isOver = true;
  });
  await expect.poll(() => slowAsked).toEqual(['/trickle.json']);
  await signIn(url, ada);
  expect(isOver).toBe(false);
  expect((await opening).location.searchParams.get('error')).toBe('invalid_client');
  const again = await begin(url, ada, at('/another.json'));
  expect(again.location.searchParams.get('error')).toBe('invalid_client');
  expect(slowAsked).toEqual(['/trickle.json']);
});

test('a server without access to private networks sends no request there', async () => {
  const before = asked.length;
  const { location } = await begin(site.url, await site.person('ada'), clientAt('/private.json'));
  expect([location.origin, location.searchParams.get('error')]).toEqual([site.url, 'invalid_client']);
  expect(asked).toHaveLength(before);
});
