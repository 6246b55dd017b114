/** Tests which addresses of clients' documents are fetched, and which answers are accepted. */
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createClientDocuments,
  isDocumentId,
  parseFreshness,
  readDocument,
} from '../../../../src/service/auth/client-documents.ts';

const ASKER = { address: 'address 1', network: 'network 1' };

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
});

/** Listens on a port of this machine and counts connections. */
async function listen() {
  let came = 0;
  const server = createServer((socket) => {
    came += 1;
    socket.destroy();
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { port: (server.address() as { port: number }).port, came: () => came };
}

describe('an id', () => {
  test.each(['https://app.example.com/client.json', 'https://app.example.com:8443/oauth/client?v=1'])(
    '%s is the address of a document',
    (id) => expect(isDocumentId(id)).toBe(true),
  );

  test.each([
    'http://app.example.com/c',
    'https://app.example.com',
    'https://app.example.com/',
    'https://a.example/c#x',
    'https://user@a.example/c',
    'https://a.example/../c',
    'https://a.example/%2e%2e/c',
    'https://A.example/c',
    'https://a.example:443/c',
    'https://a.example\\c',
    'https:a.example/c',
    'ftp://a.example/c',
    'abc',
    '',
    `https://a.example/${'x'.repeat(1000)}`,
  ])('%s is none', (id) => expect(isDocumentId(id)).toBe(false));
});

describe('an address of a network of our own', () => {
  test.each([
    '127.0.0.1',
    '[::1]',
    '10.0.0.1',
    '169.254.169.254',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '100.64.0.1',
    'localhost',
    'kubernetes.default.svc',
    'postgres',
    'a.internal',
  ])('is not asked: %s', async (host) => {
    const { port, came } = await listen();
    const documents = createClientDocuments({ allowPrivate: false });
    expect(await documents.load(`https://${host}:${port}/client.json`, ASKER)).not.toHaveProperty('metadata');
    expect(came()).toBe(0);
  });

  test('is not asked by a public name that leads there, not even in part', async () => {
    const { port, came } = await listen();
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1']]) {
      const documents = createClientDocuments({
        allowPrivate: false,
        lookup: (_host, _options, done) =>
          done(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          ),
      });
      expect(await documents.load(`https://app.example.com:${port}/client.json`, ASKER)).toBe('away');
    }
    expect(came()).toBe(0);
  });

  test('ports of mail, names and files are not asked anywhere', async () => {
    const documents = createClientDocuments({ allowPrivate: true });
    expect(await documents.load('https://127.0.0.1:25/client.json', ASKER)).toBe('refused');
  });
});

describe('a host that does not answer', () => {
  const open = (port: number, n: number) => `https://127.0.0.1:${port}/c${n}`;

  test('is asked once for all of its documents, which count as away', async () => {
    const { port, came } = await listen();
    const documents = createClientDocuments({ allowPrivate: true });
    expect(documents.plan(open(port, 1))).toBe('fetch');
    for (let n = 0; n < 5; n++) expect(await documents.load(open(port, n), ASKER)).toBe('away');
    expect(came()).toBe(1);
    expect(documents.plan(open(port, 9))).toBe('nothing');
  });

  test('keeps nobody waiting who only looks for what is known', async () => {
    const { port, came } = await listen();
    const documents = createClientDocuments({ allowPrivate: true });
    expect(documents.find(open(port, 1))).toBe('away');
    expect(came()).toBe(0);
  });
});

describe('a document', () => {
  const ID = 'https://app.example.com/client.json';
  const good = { client_id: ID, client_name: 'An app', redirect_uris: ['http://127.0.0.1/cb', 'cursor://x/cb'] };

  test('describes a public client', () => {
    expect(
      readDocument(ID, { ...good, grant_types: ['authorization_code', 'urn:x'], jwks_uri: 'http://10.0.0.1' }),
    ).toEqual({
      client_name: 'An app',
      redirect_uris: good.redirect_uris,
      application_type: 'native',
      grant_types: ['authorization_code'],
    });
  });

  test.each([
    ['is another client’s', { client_id: 'https://evil.example/client.json' }],
    ['has a secret', { client_secret: 'x' }],
    ['wants to prove itself by one', { token_endpoint_auth_method: 'client_secret_post' }],
    ['leads nowhere', { redirect_uris: [] }],
    ['leads somewhere dangerous', { redirect_uris: ['javascript:alert(1)'] }],
    ['deceives by its name', { client_name: 'a\u202eb' }],
  ])('that %s describes none', (_why, more) => {
    expect(readDocument(ID, { ...good, ...more })).toBeUndefined();
  });

  test.each([
    ['', 3_600_000],
    ['max-age=600', 600_000],
    ['public, max-age=1', 300_000],
    ['max-age=99999999', 86_400_000],
    ['no-store', 300_000],
  ])('with Cache-Control "%s" is fresh for %d ms', (header, ms) => expect(parseFreshness(header)).toBe(ms));
});
