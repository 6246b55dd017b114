/**
 * Speaks the beginning of RTMP as a publisher: the simple handshake and the command `connect`, which the server grants
 * or refuses with a description. Adobe's RTMP specification 1.0, sections 5.2, 5.3 and 7.2.1; AMF 0 specification,
 * sections 2.2 to 2.5.
 * Pure but for the socket that it is given.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

/** C0 and C1, which S0 and S1 answer; S2 follows. */
const HELLO_BYTES = 1 + 1536;
const HANDSHAKE_BYTES = HELLO_BYTES + 1536;
/** Limit of the bytes before an answer. All of them are parsed again with each packet. */
const MAX_REPLY_BYTES = 16_384;
const CHUNK_BYTES = 128;
const SET_CHUNK_SIZE = 1;
/** Types of AMF 3, whose body begins with a zero, and of AMF 0. */
const COMMANDS = new Set([17, 20]);

export interface ConnectReply {
  isGranted: boolean;
  /** The server's reason. */
  description: string;
}

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/**
 * Builds the command as a message in chunks of 128 bytes: a header of 12 bytes for the first chunk, of one for the
 * others.
 */
export function connectCommand(app: string, tcUrl: string): Buffer {
  const string = (value: string) => Buffer.concat([Buffer.of(2), text(value)]);
  const one = Buffer.of(0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0);
  const fields = { app, type: 'nonprivate', flashVer: 'FMLE/3.0 (compatible; loopstream)', tcUrl };
  const members = Object.entries(fields).flatMap(([name, value]) => [text(name), string(value)]);
  const body = Buffer.concat([string('connect'), one, Buffer.of(3), ...members, Buffer.of(0, 0, 9)]);
  const head = Buffer.alloc(12);
  head.writeUInt8(3);
  head.writeUIntBE(body.length, 4, 3);
  head.writeUInt8(20, 7);
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    chunks.push(at === 0 ? head : Buffer.of(0xc3), body.subarray(at, at + CHUNK_BYTES));
  }
  return Buffer.concat(chunks);
}

interface Partial {
  type: number;
  bytes: number;
  extended: boolean;
  parts: Buffer[];
  got: number;
}

/** Yields the messages behind the handshake; an incomplete one is left out. */
function* readMessages(data: Buffer): Generator<{ type: number; body: Buffer }> {
  const streams = new Map<number, Partial>();
  let chunkBytes = CHUNK_BYTES;
  for (let at = 0; at < data.length; ) {
    const first = data.readUInt8(at);
    const [format, short] = [first >> 6, first & 63];
    const idBytes = short === 0 ? 2 : short === 1 ? 3 : 1;
    const headerBytes = [11, 7, 3, 0][format] ?? 0;
    if (at + idBytes + headerBytes > data.length) return;
    const id = short > 1 ? short : data.readUIntLE(at + 1, idBytes - 1) + 64;
    const header = data.subarray(at + idBytes, at + idBytes + headerBytes);
    const stream = streams.get(id) ?? { type: 0, bytes: 0, extended: false, parts: [], got: 0 };
    streams.set(id, stream);
    if (headerBytes >= 3) stream.extended = header.readUIntBE(0, 3) === 0xffffff;
    if (headerBytes >= 7) [stream.bytes, stream.type] = [header.readUIntBE(3, 3), header.readUInt8(6)];
    at += idBytes + headerBytes + (stream.extended ? 4 : 0);
    const most = Math.min(chunkBytes, stream.bytes - stream.got);
    if (at + most > data.length) return;
    stream.parts.push(data.subarray(at, at + most));
    stream.got += most;
    at += most;
    if (stream.got < stream.bytes) continue;
    const body = Buffer.concat(stream.parts);
    [stream.parts, stream.got] = [[], 0];
    if (stream.type === SET_CHUNK_SIZE && body.length >= 4) chunkBytes = Math.max(1, body.readUInt32BE(0) & 0x7fffffff);
    yield { type: stream.type, body };
  }
}

/** Reads a string member of an AMF 0 object by its name, without parsing the other values. */
function readString(body: Buffer, name: string): string {
  const at = body.indexOf(text(name));
  if (at < 0) return '';
  const start = at + 2 + name.length;
  if (body[start] !== 2 || start + 3 > body.length) return '';
  return body.toString('utf8', start + 3, start + 3 + body.readUInt16BE(start + 1));
}

/** Reads the server's answer to `connect`; undefined before there is one. `data` begins with the handshake. */
export function readConnectReply(data: Buffer): ConnectReply | undefined {
  if (data.length < HANDSHAKE_BYTES) return undefined;
  for (const { type, body } of readMessages(data.subarray(HANDSHAKE_BYTES))) {
    if (!COMMANDS.has(type)) continue;
    const command = body.subarray(type === 17 ? 1 : 0);
    const name =
      command[0] === 2 && command.length >= 3 ? command.toString('latin1', 3, 3 + command.readUInt16BE(1)) : '';
    if (name !== '_result' && name !== '_error') continue;
    const isGranted = name === '_result' && !readString(command, 'code').includes('Rejected');
    return { isGranted, description: readString(command, 'description') };
  }
  return undefined;
}

/**
 * Asks for a connection to an application and waits for the answer; undefined when none comes. Leaves the socket open.
 */
export async function askToConnect(
  socket: Socket,
  { app, tcUrl, timeoutMs }: { app: string; tcUrl: string; timeoutMs: number },
): Promise<ConnectReply | undefined> {
  const { promise, resolve } = Promise.withResolvers<ConnectReply | undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  let data = Buffer.alloc(0);
  socket.on('error', () => resolve(undefined)).once('close', () => resolve(undefined));
  socket.on('data', (chunk: Buffer) => {
    const isNew = data.length < HELLO_BYTES;
    data = Buffer.concat([data, chunk]);
    // C2 repeats the server's S1.
    if (isNew && data.length >= HELLO_BYTES)
      socket.write(Buffer.concat([data.subarray(1, HELLO_BYTES), connectCommand(app, tcUrl)]));
    const reply = readConnectReply(data);
    if (reply || data.length > HANDSHAKE_BYTES + MAX_REPLY_BYTES) resolve(reply);
  });
  socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(8), randomBytes(HELLO_BYTES - 9)]));
  return promise.finally(() => clearTimeout(timer));
}
