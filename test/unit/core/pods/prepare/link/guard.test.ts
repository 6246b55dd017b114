import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import type { AddressLookup } from '../../../../../../src/core/lib/guarded-agent.ts';
import { isAllowedAddress } from '../../../../../../src/core/lib/public-address.ts';
import { checkLink, linkAgent } from '../../../../../../src/core/pods/prepare/link/guard.ts';

const PRIVATE = [
  '127.0.0.1',
  '127.8.9.1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
];
const NEVER = [
  '0.0.0.0',
  '0.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001:0:53aa:64c:0:0:80ff:fffe',
  '2001:db8::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'fd00:ec2::254%1',
  'localhost',
  '',
];

describe('only public addresses are allowed', () => {
  test.each([...PRIVATE, ...NEVER])('%j is not', (address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
  });
  test.each(PRIVATE)('%j is where private links are allowed', (address) => {
    expect(isAllowedAddress(address, true)).toBe(true);
  });
  test.each(NEVER)('%j is not even there', (address) => {
    expect(isAllowedAddress(address, true)).toBe(false);
  });
  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:8.8.8.8'])(
    '%j is',
    (address) => {
      expect(isAllowedAddress(address, false)).toBe(true);
    },
  );
});

describe('a link is checked however it is spelled', () => {
  test.each([
    'http://127.0.0.1/a.mp4',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://017700000001/',
    'http://localhost:8080/',
    'http://a.LOCALHOST./',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://①②⑦.⓪.⓪.①/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]:8080/',
    'https://[::ffff:169.254.169.254]/latest/meta-data/',
    'http://user:pass@10.0.0.1/',
  ])('%s leads to a private address', (link) => {
    expect(() => checkLink(link, false)).toThrow(expect.objectContaining({ code: 'link_forbidden' }));
  });

  test.each([
    ['file:///etc/passwd', 'Only http and https links'],
    ['ftp://example.com/a', 'Only http and https links'],
    ['gopher://example.com/', 'Only http and https links'],
    ['http://[fe80::1%25eth0]/', 'zone'],
    ['http://[::1%lo]:80/', 'zone'],
    ...[22, 25, 110, 445, 1023].map((port) => [`http://example.com:${port}/`, `Port ${port} is not allowed`]),
  ])('%s is refused: %s', (link, sentence) => {
    const refusal = { code: 'link_forbidden', message: expect.stringContaining(sentence) };
    expect(() => checkLink(link, true)).toThrow(expect.objectContaining(refusal));
  });

  test('a text that is no link differs from a forbidden link', () => {
    expect(() => checkLink('nonsense', true)).toThrow(expect.objectContaining({ code: 'link_unreachable' }));
  });

  test.each(['http://example.com/a.mp4', 'https://example.com:8443/a', 'http://example.com:80/', 'https://8.8.8.8/x'])(
    '%s passes',
    (link) => {
      expect(checkLink(link, false)).toBeInstanceOf(URL);
    },
  );
});

describe('no connection is made to a private address', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
  });
  const listen = async (handler: RequestListener = (_, res) => res.end('secret')) => {
    const server = createServer(handler);
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return { server, port: (server.address() as AddressInfo).port };
  };
  const answering =
    (...addresses: string[]): AddressLookup =>
    (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
  const get = async (url: string, allowPrivate: boolean, lookup: AddressLookup) => {
    const agent = linkAgent(allowPrivate, lookup);
    try {
      return await (await request(url, { dispatcher: agent })).body.text();
    } finally {
      await agent.destroy();
    }
  };

  test.each([
    ['one private answer', ['127.0.0.1']],
    ['a public answer with a private one behind it', ['93.184.216.34', '127.0.0.1']],
    ['a mapped IPv6 answer', ['::ffff:127.0.0.1']],
    ['the metadata service', ['169.254.169.254']],
  ])('when DNS gives %s', async (_what, addresses) => {
    const { server, port } = await listen();
    let connections = 0;
    server.on('connection', () => connections++);
    const asking = get(`http://media.example:${port}/`, false, answering(...addresses));
    await expect(asking).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(connections).toBe(0);
  });

  test('when the URL holds the address itself, which no lookup sees', async () => {
    const { port } = await listen();
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433']) {
      const asking = get(`http://${host}:${port}/`, false, answering('93.184.216.34'));
      await expect(asking).rejects.toMatchObject({ code: 'link_forbidden' });
    }
  });

  test('unless private links are allowed', async () => {
    const { port } = await listen();
    expect(await get(`http://media.example:${port}/`, true, answering('127.0.0.1'))).toBe('secret');
    expect(await get(`http://127.0.0.1:${port}/`, true, answering())).toBe('secret');
  });
});
