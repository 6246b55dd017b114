/**
 * Attacks the process that looks at what viewers see, through the addresses that strangers give it: none is ever True, none costs an honest
 * stream its verdict, and no private address hears of it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STREAMER_PORT } from '../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../src/core/resources/destination/resource.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { makeFilmRendition } from '../kit/film/footage.ts';
import { makeFilm } from '../kit/film/synthetic.ts';
import { openStudio, type Studio } from '../kit/make/onair.ts';
import { buildProgram } from '../kit/make/streamer.ts';
import { publishedBy, startWatching } from '../kit/make/watching.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { type PlatformProcess, startPlatformProcess } from '../kit/system/platform-process.ts';
import {
  aroundPlatformTests,
  cluster,
  createLiveStream,
  createWatched,
  findPlatformLive,
  kube,
  readDestination,
} from '../kit/system/platform-system.ts';
import { until } from '../kit/wait.ts';

const NS = 'hostile-viewers';
const HANGING = 300;
const PER_STREAM = 5;
/** The limit of the chart. */
const MEMORY_BYTES = 512 * 2 ** 20;

const HEAD = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';
const MIB = Buffer.alloc(2 ** 20, '#EXTINF:2,\nsegment.ts\n');
let sequence = 0;

/** Writes as fast as it is read, without end. */
function pour(response: ServerResponse, head: string, block: Buffer): void {
  const more = () => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more).write(head);
  more();
}
function drip(response: ServerResponse, head: Buffer, byte: Buffer): void {
  response.write(head);
  const timer = setInterval(() => response.write(byte), 500);
  response.once('close', () => clearInterval(timer));
}
/** A playlist that has something new at each look. */
const playlist =
  (segment: string, lines = '') =>
  (response: ServerResponse) => {
    sequence += 1;
    response.end(`${HEAD}#EXT-X-MEDIA-SEQUENCE:${sequence}\n${lines}#EXTINF:2,\n${segment}?${sequence}\n`);
  };
const flvTag = Buffer.from('464c5601050000000900000000097ffff0000000000000001700000000', 'hex');

const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
  'to-private': (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
  'to-itself': (response) => response.writeHead(302, { location: '/to-itself' }).end(),
  'to-file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  'endless-playlist': (response) => pour(response, HEAD, MIB),
  bomb: (response) => response.writeHead(200, { 'content-encoding': 'br' }).end(BOMB),
  ladder: (response) => response.end(`#EXTM3U\n${'#EXT-X-STREAM-INF:BANDWIDTH=1\nladder\n'.repeat(500)}`),
  'long-names': (response) => playlist(`${'a'.repeat(8_000)}.ts`)(response),
  locked: playlist(
    'noise.ts',
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery"\n',
  ),
  files: playlist('file:///etc/passwd'),
  'inline-data': playlist('data:video/mp2t;base64,R0A='),
  noise: playlist('noise.ts'),
  dripping: playlist('dripping.ts'),
  'huge-picture': playlist('huge.ts'),
  beyond: playlist('noise.ts', '#EXT-X-BYTERANGE:1000@99999999999\n'),
  'noise.ts': (response) => pour(response, 'G', MIB),
  'huge.ts': (response) => response.end(hugeMedia),
  'dripping.ts': (response) => drip(response, MIB, Buffer.from('G')),
  'endless-tag': (response) => drip(response, flvTag, Buffer.from('x')),
  hang: () => undefined,
};
const BOMB = brotliCompressSync(Buffer.alloc(2 ** 26, 'a'));
const WATCHED = Object.keys(ANSWERS).filter((name) => !name.endsWith('.ts') && name !== 'hang');

const toGolomb = (value: number): string => {
  const bits = (value + 1).toString(2);
  return bits.padStart(2 * bits.length - 1, '0');
};
/** H.264 (ITU-T H.264, 7.3): the parameter sets of 16000×9008 pixels, and the begin of such a picture. A real one would cost a gigabyte. */
async function makeHugePicture(dir: string): Promise<Buffer> {
  const unit = (type: number, bits: string) => {
    const whole = `${bits}1`.padEnd(8 * Math.ceil((bits.length + 1) / 8), '0');
    return Buffer.from([0, 0, 0, 1, type, ...(whole.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))]);
  };
  const golomb = (...values: number[]) => values.map(toGolomb).join('');
  const baseline = '0100001011000000'.concat((62).toString(2).padStart(8, '0'));
  const sequence = unit(0x67, `${baseline}${golomb(0, 0, 2, 1)}0${golomb(16_000 / 16 - 1, 9_008 / 16 - 1)}1100`);
  const picture = unit(0x68, `${golomb(0, 0)}00${golomb(0, 0, 0)}000${golomb(0, 0, 0)}000`);
  const slice = unit(0x65, `${golomb(0, 7, 0)}0000${golomb(0)}00${golomb(0)}${'0110'.repeat(4_000)}`);
  const file = join(dir, 'huge.h264');
  await writeFile(file, Buffer.concat(Array(4).fill(Buffer.concat([sequence, picture, slice]))));
  const media = join(dir, 'huge.ts');
  await run('ffmpeg', ['-v', 'error', '-nostdin', '-f', 'h264', '-framerate', '2', '-i', file, '-c', 'copy', media]);
  return readFile(media);
}

