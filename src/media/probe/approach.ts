/**
 * From a host to an RTMP server: a connection, TLS where it is asked for, and RTMP's simple handshake, whose two sides show
 * each other a version and 1536 bytes (Adobe's RTMP specification 1.0, section 5.2). The key is not named yet.
 */
import { randomBytes } from 'node:crypto';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TestStage } from '../../resources/destination/spec.ts';
import type { Address } from '../streamer/output/address.ts';
import { classifySystem, type Failure, failure } from '../streamer/output/failure.ts';

/** A stage that was not passed, and why. */
export interface Stopped {
  stage: TestStage;
  failure: Failure;
}

/** For each of the three. */
const STEP_MS = 5000;
const VERSION = 3;
/** C1 and S1, with the version before each. */
const HELLO_BYTES = 1 + 1536;

const FOREIGN: Failure = { code: 'reset', message: 'What answers there does not speak RTMP.' };

/** `ip` is the host's. Undefined when there is an RTMP server; the connection is closed again. */
export async function approach({ protocol, host, port }: Address, ip: string): Promise<Stopped | undefined> {
  const socket = connect({ host: ip, port });
  let top: Socket = socket;
  try {
    const refused = await opened(socket);
    if (refused) return { stage: 'connect', failure: refused };
    if (protocol === 'rtmps') {
      // Who is trusted is for the transport to say; here it only matters whether TLS is spoken.
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

/** Whichever comes first: what `begin` finds, an error or an end of which `fault` makes a failure, or `late`. */
async function step(
  socket: Socket,
  begin: (done: (failure?: Failure) => void) => void,
  fault: (error?: Error) => Failure,
  late: Failure = failure('connect_timeout'),
): Promise<Failure | undefined> {
  const { promise, resolve } = Promise.withResolvers<Failure | undefined>();
  const timer = setTimeout(() => resolve(late), STEP_MS);
  // The listener of errors stays: what breaks between two steps is told by the next one, and must not end the process.
  socket.on('error', (error) => resolve(fault(error))).once('close', () => resolve(fault()));
  begin(resolve);
  return promise.finally(() => clearTimeout(timer));
}

const opened = (socket: Socket) =>
  step(
    socket,
    (done) => socket.once('connect', () => done()),
    (error) => classifySystem(error && 'code' in error ? String(error.code) : undefined),
    failure('unreachable', 'no answer'),
  );

const secured = (socket: Socket) =>
  step(
    socket,
    (done) => socket.once('secureConnect', () => done()),
    () => failure('tls_failed', 'what answers there does not speak TLS'),
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
      // The version; a time and four zeros; then whatever bytes.
      socket.write(Buffer.concat([Buffer.of(VERSION), Buffer.alloc(8), randomBytes(HELLO_BYTES - 9)]));
    },
    () => failure('reset'),
  );
