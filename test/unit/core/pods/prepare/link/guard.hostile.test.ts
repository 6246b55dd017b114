/**
 * Tests links to forbidden addresses, in a network in which every one of those addresses answers. It has real DNS through the C library,
 * real sockets, and listeners that must never see a connection.
 */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../../../kit/run.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { PUBLIC, type Report } from './hostile.ts';

/** A user namespace allows this without root. */
const ROOTLESS = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const TRAPS = ['10.0.0.1', '169.254.169.254', '100.64.0.1', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe'];
const SCRIPT = `
  ip link set lo up
  for address in ${PUBLIC} ${TRAPS.join(' ')}; do
    case $address in *:*) ip -6 addr add $address/128 dev lo nodad ;; *) ip addr add $address/32 dev lo ;; esac
  done
  mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf && exec "$@"`;

/** Imports the links in turn; returns their outcomes. */
async function reportOn(links: string[], { allowPrivate = false } = {}): Promise<Report & { codes: string[] }> {
  const dir = tempDir();
  await writeFile(join(dir, 'resolv.conf'), 'nameserver 127.0.0.1\n');
  await writeFile(join(dir, 'nsswitch.conf'), 'hosts: dns\n');
  const program = [
    process.execPath,
    resolve('test/unit/core/pods/prepare/link/hostile.ts'),
    String(allowPrivate),
    ...links,
  ];
  const args = [...ROOTLESS, '--net', '--mount', 'sh', '-ec', SCRIPT, 'sh', ...program];
  const report = JSON.parse((await run('unshare', args, { cwd: dir })).stdout) as Report;
  return { ...report, codes: Object.values(report.outcomes) };
}

test('a link never leads to an address that is not public: as a literal, by DNS, through a redirect or on another port', async () => {
  const to = (target: string) => `http://public.example/to?${encodeURIComponent(target)}`;
  const forbidden = [
    // Literals in every notation.
    ...['127.0.0.1', '2130706433', '0x7f000001', '017700000001', '0177.0.0.1', '0x7f.1', '127.1', '①②⑦.⓪.⓪.①'],
    ...['127.0.0.1.', '0', '169.254.169.254', '0xa9fea9fe', '10.0.0.1', '100.64.0.1', 'localhost', 'a.localhost.'],
    ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '[::]'],
    ...['[64:ff9b::a9fe:a9fe]', '[fd00:ec2::254]', '[2002:7f00:1::]', '[fe80::1%25lo]', '[fe80::1%lo]'],
    // Names of private networks.
    ...['metadata.google.internal', 'postgres.loopstream.svc.cluster.local', 'postgres'],
  ].map((host) => `http://${host}/film`);
  const others = [
    ...['http://user:word@127.0.0.1/film', 'https://169.254.169.254/', 'http://127.0.0.1:8080/film'],
    ...['http://public.example:22/', 'http://public.example:25/', 'ftp://public.example/film', 'file:///etc/passwd'],
    ...[to('http://127.0.0.1/film'), to('http://0x7f.1/film'), to('//[::1]/film')],
    ...[to(to('http://metadata.google.internal/film')), to('file:///etc/passwd'), to('gopher://public.example/')],
    to('http://public.example:22/'),
  ];
  // A name that DNS resolves to private addresses fails as one that it does not know.
  const unknown = [
    ...['private', 'loopback', 'mixed', 'mapped', 'nat64', 'six', 'ec2', 'shared', 'no-such-name'].map(
      (name) => `http://${name}.example/film`,
    ),
    to('http://loopback.example:8080/film'),
  ];
  const links = ['http://public.example/film', `http://${PUBLIC}:8080/film`, ...forbidden, ...others, ...unknown];
  const { codes, outcomes, connected } = await reportOn(links);
  expect(codes.slice(0, 2)).toEqual(['ok', 'ok']);
  const isUnknown = (at: number) => at >= links.length - unknown.length;
  const wrong = Object.entries(outcomes).filter(
    ([, code], at) => at >= 2 && code !== (isUnknown(at) ? 'link_unreachable' : 'link_forbidden'),
  );
  expect(wrong).toEqual([]);
  expect(codes).toHaveLength(links.length);
  expect(connected).toEqual([PUBLIC]);
});

test('a name that changes its mind is held to the answer that was checked: one question for each connection', async () => {
  const { codes, asked, connected } = await reportOn([
    // The first DNS answer is public and is used for the connection; the second is not public.
    ...['http://rebinds.example/film', 'http://rebinds.example/film'],
    // The connection breaks in the middle, and the one for the rest would lead to the cloud's credentials.
    'http://rebinds-later.example/drops',
  ]);
  expect(codes).toEqual(['ok', 'link_unreachable', 'link_unreachable']);
  expect(asked).toEqual({ 'rebinds.example': 2, 'rebinds-later.example': 2 });
  expect(connected).toEqual([PUBLIC]);
});

test('the traps are real: where private links are allowed they are reached, and link-local ones are not', async () => {
  const links = [
    'loopback.example',
    'private.example',
    '[fd00:ec2::254]',
    '169.254.169.254',
    'metadata.google.internal',
  ];
  const { codes, connected } = await reportOn(
    links.map((host) => `http://${host}/film`),
    { allowPrivate: true },
  );
  expect(codes).toEqual(['ok', 'ok', 'ok', 'link_forbidden', 'link_unreachable']);
  expect(connected).toEqual(['127.0.0.1', '10.0.0.1', 'fd00:ec2::254']);
});
