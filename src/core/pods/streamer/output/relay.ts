/**
 * Relays RTMPS from ffmpeg to a destination: ffmpeg speaks RTMP to this relay on loopback, and the relay speaks TLS
 * with the checked address. ffmpeg sends the host's name (SNI) only if its URL has it, and then resolves the name once
 * more. Its option `http_proxy` would avoid that, but makes each write wait for the server (ffmpeg 5.1).
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net';
import type { Failure } from '../../../protocol/codes.ts';
import { certificateFault } from './certificate.ts';
import { classifySystem, failure } from './failure.ts';

export interface Relay {
  /** The port of 127.0.0.1 for ffmpeg. */
  port: number;
  /** The reason why there is no secure connection; undefined while none is known. */
  failure(): Failure | undefined;
  /** Milliseconds since the destination took anything of the waiting bytes; 0 when none wait. */
  blockedMs(): number;
  /** Bytes in the relay and the kernel that the destination has not acknowledged. */
  unreceivedBytes(): Promise<number>;
  /** Resolves when ffmpeg's last bytes are sent, or after a moment. */
  close(): Promise<void>;
}

const CONNECT_MS = 5000;
/** Time for ffmpeg's last bytes to leave. */
const FLUSH_MS = 1000;

const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');

/**
 * Reads the bytes that the kernel queues for a connection between these ports (/proc/net/tcp); 0 where it is unknown.
 */
async function queued({ localPort = 0, remotePort = 0 }: Socket): Promise<number> {
  const tables = ['tcp', 'tcp6'].map((table) => readFile(`/proc/self/net/${table}`, 'latin1').catch(() => ''));
  // linear-time: the kernel writes the lines.
  const line = new RegExp(`^\\s*\\d+: \\w+:${hex(localPort)} \\w+:${hex(remotePort)} \\w+ (\\w+):`, 'm');
  const [, bytes = '0'] = line.exec((await Promise.all(tables)).join('\n')) ?? [];
  return Number.parseInt(bytes, 16);
}

export interface RelayOptions {
  /** Host name that the certificate must be for. */
  host: string;
  /** A checked address of the host. */
  address: string;
  port: number;
  /** PEM file of the authorities to trust, instead of the system's. */
  caFile?: string | undefined;
}

/** Rejects when the file of authorities cannot be read. */
export async function openRelay({ host, address, port, caFile }: RelayOptions): Promise<Relay> {
  // TLS is loaded on demand: it weighs more than a stream.
  const tls = await import('node:tls');
  const system = () => tls.getCACertificates('system');
  const ca = caFile === undefined ? system() : [await readFile(caFile, 'utf8')];
  let fault: Failure | undefined;
  let blockedSince: number | undefined;
  let out: Socket | undefined;
  let left: Promise<unknown> = Promise.resolve();
  const clients = new Set<Socket>();

  const begin = (client: Socket) => {
    // @types/node leaves allowHalfOpen out of tls.connect, so the options stand apart.
    const options = {
      host: address,
      port,
      allowHalfOpen: true,
      ...(ca.length > 0 && { ca }),
      // The checks below explain the fault in words; nothing is sent before them.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
    };
    const upstream = tls.connect(options);
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
      () => refuse(connected ? failure('connect_timeout') : failure('unreachable', 'no response')),
      CONNECT_MS,
    );
    upstream.once('connect', () => {
      connected = true;
    });
    upstream.on('error', (error) => {
      if (secure) client.resetAndDestroy();
      else if (connected) refuse(failure('tls_failed', 'the server does not speak TLS'));
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
