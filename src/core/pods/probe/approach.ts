/**
 * Approaches an RTMP server step by step: a connection, TLS if needed, and RTMP's simple handshake, in which both sides
 * show a version and 1536 bytes (Adobe's RTMP specification 1.0, section 5.2). The key is not named yet.
 */
import { randomBytes } from 'node:crypto';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Failure } from '../../protocol/codes.ts';
import type { TestStage } from '../../resources/destination/spec.ts';
import type { Address } from '../streamer/output/address.ts';
import { classifySystem, failure } from '../streamer/output/failure.ts';

/** A stage that failed, and the reason. */
export interface Stopped {
  stage: TestStage;
  failure: Failure;
}

/** Limit for each of the three stages. */
const STEP_MS = 5000;
const VERSION = 3;
/** C1 and S1, each with the version before it. */
const HELLO_BYTES = 1 + 1536;

const FOREIGN: Failure = { code: 'reset', message: 'The server does not speak RTMP.' };

/** Resolves with undefined when an RTMP server answers at `ip`, an address of the host. Closes the connection again. */
export async function approach({ protocol, host, port }: Address, ip: string): Promise<Stopped | undefined> {
  const socket = connect({ host: ip, port });
  let top: Socket = socket;
  try {
    const refused = await opened(socket);
    if (refused) return { stage: 'connect', failure: refused };
    if (protocol === 'rtmps') {
      // The transport checks the certificate; this step only needs TLS to be spoken.
      top = connectTls({ socket, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) });
      const plain = await secured(top);
      if (plain) return { stage: 'tls', failure: plain };
    }
    const mute = await greeted(top);
    return mute && { stage: 'handshake', failure: mute };
  } finally {
    top.destroy();
    socket.destroy();
  }
}

/** Resolves with the first of three results: of `begin`, of `fault` after an error or an end, or `late`. */
async function step(
  socket: Socket,
  begin: (done: (failure?: Failure) => void) => void,
  fault: (error?: Error) => Failure,
  late: Failure = failure('connect_timeout'),
): Promise<Failure | undefined> {
  const { promise, resolve } = Promise.withResolvers<Failure | undefined>();
  const timer = setTimeout(() => resolve(late), STEP_MS);
  // The listener of errors stays: the next step reports an error between two steps, which must not end the process.
  socket.on('error', (error) => resolve(fault(error))).once('close', () => resolve(fault()));
  begin(resolve);
  return promise.finally(() => clearTimeout(timer));
}

const opened = (socket: Socket) =>
  step(
    socket,
    (done) => socket.once('connect', () => done()),
    (error) => classifySystem(error && 'code' in error ? String(error.code) : undefined),
    failure('unreachable', 'no response'),
  );

const secured = (socket: Socket) =>
  step(
    socket,
    (done) => socket.once('secureConnect', () => done()),
    () => failure('tls_failed', 'the server does not speak TLS'),
  );

/** Sends C0 and C1, and waits for S0 and S1. */
const greeted = (socket: Socket) =>
  step(
    socket,
    (done) => {
      let got = 0;
      socket.on('data', (chunk: Buffer) => {
        if (got === 0 && chunk[0] !== VERSION) done(FOREIGN);
        got += chunk.length;
        if (got >= HELLO_BYTES) done();
      });
      // The version; a time and four zeros; then any bytes.
      socket.write(Buffer.concat([Buffer.of(VERSION), Buffer.alloc(8), randomBytes(HELLO_BYTES - 9)]));
    },
    () => failure('reset'),
  );
