/**
 * Taps the connection between a publisher and an RTMP receiver, and records the times of media independently of the product's own count.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Times from a publisher's first media to its last, in milliseconds since the Unix epoch. */
export interface Publish {
  firstMs: number;
  lastMs: number;
  /** Time on air, with each longer pause counted as LONGEST_MS. */
  onAirMs: number;
}

export interface Tap {
  /** The RTMP URL, without the key. */
  url: string;
  publishes: Publish[];
  /** Resets the open connection, if any, and refuses new ones for `forMs`. */
  cut(forMs: number): boolean;
  /** Stops reading from connected publishers, and leaves them connected. */
  hang(): void;
  close(): void;
}

/** A publisher's last commands are smaller than this, and media messages are larger. */
const LEAST_BYTES = 300;
/** Matches src/core/pods/streamer/control/airtime.ts: only this much of a longer pause is on air, since the picture stands still. */
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

/** Taps the receiver on that port of loopback. */
export async function startTap(port: number): Promise<Tap> {
  const publishes: Publish[] = [];
  const sockets = new Set<Socket>();
  let deafUntil = 0;
  const server = createServer((from) => {
    if (now() < deafUntil) return void from.destroy();
    const to = connect({ port, host: '127.0.0.1' });
    sockets.add(from);
    // Data that has arrived still reaches the receiver, also from a publisher that was cut off.
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
