/**
 * Attacks with one account in every way that delays others, again and again. It sends media that claims to last for years, slow links,
 * streams without credit, and tests of a silent destination.
 */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { sleep } from '../../../src/core/lib/clock.ts';
import type { Call } from './account.ts';

const BETWEEN_BYTES_MS = 2_000;
/** The rate is just below the default limit of an account (600 a minute). */
const BETWEEN_REQUESTS_MS = 110;
const STREAMS = 40;
const QUALITIES = ['q_720p', 'q_1080p', 'q_1440p', 'q_2160p'];

export interface Attack {
  /** Answers by request and status, e.g. `test 202`. */
  answers: Map<string, number>;
  stop(): Promise<void>;
}

const listen = async (server: HttpServer | Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** Serves media at a byte every two seconds. */
function createSlowServer(): HttpServer {
  return createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 50_000_000 });
    response.write(Buffer.from('\0\0\0\x20ftypisom', 'latin1'));
    const timer = setInterval(() => response.write('\0'), BETWEEN_BYTES_MS);
    response.once('close', () => clearInterval(timer));
  });
}

/** Begins at once; resolves when the first wave of each kind has been sent. `bombUrl` has media of years in a megabyte. */
export async function attack(call: Call, bombUrl: string): Promise<Attack> {
  const over = new AbortController();
  const answers = new Map<string, number>();
  const slow = createSlowServer();
  const silent = createServer((socket) => socket.on('error', () => undefined));
  const [slowPort, silentPort] = [await listen(slow), await listen(silent)];
  const send = async (what: string, method: string, path: string, body?: unknown) => {
    await sleep(BETWEEN_REQUESTS_MS, over.signal);
    const answer = await call(method, path, body);
    const key = `${what} ${answer.status}`;
    answers.set(key, (answers.get(key) ?? 0) + 1);
    return answer.body;
  };
  const upload = (what: string, url: string) => send(what, 'POST', '/uploads/from-link', { type: 'VIDEO', url });
  const rtmpUrl = `rtmp://127.0.0.1:${silentPort}/live`;
  const destination = await send('destination', 'POST', '/destinations', { name: 'silent', rtmpUrl, rtmpKey: 'k' });
  const bombs: string[] = [];
  for (let n = 0; n < 4; n++) bombs.push((await upload('bomb', `${bombUrl}?${n}`))?.objectID);
  const again = async (wave: (n: number) => Promise<unknown>, waves = Number.POSITIVE_INFINITY) => {
    for (let n = 0; n < waves && !over.signal.aborted; n++) await wave(n).catch(() => undefined);
  };
  const stream = async (n: number) => {
    const made = await send('stream', 'POST', '/streams', {
      name: `greedy-${n}`,
      quality: QUALITIES[n % QUALITIES.length],
      framerate: 'f_30',
      destinationID: destination?.id,
      videoUploadObjectID: bombs[n % bombs.length],
    });
    if (made?.id) await send('start', 'POST', `/streams/${made.id}/start?whenReady=true`);
  };
  const running = [
    again((n) => upload('slow link', `http://127.0.0.1:${slowPort}/slow-${n}.mp4`), 60),
    again(stream, STREAMS),
    again(() => send('test', 'POST', `/destinations/${destination?.id}/test`)),
  ];
  await sleep(10_000);
  return {
    answers,
    async stop() {
      over.abort();
      await Promise.all(running);
      slow.closeAllConnections();
      slow.close();
      silent.close();
    },
  };
}
