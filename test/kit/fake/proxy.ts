/** What stands between a publisher and a receiver and misbehaves when told to: slow, deaf, or torn in the middle. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  port: number;
  /** Publishers that have connected so far. */
  connections(): number;
  /** Bytes that went on to the receiver. */
  forwarded(): number;
  /** Bytes a second that are read from publishers; without a number as many as come. */
  throttle(bytesPerSecond?: number): void;
  /** Reads nothing more from those who are connected, and lets the receiver go; who comes later is served. */
  stall(): void;
  /** Sends half of what comes next to the receiver and answers the publisher with RST. */
  tear(): void;
  close(): Promise<void>;
}

const STEP_MS = 50;

class Pair {
  readonly from: Socket;
  readonly to: Socket;
  deaf = false;
  torn = false;
  constructor(from: Socket, to: Socket) {
    this.from = from;
    this.to = to;
  }
}

/** To `port` on loopback. */
export async function startProxy(port: number): Promise<Proxy> {
  const pairs = new Set<Pair>();
  let connections = 0;
  let forwarded = 0;
  let rate: number | undefined;
  const pump = (pair: Pair, most?: number): void => {
    const { from, to } = pair;
    if (pair.deaf) return;
    const size = Math.min(from.readableLength, most ?? Number.POSITIVE_INFINITY);
    const data = size > 0 ? (from.read(size) as Buffer | null) : null;
    if (!data) return void from.read(0);
    const part = pair.torn ? data.subarray(0, Math.ceil(data.length / 2)) : data;
    forwarded += part.length;
    to.write(part);
    if (!pair.torn) return;
    to.end();
    from.resetAndDestroy();
  };
  const server = createServer((from) => {
    connections++;
    const to = connect({ port, host: '127.0.0.1' });
    const pair = new Pair(from, to);
    pairs.add(pair);
    from.on('readable', () => rate === undefined && pump(pair)).on('error', () => undefined);
    to.on('data', (data) => void from.write(data)).on('error', () => undefined);
    from.once('close', () => {
      pairs.delete(pair);
      to.destroy();
    });
    to.once('close', () => from.destroy());
  }).listen(0, '127.0.0.1');
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const seconds = (nowMs - lastMs) / 1000;
    lastMs = nowMs;
    if (rate === undefined) return;
    // For as long as it was: a timer of a busy machine is late, and a third of the rate would be called a stall.
    for (const pair of pairs) pump(pair, Math.ceil(rate * seconds));
  }, STEP_MS);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    connections: () => connections,
    forwarded: () => forwarded,
    throttle: (bytesPerSecond) => {
      rate = bytesPerSecond;
      if (rate === undefined) for (const pair of pairs) pump(pair);
    },
    stall: () => {
      for (const pair of pairs) {
        pair.deaf = true;
        pair.to.removeAllListeners('close').destroy();
      }
    },
    tear: () => {
      for (const pair of pairs) pair.torn = true;
    },
    close: async () => {
      clearInterval(timer);
      server.close();
      for (const { from, to } of pairs) {
        from.destroy();
        to.destroy();
      }
      await once(server, 'close');
    },
  };
}
