/**
 * The way of RTMPS from ffmpeg to a destination: ffmpeg speaks RTMP to this relay on loopback, which speaks TLS with the address that was
 * checked. ffmpeg itself sends the name of the host (SNI) only when its URL has the name, and then it resolves the name once more;
 * its option `http_proxy` would leave that to a proxy, but then each of its writes waits for the server to say something (ffmpeg 5.1).
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net';
import { certificateFault } from './certificate.ts';
import { classifySystem, type Failure, failure } from './failure.ts';

export interface Relay {
  /** The port of 127.0.0.1 to which ffmpeg connects. */
  port: number;
  /** Why there is no secure connection; undefined while nothing is known against it. */
  failure(): Failure | undefined;
  /** For how long the destination has taken nothing of what waits for it; 0 when nothing waits. */
  blockedMs(): number;
  /** Bytes that are on their way through here and that nobody has acknowledged. */
  unreceivedBytes(): Promise<number>;
  /** Resolves when what ffmpeg has left is sent, or after a moment. */
  close(): Promise<void>;
}

const CONNECT_MS = 5000;
/** For ffmpeg's last words to leave after it. */
const FLUSH_MS = 1000;

const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');

/** Bytes that the kernel keeps for a connection between these ports (/proc/net/tcp); 0 where nobody tells. */
async function queued({ localPort = 0, remotePort = 0 }: Socket): Promise<number> {
  const tables = ['tcp', 'tcp6'].map((table) => readFile(`/proc/self/net/${table}`, 'latin1').catch(() => ''));
  const line = new RegExp(`^\\s*\\d+: \\w+:${hex(localPort)} \\w+:${hex(remotePort)} \\w+ (\\w+):`, 'm');
  const [, bytes = '0'] = line.exec((await Promise.all(tables)).join('\n')) ?? [];
  return Number.parseInt(bytes, 16);
}

export interface RelayOptions {
  /** The name that the certificate has to be for. */
  host: string;
  /** One of its addresses, which has been checked. */
  address: string;
  port: number;
  /** PEM file of the authorities to trust, instead of the system's. */
  caFile?: string | undefined;
}

/** Rejects when the file of authorities cannot be read. */
export async function openRelay({ host, address, port, caFile }: RelayOptions): Promise<Relay> {
  // Loaded where it is needed: TLS weighs more than a stream.
  const tls = await import('node:tls');
  const system = () => tls.getCACertificates('system');
  const ca = caFile === undefined ? system() : [await readFile(caFile, 'utf8')];
  let fault: Failure | undefined;
  let blockedSince: number | undefined;
  let out: Socket | undefined;
  let left: Promise<unknown> = Promise.resolve();
  const clients = new Set<Socket>();

  const begin = (client: Socket) => {
    const upstream = tls.connect({
      ...{ host: address, port, allowHalfOpen: true },
      ...(ca.length > 0 && { ca }),
      // What is wrong is told in words below; nothing is sent before.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
    });
    out = upstream;
    left = new Promise((resolve) => upstream.once('close', resolve));
    let connected = false;
    let secure = false;
    const refuse = (reason: Failure) => {
      fault ??= reason;
      upstream.destroy();
      client.resetAndDestroy();
    };
    const late = setTimeout(
      () => refuse(connected ? failure('connect_timeout') : failure('unreachable', 'no answer')),
      CONNECT_MS,
    );
    upstream.once('connect', () => {
      connected = true;
    });
    upstream.on('error', (error) => {
      if (secure) client.resetAndDestroy();
      else if (connected) refuse(failure('tls_failed', 'what answers there does not speak TLS'));
      else refuse(classifySystem('code' in error ? String(error.code) : undefined));
    });
    upstream.once('close', () => {
      clearTimeout(late);
      if (!secure) refuse(failure('reset'));
    });
    upstream.once('secureConnect', () => {
      clearTimeout(late);
      const wrong = certificateFault(upstream, host);
      if (wrong !== undefined) return refuse(failure('tls_failed', wrong));
      secure = true;
      upstream.setNoDelay(true);
      client.on('data', (chunk) => {
        if (upstream.write(chunk)) return;
        blockedSince ??= performance.now();
        client.pause();
      });
      upstream.on('drain', () => {
        blockedSince = undefined;
        client.resume();
      });
      client.once('end', () => upstream.end());
      upstream.pipe(client);
      client.resume();
    });
    client.once('close', () => {
      if (!client.readableEnded) upstream.destroy();
    });
  };

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    server.close();
    client.on('error', () => client.destroy());
    clients.add(client.once('close', () => clients.delete(client)));
    begin(client);
  });
  server.maxConnections = 1;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    failure: () => fault,
    blockedMs: () => (blockedSince === undefined ? 0 : performance.now() - blockedSince),
    unreceivedBytes: async () => (out && !out.destroyed ? out.writableLength + (await queued(out)) : 0),
    close: async () => {
      server.close();
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(over.resolve, FLUSH_MS);
      await Promise.race([left, over.promise]);
      clearTimeout(timer);
      for (const socket of [...clients, ...(out ? [out] : [])]) socket.destroy();
    },
  };
}
