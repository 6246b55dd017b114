/**
 * Starts the services outside the cluster: PostgreSQL, S3, an RTMP receiver and a web server with a film. They listen on loopback. Pods
 * reach them on the bridge through forwarders, one of which records the times of media.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { makeClip } from '../../make/media.ts';
import { startTestPostgres } from '../postgres.ts';
import { startRtmpServer } from '../rtmp.ts';
import { startS3Server } from '../s3-server.ts';
import { runOrThrow } from './command.ts';

/** RTMP's handshake and commands precede media; a client that has sent this much sends media. */
const BEFORE_MEDIA_BYTES = 8192;
const RESOLUTION_MS = 5;

/** Forwards TCP connections byte by byte. `onData` gets the clients' data. */
async function forward(host: string, target: number, onData?: (total: number) => void) {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: target });
    let total = 0;
    client.on('data', (chunk) => {
      total += chunk.length;
      onData?.(total);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  const close = async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Records the arrival of media, in milliseconds of `performance.now()`. */
export function createMeter() {
  const times: number[] = [];
  return {
    onData: (total: number) => {
      const now = performance.now();
      if (total > BEFORE_MEDIA_BYTES && now - (times.at(-1) ?? 0) > RESOLUTION_MS) times.push(now);
    },
    /** Returns the longest time without media since `from`, and the time since the last media. */
    silence: (from: number) => {
      const now = performance.now();
      // The last media before `from` counts, since a silence begins there.
      const begin = Math.max(
        0,
        times.findLastIndex((time) => time <= from),
      );
      let longest = 0;
      for (let i = begin + 1; i < times.length; i += 1) {
        longest = Math.max(longest, (times[i] ?? 0) - (times[i - 1] ?? 0));
      }
      const current = now - (times.at(-1) ?? from);
      return { longestMs: Math.max(longest, current), currentMs: current };
    },
    /** Returns for how long media has come without a pause of a second or more. */
    steadyMs: () => {
      const now = performance.now();
      let since = now;
      for (let i = times.length - 1; i >= 0 && since - (times[i] ?? 0) < 1000; i -= 1) since = times[i] ?? since;
      return now - since;
    },
  };
}
export type Meter = ReturnType<typeof createMeter>;

export interface Outside {
  /** Ports by the name of a Service that leads there. */
  ports: Record<'postgres' | 's3' | 'receiver' | 'watched' | 'films', number>;
  databaseUrl(host: string): string;
  s3: { bucket: string; accessKeyId: string; secretAccessKey: string };
  /** Recordings of the receiver, oldest first: one for each publish. */
  recordings(key: string): Promise<string[]>;
  meter: Meter;
  close(): Promise<void>;
}

/** Makes a film that must be encoded and is so long that other pods help, of pictures that are encoded fast. */
const makeLongFilm = (path: string): Promise<unknown> =>
  runOrThrow('ffmpeg', [
    ...[
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      'smptebars=s=160x90:r=2:d=420',
      '-f',
      'lavfi',
      '-i',
      'sine=440:r=48000:d=420',
    ],
    ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '20', '-c:a', 'aac', path],
  ]);

export async function startOutside(host: string): Promise<Outside> {
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-outside-'));
  const [film, long] = [join(dir, 'film.mp4'), join(dir, 'long.mp4')];
  const [postgres, s3, receiver] = await Promise.all([
    startTestPostgres(),
    startS3Server(),
    startRtmpServer({ record: join(dir, 'recordings') }),
    makeClip(film, { seconds: 4 }),
    makeLongFilm(long),
  ]);
  await s3.client.send(new CreateBucketCommand({ Bucket: 'media' }));
  const films = createHttpServer((request, response) => {
    const path = [film, long].find((path) => request.url === `/${basename(path)}`);
    if (path === undefined) {
      response.statusCode = 404;
      response.end();
      return;
    }
    void stat(path).then(({ size }) => {
      response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': size });
      if (request.method === 'HEAD') response.end();
      else createReadStream(path).pipe(response);
    });
  });
  films.listen(0, host);
  await once(films, 'listening');
  const meter = createMeter();
  const database = new URL(postgres.url);
  const forwards = {
    postgres: await forward(host, Number(database.port)),
    s3: await forward(host, Number(new URL(s3.endpoint).port)),
    receiver: await forward(host, receiver.port),
    // The same receiver for the measured stream: other streams must not hide its silence.
    watched: await forward(host, receiver.port, meter.onData),
  };
  return {
    ports: {
      postgres: forwards.postgres.port,
      s3: forwards.s3.port,
      receiver: forwards.receiver.port,
      watched: forwards.watched.port,
      films: (films.address() as AddressInfo).port,
    },
    databaseUrl: (name) => {
      const url = new URL(database);
      url.hostname = name;
      url.port = String(forwards.postgres.port);
      return url.href;
    },
    s3: { bucket: 'media', ...s3.credentials } as Outside['s3'],
    recordings: (key) => receiver.recordings(key),
    meter,
    close: async () => {
      films.closeAllConnections();
      films.close();
      await Promise.all(Object.values(forwards).map((one) => one.close()));
      await Promise.all([postgres.stop(), s3.close(), receiver.close()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