const servers: Server[] = [];
const sockets = new Set<Socket>();
let studio: Studio;
let rtmp: RtmpServer;
let platform: PlatformProcess;
let honestUrl: string;
/** A segment whose picture claims 16K. */
let hugeMedia: Buffer;

aroundPlatformTests(NS);

async function listen<S extends Server>(server: S, port = 0, host = '127.0.0.1'): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  studio = await openStudio();
  hugeMedia = await makeHugePicture(studio.root);
  const hlsPort = await reserveFreePort();
  rtmp = await startRtmpServer({ record: join(studio.root, 'seen'), hls: { port: hlsPort } });
  honestUrl = `http://127.0.0.1:${hlsPort}/hls/film.m3u8`;
  const options = { seconds: 60, size: '320x180', draw: makeFilm(21).at };
  const film = await makeFilmRendition(join(studio.root, 'storage'), 'film', options);
  const stream = await studio.onAir(buildProgram([film], { destinations: ['honest'] }), {
    honest: [rtmp.hlsUrl, 'film'],
  });
  // The address of its pod.
  await listen(
    createServer((asked, response) => {
      const passed = request(`${stream.base}${asked.url}`, (answer) => {
        response.writeHead(answer.statusCode ?? 500);
        answer.on('error', () => response.destroy()).pipe(response);
      });
      passed.on('error', () => response.destroy()).end();
      response.once('close', () => passed.destroy());
    }),
    STREAMER_PORT,
    '127.0.0.9',
  );
  platform = await startPlatformProcess({
    KUBECONFIG: cluster.kubeconfig,
    LOOPSTREAM_NAMESPACE: NS,
    LOOPSTREAM_LEADER_ELECTION: 'false',
    LOOPSTREAM_ALLOW_PRIVATE_WATCH: 'true',
  });
});
afterAll(async () => {
  platform?.signal('SIGKILL');
  await platform?.ended;
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  await studio?.cleanUp();
  await rtmp?.close();
  await studio?.close();
});

const findStatus = async (name: string) => {
  const found = await readDestination(NS, name);
  return { live: findPlatformLive(found), checkedMs: Date.parse(found.status?.platform?.checkedAt ?? '') };
};

async function createHostile(urls: Record<string, string>): Promise<void> {
  const names = Object.keys(urls);
  for (let at = 0; at < names.length; at += PER_STREAM) {
    const destinations = names.slice(at, at + PER_STREAM);
    await Promise.all(
      destinations.map((name) => createWatched(NS, name, { kind: 'watch', policy: 'Observe', url: urls[name] ?? '' })),
    );
    await createLiveStream(NS, `by-${destinations[0]}`, { destinations, podIP: '127.0.0.10' });
  }
}

