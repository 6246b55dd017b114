/**
 * Attacks a system with all that accounts without credit can send at once: media that claims years, slow links, unfinished uploads, silent
 * destinations, objects, wrong passwords. Everything is bounded in count, goes to this machine alone, and ends with `stop`.
 */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../kit/run.ts';
import type { Stranger } from '../kit/system/strangers.ts';

/** The numbers of requests of an account. */
const LINKS = 12;
const OBJECTS = 60;
const TESTS = 40;
const HALF_SENT = 40;
const PASSWORDS = 30;
const HALF_BYTES = 2 ** 20;
const SLOW_BYTE_MS = 1000;

export interface Onslaught {
  /** The system's answers so far: a count by `noun status code`. */
  answers: ReadonlyMap<string, number>;
  /** Resolves when everything has been sent; open connections stay open. */
  sent: Promise<void>;
  /** Closes everything. */
  stop(): Promise<void>;
}

const listen = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};

/** Makes a small MP4 that claims 1001 frames, each 100,000 s after the one before. */
async function makeBomb(path: string): Promise<void> {
  const picture = ['-f', 'lavfi', '-i', 'color=black:size=64x64:rate=1:duration=1001'];
  const sparse = ['-vf', 'settb=1,setpts=N*100000', '-fps_mode', 'passthrough', '-enc_time_base', '1'];
  const how = ['-c:v', 'libx264', '-preset', 'ultrafast', '-video_track_timescale', '1'];
  await run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...picture, ...sparse, ...how, path]);
}

/** Serves the bomb, and links that send a byte now and then. */
function createHostileServer(bomb: Buffer) {
  const slow = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/bomb')) return void response.end(bomb);
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 10_000_000 });
    slow.add(response);
    response.once('close', () => slow.delete(response));
    return undefined;
  });
  const drip = setInterval(() => {
    for (const response of slow) response.write('x');
  }, SLOW_BYTE_MS);
  const close = () => {
    clearInterval(drip);
    server.closeAllConnections();
    server.close();
  };
  return { server, close };
}

/** Accepts connections and stays silent. */
function createSilentServer() {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  });
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { server, close };
}

/** Attacks with each of these accounts at once. Resolves when the first requests are on their way. */
export async function startOnslaught(attackers: readonly Stranger[]): Promise<Onslaught> {
  const dir = await mkdtemp(join(tmpdir(), 'onslaught-'));
  await makeBomb(join(dir, 'bomb.mp4'));
  const hostile = createHostileServer(await readFile(join(dir, 'bomb.mp4')));
  const silent = createSilentServer();
  const [webPort, silentPort] = await Promise.all([listen(hostile.server), listen(silent.server)]);
  const held: Socket[] = [];
  const answers = new Map<string, number>();
  const count = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1);

  async function attack(stranger: Stranger): Promise<void> {
    const ask = async (noun: string, method: string, path: string, body?: object) => {
      const answer = await stranger.call(method, path, body);
      count(`${noun} ${answer.status}${answer.status < 400 ? '' : ` ${answer.body?.code}`}`);
      return answer;
    };
    const many = <T>(times: number, one: (n: number) => Promise<T>) =>
      Promise.all(Array.from({ length: times }, (_, n) => one(n)));
    const link = (path: string) => ({ type: 'VIDEO', url: `http://127.0.0.1:${webPort}/${path}` });
    const destination = { rtmpUrl: `rtmp://127.0.0.1:${silentPort}/live`, rtmpKey: 'onslaught' };
    const target = await ask('destination', 'POST', '/destinations', { name: 'silent', ...destination });
    const bombs = await many(LINKS, (n) => ask('bomb', 'POST', '/uploads/from-link', link(`bomb-${n}.mp4`)));
    await Promise.all([
      many(LINKS, (n) => ask('slow link', 'POST', '/uploads/from-link', link(`slow-${n}.mp4`))),
      many(OBJECTS, () => ask('destination', 'POST', '/destinations', { name: 'many', ...destination })),
      many(OBJECTS, () => ask('playlist', 'POST', '/playlists', { kind: 'video', mode: 'sequential', items: [] })),
      many(OBJECTS, async (n) => {
        const wish = { name: 'many', quality: n % 2 ? 'q_720p' : 'q_1080p', framerate: 'f_30' };
        const videoUploadObjectID = bombs[n % bombs.length]?.body?.objectID ?? 'none';
        const made = await ask('stream', 'POST', '/streams', {
          ...wish,
          destinationID: target.body?.id ?? 'none',
          videoUploadObjectID,
        });
        if (made.status < 300) await ask('start', 'POST', `/streams/${made.body.id}/start?whenReady=true`);
      }),
      many(TESTS, () => ask('test', 'POST', `/destinations/${target.body?.id}/test`)),
      many(HALF_SENT, () => sendHalf(stranger, held).then((status) => count(`upload ${status}`))),
      many(PASSWORDS, () => signIn(stranger).then((status) => count(`password ${status}`))),
    ]);
  }

  const sent = Promise.all(attackers.map(attack)).then(() => undefined);
  // Callers may await `sent`; the end of the system meanwhile is no failure of the attack.
  sent.catch(() => undefined);
  return {
    answers,
    sent,
    stop: async () => {
      for (const socket of held) socket.destroy();
      hostile.close();
      silent.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Begins an upload by tus, sends all but the last kilobyte of its first piece, and keeps the connection open. */
async function sendHalf({ facts }: Stranger, held: Socket[]): Promise<number> {
  const metadata = `type ${Buffer.from('VIDEO').toString('base64')}`;
  const headers = { 'x-api-key': facts.apiKey, 'tus-resumable': '1.0.0' };
  const created = await fetch(`${facts.apiUrl}/uploads/resumable`, {
    method: 'POST',
    headers: { ...headers, 'upload-length': String(4 * HALF_BYTES), 'upload-metadata': metadata },
  });
  const location = created.headers.get('location');
  if (created.status !== 201 || !location) return created.status;
  const { hostname, port, pathname } = new URL(location, facts.apiUrl);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  held.push(socket);
  const lines = Object.entries({
    ...headers,
    host: `${hostname}:${port}`,
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
    'content-length': String(4 * HALF_BYTES),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(Buffer.alloc(HALF_BYTES - 1024));
  return created.status;
}

/** Tries a wrong password for the attacker's own account. */
async function signIn({ facts }: Stranger): Promise<number> {
  const { origin } = new URL(facts.apiUrl);
  const response = await fetch(`${origin}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ email: facts.email, password: 'not the password' }),
  });
  await response.body?.cancel();
  return response.status;
}
