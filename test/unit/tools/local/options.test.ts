import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../src/core/settings/settings.ts';
import type { Context } from '../../../../tools/local/context.ts';
import { findPublicUrl } from '../../../../tools/local/facts.ts';
import { parseLocalOptions, splitTarget } from '../../../../tools/local/options.ts';
import { summary } from '../../../../tools/local/summary.ts';
import { claimPort } from '../../../../tools/process/ports.ts';

describe('the command line of the local system', () => {
  test('without arguments everything comes up on the default ports of this machine alone', () => {
    expect(parseLocalOptions([])).toMatchObject({
      command: 'up',
      host: '127.0.0.1',
      port: 8080,
      rtmpPort: 1935,
      demo: true,
    });
  });

  test.each([
    [['--port', 'x'], '--port must be a port from 0 to 65535, not "x".'],
    [['--port', '70000'], '--port must be a port from 0 to 65535, not "70000".'],
    [['--nonsense'], '--help'],
    [['dance'], '"dance" is not a command'],
    [['stop', 'now'], '"now" is not a command'],
    [['--crypto', '--operator-only'], '--crypto needs the API server'],
    [['--kind', '--operator-only'], 'Leave out --kind, or --operator-only'],
    [['--kind', '--crypto'], 'Leave out --kind, or --crypto'],
    [['--keep'], 'Add --kind, or leave it out'],
    [['--image', 'loopstream:1'], 'Add --kind, or leave it out'],
    [['grant'], 'grant you@example.com'],
    [['grant', 'you@example.com', '5', 'now'], '"now" is not a command'],
    [['pay', '0x12', '1'], 'pay 0x… 0.01'],
    [['pay', `0x${'a'.repeat(40)}`, '1,5'], 'pay 0x… 0.01'],
    [['pay', `0x${'a'.repeat(40)}`], 'pay 0x… 0.01'],
    [['pay', `0x${'a'.repeat(40)}`, '1', 'now'], '"now" is not a command'],
  ])('%j is refused with a sentence that helps', (args, sentence) => {
    expect(() => parseLocalOptions(args)).toThrow(ConfigError);
    expect(() => parseLocalOptions(args)).toThrow(sentence);
  });

  test.each(['port', 'rtmp-port', 'media-port', 'mail-port', 'kube-port', 'chain-port'])(
    '--%s is refused where browsers refuse it, and another port is named',
    (option) => {
      expect(() => parseLocalOptions([`--${option}`, '10080'])).toThrow(
        `Browsers open no address with port 10080, which belongs to another protocol. Choose another one: make run ARGS="--${option} 10081".`,
      );
      expect(() => parseLocalOptions([`--${option}=6665`])).toThrow(`"--${option} 6670"`);
    },
  );

  test('a payment of the local chain’s customer is read to the last unit', () => {
    const to = `0x${'aB'.repeat(20)}`;
    const parsePayment = (amount: string) => parseLocalOptions(['pay', to, amount]).payment;
    expect(parsePayment('0.01')).toEqual({ to, wei: 10n ** 16n });
    expect(parsePayment('12.000000000000000001')).toEqual({ to, wei: 12n * 10n ** 18n + 1n });
    expect(parseLocalOptions(['pay', '--help']).command).toBe('help');
  });

  test('an operator-only system has no account, so no demo', () => {
    expect(parseLocalOptions(['--operator-only'])).toMatchObject({ operatorOnly: true, demo: false });
  });

  test.each([
    ['rtmp://host/app/key', { rtmpUrl: 'rtmp://host/app', rtmpKey: 'key' }],
    ['rtmps://live.example.com:443/rtmp/a/b?x=1', { rtmpUrl: 'rtmps://live.example.com:443/rtmp/a', rtmpKey: 'b?x=1' }],
  ])('--to %s is an ingest URL and a key', (to, parts) => {
    expect(splitTarget(to)).toEqual(parts);
  });

  test.each(['http://host/app/key', 'rtmp://host/app', 'rtmp://host/app/', 'key'])('--to %s is refused', (to) => {
    expect(() => splitTarget(to)).toThrow('rtmp://host/app/key');
  });
});

describe('ports', () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  test('a taken port is refused with its number and the option that changes it', async () => {
    const server = createServer();
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await expect(claimPort('rtmp-port', port)).rejects.toThrow(
      `Port ${port} is in use. Free it, or choose another one: make run ARGS="--rtmp-port ${port + 1}".`,
    );
  });

  test('a port at which a browser would find another program by the name localhost is refused', async () => {
    const server = createServer();
    open.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: 0, host: '::1', ipv6Only: true }, resolve);
    });
    const { port } = server.address() as AddressInfo;
    await expect(claimPort('port', port, '127.0.0.1', { isNamed: true })).rejects.toThrow(`Port ${port} is in use.`);
    expect(await claimPort('rtmp-port', port)).toBe(port);
  });

  test('0 takes a free one', async () => {
    expect(await claimPort('port', 0)).toBeGreaterThan(0);
  });

  test('an address that this machine does not have is refused', async () => {
    await expect(claimPort('port', 0, '192.0.2.1')).rejects.toThrow('This machine has no address 192.0.2.1');
  });
});

test('the closing lines leave out missing parts of an operator-only system, and give agents their address', () => {
  const facts = {
    apiUrl: null,
    graphqlUrl: null,
    mcpUrl: null,
    apiKey: null,
    email: null,
    password: null,
    databaseUrl: null,
    kubeconfig: '/k',
    rtmpUrl: 'rtmp://h/live',
    pageUrl: null,
    demoStreamId: null,
    playUrl: 'http://h/live',
    mailUrl: null,
    chainUrl: null,
    pid: 1,
  };
  const text = summary(facts, { watch: undefined, stateDir: '/s' });
  expect(text).toContain('export KUBECONFIG=/k');
  expect(text).not.toMatch(/API key|Dashboard|Agents|Credit|null/);
  const mcpUrl = 'http://127.0.0.1:8080/mcp';
  const whole = summary(
    { ...facts, mcpUrl, databaseUrl: 'postgres://u:secret@h/d' },
    { watch: undefined, stateDir: '/s' },
  );
  expect(whole).toMatch(/^ {2}Credit +make run ARGS="grant you@example.com"/m);
  expect(whole).not.toContain('secret');
  expect(whole).toMatch(
    /^ {2}Agents +http:\/\/127\.0\.0\.1:8080\/mcp .*npx -y mcp-remote http:\/\/127\.0\.0\.1:8080\/mcp\)$/m,
  );
});

describe('the public address of the local system', () => {
  const find = (host: string, settings: Record<string, string> = {}) =>
    findPublicUrl({ env: { settings }, options: { host }, ports: { api: 8080 } } as unknown as Context);

  test('has a name wherever this machine has one, since browsers keep passkeys for names only', () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::']) expect(find(host)).toBe('http://localhost:8080');
    expect(find('192.0.2.7')).toBe('http://192.0.2.7:8080');
    expect(find('2001:db8::7')).toBe('http://[2001:db8::7]:8080');
  });

  test('is the one that the owner has set, if any', () => {
    expect(find('127.0.0.1', { LOOPSTREAM_PUBLIC_URL: 'https://loops.example.com/' })).toBe(
      'https://loops.example.com',
    );
  });
});
