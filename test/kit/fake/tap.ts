/** A tap between a publisher and an RTMP receiver: it notes when media came, and knows nothing of how anybody else counts. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** From the first media of a publisher to the last. Milliseconds since the Unix epoch. */
export interface Publish {
  firstMs: number;
  lastMs: number;
  /** The same, of longer pauses LONGEST_MS each. */
  onAirMs: number;
}

export interface Tap {
  /** RTMP, without the key. */
  url: string;
  publishes: Publish[];
  /** Tears the connection off, if there is one, and takes none for so long. */
  cut(forMs: number): boolean;
  /** Reads no more of the publishers that are there, and leaves them connected. */
  hang(): void;
  close(): void;
}

/** What comes after the last media to say goodbye is smaller, and what carries media is larger. */
const LEAST_BYTES = 300;
/** As the service has it (src/media/streamer/control/airtime.ts): a longer pause is not all on air, the picture stands. */
const LONGEST_MS = 2500;

const now = (): number => performance.timeOrigin + performance.now();

function watch(from: Socket, to: Socket, publishes: Publish[]): void {
  let said = '';
  let accepted = false;
  let publish: Publish | undefined;
  to.on('data', (data) => {
    said = accepted ? '' : (said + data.toString('latin1')).slice(-4096);
    accepted ||= said.includes('NetStream.Publish.Start');
    from.write(data);
  });
  from.on('data', (data) => {
    to.write(data);
    if (!accepted || data.length < LEAST_BYTES) return;
    const at = now();
    if (publish === undefined) {
      publish = { firstMs: at, lastMs: at, onAirMs: 0 };
      publishes.push(publish);
    }
    publish.onAirMs += Math.min(at - publish.lastMs, LONGEST_MS);
    publish.lastMs = at;
  });
}

/** Before the receiver on that port of loopback. */
export async function startTap(port: number): Promise<Tap> {
  const publishes: Publish[] = [];
  const sockets = new Set<Socket>();
  let deafUntil = 0;
  const server = createServer((from) => {
    if (now() < deafUntil) return void from.destroy();
    const to = connect({ port, host: '127.0.0.1' });
    sockets.add(from);
    // What has come goes on to the receiver, also of a publisher that was torn off.
    from
      .on('error', () => undefined)
      .once('close', () => {
        sockets.delete(from);
        to.end();
      });
    to.on('error', () => undefined).once('close', () => from.destroy());
    watch(from, to, publishes);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const cut = (forMs: number): boolean => {
    deafUntil = now() + forMs;
    const had = sockets.size > 0;
    for (const socket of sockets) socket.resetAndDestroy();
    return had;
  };
  const close = () => {
    server.close();
    cut(0);
  };
  const hang = () => {
    for (const socket of sockets) socket.pause();
  };
  return { url: `rtmp://127.0.0.1:${address.port}/live`, publishes, cut, hang, close };
}