test('an honest stream keeps its verdict beside hundreds of hostile addresses, and none of them is True', async () => {
  await createWatched(NS, 'honest', { kind: 'watch', policy: 'Observe', url: honestUrl });
  await createLiveStream(NS, 'film', { destinations: ['honest'], podIP: '127.0.0.9' });
  await until('the honest stream is seen', async () => (await findStatus('honest')).live?.status === 'True', 60_000);

  const web = await listen(
    createServer((asked, response) => {
      const name = (asked.url ?? '').slice(1).split('?')[0] ?? '';
      response.on('error', () => undefined);
      (ANSWERS[name] ?? (() => response.writeHead(404).end()))(response);
    }),
  );
  // It takes connections and says nothing, whatever the protocol.
  const silent = await listen(createTcpServer());
  const babbling = await listen(
    createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('\u0003'), 200);
      socket.once('close', () => clearInterval(timer));
    }),
  );
  const urls = {
    ...Object.fromEntries(WATCHED.map((name) => [name, `http://127.0.0.1:${web}/${name}`])),
    'silent-tls': `https://127.0.0.1:${silent}/a.m3u8`,
    'silent-rtmp': `rtmp://127.0.0.1:${silent}/live/a`,
    'babbling-rtmp': `rtmp://127.0.0.1:${babbling}/live/a`,
    metadata: 'http://169.254.169.254/a.m3u8',
  };
  await createHostile(
    Object.fromEntries(Array.from({ length: HANGING }, (_, n) => [`hang-${n}`, `http://127.0.0.1:${web}/hang`])),
  );
  await createHostile(urls);

  const words = new Map<string, Set<string>>();
  const look = async () => {
    for (const destination of await kube.list(DESTINATIONS, { namespace: NS })) {
      const { status, reason } = findPlatformLive(destination) ?? {};
      const { name } = destination.metadata;
      if (status !== undefined) words.set(name, (words.get(name) ?? new Set()).add(`${status} ${reason}`));
    }
  };
  const told = (name: string) => [...(words.get(name) ?? [])].some((word) => !word.includes('NotSending'));
  await until(
    'each of them has its word',
    async () => {
      await look();
      return [...Object.keys(urls), 'hang-0', `hang-${HANGING - 1}`].every(told);
    },
    120_000,
  ).catch((error: unknown) => {
    const missing = Object.keys(urls).filter((name) => !told(name));
    throw new Error(
      `${String(error)}; without a word: ${missing.map((name) => `${name} (${[...(words.get(name) ?? [])]})`)}`,
    );
  });
  const attackedMs = Date.now();
  await until(
    'the honest stream is seen again',
    async () => {
      await look();
      return (await findStatus('honest')).checkedMs > attackedMs;
    },
    120_000,
  );

  expect([...(words.get('honest') ?? [])]).toEqual(['True Seen']);
  words.delete('honest');
  for (const [name, said] of words) expect([...said].join(), name).not.toContain('True');
  const [, peakKib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${platform.pid}/status`, 'utf8')) ?? [];
  expect(1024 * Number(peakKib)).toBeLessThan(MEMORY_BYTES);
}, 900_000);

test('a name that leads to a private address is never connected to, whatever else DNS answers', async () => {
  let visits = 0;
  const port = await listen(createTcpServer(() => void visits++));
  const answers = { private: ['127.0.0.1'], mixed: ['93.184.215.14', '127.0.0.1'], metadata: ['169.254.169.254'] };
  const watching = startWatching({
    allowPrivate: false,
    lookup: (hostname, _, done) => {
      const found = Object.entries(answers).find(([name]) => hostname.startsWith(name))?.[1] ?? [];
      done(
        null,
        found.map((address) => ({ address, family: 4 })),
      );
    },
  });
  for (const name of Object.keys(answers))
    for (const scheme of ['http', 'https', 'rtmp', 'rtmps'])
      watching.add(
        `${name} ${scheme}`,
        `${scheme}://${name}.example:${port}/live/a`,
        publishedBy('http://127.0.0.10:9'),
      );
  for (const name of Object.keys(answers))
    for (const scheme of ['http', 'https', 'rtmp', 'rtmps'])
      await watching.says(`${name} ${scheme}`, 'Unknown unreachable');
  await watching.end();
  expect(visits).toBe(0);
});

test('a name whose answer changes between two connections is followed nowhere that is forbidden, even where private addresses may be watched', async () => {
  const attempts = new Set<string>();
  const note = (message: unknown) =>
    (message as { socket: Socket }).socket.on('connectionAttempt', (address) => void attempts.add(address));
  subscribe('net.client.socket', note);
  // It gives each connection one answer, so that the next one asks DNS again.
  const port = await listen(
    createServer((_, response) => playlist('segment.ts')(response.setHeader('connection', 'close'))),
  );
  let questions = 0;
  const watching = startWatching({
    lookup: (_, __, done) => {
      questions += 1;
      done(null, [{ address: questions === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
    },
  });
  watching.add('moving', `http://moving.example:${port}/live.m3u8`, publishedBy('http://127.0.0.10:9'));
  await until('it has moved', () => questions > 1);
  await watching.looked('moving', 1);
  await watching.end();
  unsubscribe('net.client.socket', note);
  expect([...attempts]).toContain('127.0.0.1');
  expect([...attempts]).not.toContain('169.254.169.254');
  expect(watching.words('moving').join()).not.toContain('True');
});
