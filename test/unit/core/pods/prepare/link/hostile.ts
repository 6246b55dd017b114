/**
 * Runs a network of traps: test/unit/core/pods/prepare/link/guard.hostile.test.ts starts this program in a network namespace. The addresses
 * that imports must avoid really exist there, with a listener at each, so that a missing connection is the importer's own decision. The C
 * library resolves names through a DNS server that lies.
 */
import { createSocket } from 'node:dgram';
import { createServer, type Server } from 'node:http';
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fetchInto } from '../../../../../../src/core/pods/prepare/link/fetch.ts';
import { quiet, room, sinkTo } from '../../../../../kit/make/prepare.ts';

export const PUBLIC = '93.184.216.34';
/** DNS answers by name: the first time, the second time and so on; the last answer repeats. */
const NAMES: Record<string, string[][]> = {
  'public.example': [[PUBLIC]],
  'private.example': [['10.0.0.1']],
  'loopback.example': [['127.0.0.1']],
  'mixed.example': [[PUBLIC, '127.0.0.1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'nat64.example': [['64:ff9b::a9fe:a9fe']],
  'six.example': [['::1']],
  'metadata.google.internal': [['169.254.169.254']],
  'ec2.example': [['fd00:ec2::254']],
  'shared.example': [['100.64.0.1']],
  'rebinds.example': [[PUBLIC], ['127.0.0.1']],
  'rebinds-later.example': [[PUBLIC], ['169.254.169.254']],
};
const CONTENT = Buffer.alloc(200_000, 'x');

/** The number of IPv4 queries by name. */
const asked: Record<string, number> = {};
/** Local addresses with a connection. */
const connected = new Set<string>();

/** RFC 1035 4: the reply repeats the question, with an answer for each address of its family. */
function answerTo(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  const type = query.readUInt16BE(at + 1);
  const name = labels.join('.').toLowerCase();
  const answers = NAMES[name];
  const turn = asked[name] ?? 0;
  if (type === 1) asked[name] = turn + 1;
  const addresses = (answers?.[Math.min(turn, answers.length - 1)] ?? []).filter((a) => isIPv6(a) === (type === 28));
  const header = Buffer.from(query.subarray(0, 12));
  // A reply with recursion available; 3: the name does not exist.
  header.writeUInt16BE(answers ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = Buffer.from(ipaddr.parse(address).toByteArray());
    const record = Buffer.alloc(12 + data.length);
    // A pointer to the question's name, the type, the class IN, a TTL of zero, the address.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    data.copy(record, 12);
    return record;
  });
  return Buffer.concat([header, query.subarray(12, at + 5), ...records]);
}

async function listen(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const [path, target] = (request.url ?? '').split('?', 2);
    if (path === '/to') return response.writeHead(302, { location: decodeURIComponent(target ?? '') }).end();
    response.setHeader('content-length', CONTENT.length).setHeader('etag', '"one"');
    if (path !== '/drops') return response.end(CONTENT);
    return response.write(CONTENT.subarray(0, 1000), () => response.destroy());
  });
  server.on('connection', ({ localAddress = '' }) => connected.add(localAddress.replace('::ffff:', '')));
  // The listener has every address of the namespace, of both families.
  await new Promise<void>((done) => server.listen(port, '::', done));
  return server;
}

/** Returns `ok`, or the code of the error. */
async function tryLink(link: string, allowPrivateLinks: boolean): Promise<string> {
  await using place = await room();
  const { signal } = new AbortController();
  const limits = { allowPrivateLinks, maxBytes: 1e6, timeoutSeconds: 20, minBytesPerSecond: 0, retryDelayMs: 1 };
  try {
    await fetchInto(sinkTo(place.storage), link, { ...limits, signal, log: quiet });
    return 'ok';
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
}

export interface Report {
  outcomes: Record<string, string>;
  connected: string[];
  asked: Record<string, number>;
}

/** Prints a Report of the links in the arguments, in their order; the first argument is LOOPSTREAM_ALLOW_PRIVATE_LINKS. */
async function main([allowPrivate, ...links]: string[]): Promise<void> {
  const dns = createSocket('udp4');
  dns.on('message', (query, { port, address }) => dns.send(answerTo(query), port, address));
  await new Promise<void>((done) => dns.bind(53, '127.0.0.1', done));
  const servers = await Promise.all([80, 8080].map(listen));
  const outcomes: Record<string, string> = {};
  for (const [i, link] of links.entries()) outcomes[`${i} ${link}`] = await tryLink(link, allowPrivate === 'true');
  process.stdout.write(JSON.stringify({ outcomes, connected: [...connected], asked } satisfies Report));
  dns.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
}

if (import.meta.main) await main(process.argv.slice(2));
