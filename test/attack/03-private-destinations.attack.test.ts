/**
 * Attacks private networks through a destination, which must neither reach our own nor reveal what is there. The tests run the pods' code,
 * with the setting of a hosted service; no connection may happen, and all refusals are alike.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildDestinationStatus } from '../../src/core/operator/destination/status.ts';
import { probe } from '../../src/core/pods/probe/probe.ts';
import type { DnsLookup } from '../../src/core/pods/streamer/output/resolve.ts';
import { ingestForbidden } from '../../src/core/resources/destination/forbidden.ts';
import { readIngest } from '../../src/core/resources/destination/ingest.ts';
import { failed } from '../kit/make/destinations.ts';
import { openStudio, type Studio } from '../kit/make/onair.ts';
import { destination, NOW } from '../kit/make/operator.ts';
import { buildProgram } from '../kit/make/streamer.ts';

let studio: Studio;
/** A listener on loopback, as the API server of Kubernetes has one; it counts connections. */
let port: number;
let visits = 0;
const closers: (() => void)[] = [];

beforeAll(async () => {
  studio = await openStudio();
  const tcp = createServer((socket) => {
    visits += 1;
    socket.on('error', () => undefined).destroy();
  }).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  ({ port } = tcp.address() as AddressInfo);
  const udp = createSocket('udp4', () => {
    visits += 1;
  }).bind(port, '127.0.0.1');
  await once(udp, 'listening');
  closers.push(
    () => void tcp.close(),
    () => void udp.close(),
  );
});
afterEach(async () => {
  await studio.cleanUp();
  expect(visits, 'connections to what is private').toBe(0);
});
afterAll(async () => {
  for (const close of closers) close();
  await studio?.close();
});

const options = { sender: 'ffmpeg', allowPrivate: false };
const test_ = (rtmpUrl: string, lookup?: DnsLookup) =>
  probe({ rtmpUrl, rtmpKey: 'k' }, { ...options, ...(lookup && { lookup }) });
const answering =
  (...addresses: string[]): DnsLookup =>
  async () =>
    addresses.map((address) => ({ address }));
const unknown: DnsLookup = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

/** Hosts that are private by their text alone, in every spelling that a C library would understand. */
const LITERAL = [
  ...[
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '１２７.0.0.1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[::]',
    '0.0.0.0',
  ],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
  ],
  ...[
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ],
];
const NAMES = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'kubernetes',
    'kubernetes.default.svc',
    'kubernetes.default.svc.',
  ],
  ...[
    'kubernetes.default.svc.cluster.local',
    'KUBERNETES.DEFAULT.SVC.CLUSTER.LOCAL',
    'metadata.google.internal',
    'db.internal',
  ],
  ...['router.lan', 'printer.local', 'wiki.corp', 'ｌocalhost'],
];

describe('a host that is private by its text', () => {
  test.each([...LITERAL, ...NAMES])(
    '%s is refused by the API and by the operator, and a pod connects to nothing',
    async (host) => {
      for (const scheme of ['rtmp', 'rtmps', 'srt']) {
        const url = `${scheme}://${host}:${port}/live`;
        const { ingest } = readIngest(url);
        expect(ingest && ingestForbidden(ingest, false), url).toMatch(/must have a public host/);
        const data = { rtmpUrl: Buffer.from(url).toString('base64'), rtmpKey: Buffer.from('k').toString('base64') };
        const secret = { metadata: { name: 'tv-secret' }, data } as unknown as Parameters<
          typeof buildDestinationStatus
        >[1];
        const status = buildDestinationStatus(destination('tv', undefined), secret, NOW, {
          allowPrivateDestinations: false,
        });
        expect(status.conditions?.[0]).toMatchObject({ status: 'False', reason: 'DestinationInvalid' });
      }
      const never: DnsLookup = () => Promise.reject(new Error('must not be asked'));
      expect(await test_(`rtmp://${host}:${port}/live`, never)).toMatchObject({ ok: false, code: 'dns_failed' });
    },
  );
});

test('every address that is not public gets the same words, at the same stage, after the same time', async () => {
  const results = await Promise.all([
    test_('rtmp://no-such-name.example.com/live', unknown),
    test_(`rtmp://rebound.example.com:${port}/live`, answering('127.0.0.1')),
    test_(`rtmps://rebound.example.com:${port}/live`, answering('10.0.0.1')),
    test_(`srt://rebound.example.com:${port}`, answering('127.0.0.1')),
    test_(`rtmp://half.example.com:${port}/live`, answering('93.184.215.14', '127.0.0.1')),
    test_('rtmp://meta.example.com:80/live', answering('169.254.169.254')),
    test_(`rtmp://mapped.example.com:${port}/live`, answering('::ffff:127.0.0.1')),
    test_(`rtmp://zone.example.com:${port}/live`, answering('fe80::1%lo')),
    test_('rtmp://empty.example.com/live', answering()),
    test_(`rtmp://127.0.0.1:${port}/live`),
    test_('rtmp://kubernetes.default.svc:443/live'),
  ]);
  for (const result of results) expect(result).toEqual(results[0]);
  expect(results[0]).toMatchObject({ ok: false, stage: 'resolve', code: 'dns_failed', tookMs: 1000 });
});

test('link-local addresses are out of reach even where private ones are allowed', async () => {
  for (const host of ['169.254.169.254', '[fe80::1]']) {
    const result = await probe({ rtmpUrl: `rtmp://${host}/live`, rtmpKey: 'k' }, { ...options, allowPrivate: true });
    expect(result).toMatchObject({ ok: false, stage: 'resolve' });
  }
});

test('a stream on air connects to nothing private, whatever DNS answers the second time, and shows the same for all', async () => {
  let asked = 0;
  // The name is public at the check and private at the use: one attempt resolves only once.
  const rebinding: DnsLookup = async (host) => {
    if (host.startsWith('rebound')) return [{ address: '127.0.0.1' }];
    asked += 1;
    throw new Error('no such name');
  };
  const names = ['literal', 'rebound', 'secure', 'absent'];
  const stream = await studio.onAir(
    buildProgram(studio.items, { destinations: names }),
    {
      literal: [`rtmp://127.0.0.1:${port}/live`, 'k'],
      rebound: [`rtmp://rebound.example.com:${port}/live`, 'k'],
      secure: [`rtmps://rebound.example.com:${port}/live`, 'k'],
      absent: ['rtmp://absent.example.com/live', 'k'],
    },
    { env: { LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'false' }, lookup: rebinding },
  );
  const told = await Promise.all(names.map((name) => failed(stream, name, 'dns_failed')));
  expect(new Set(told).size).toBe(1);
  expect(asked).toBeGreaterThan(0);
  await stream.stop();
});
