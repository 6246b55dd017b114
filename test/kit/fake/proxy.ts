/** Proxies a publisher to a receiver and misbehaves on demand: slow, stalled, or reset in the middle. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  port: number;
  /** Publishers that have connected so far. */
  connections(): number;
  /** Bytes forwarded to the receiver. */
  forwarded(): number;
  /** Limits the bytes a second that are read from publishers; without a number, removes the limit. */
  throttle(bytesPerSecond?: number): void;
  /** Reads nothing more from connected publishers and closes their receiver connections; later publishers are served. */
  stall(): void;
  /** Sends half of the next data to the receiver and resets the publisher's connection. */
  tear(): void;
  /** Hangs up on each later publisher after the time that `nextMs` returns for it; without a function, on none. */
  hangUp(nextMs?: () => number): void;
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

/** Forwards to `port` on loopback. */
export async function startProxy(port: number): Promise<Proxy> {
  const pairs = new Set<Pair>();
  let connections = 0;
  let forwarded = 0;
  let rate: number | undefined;
  let nextHangUpMs: (() => number) | undefined;
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
    const hangUp = nextHangUpMs && setTimeout(() => from.destroy(), nextHangUpMs());
    from.once('close', () => {
      clearTimeout(hangUp);
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
    // Timers of a busy machine are late: the budget follows the elapsed time, since a third of the rate would count as a stall.
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
    hangUp: (nextMs) => {
      nextHangUpMs = nextMs;
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
