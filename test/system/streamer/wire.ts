/** Captures the bytes of an RTMP publisher through a proxy in front of a receiver, and parses them as messages. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { isAacSequenceHeader, isAvcSequenceHeader, type TagType } from '../../../src/core/pods/rendition/flv.ts';

export interface Wire {
  /** The receiver's URL through the proxy. */
  url: string;
  /** The number of connections. */
  connections(): number;
  /** The messages of the first connection so far. */
  messages(): Message[];
  /** The bytes of the first connection so far, and their count. */
  sent(): Buffer;
  bytes(): number;
  /** Sends bytes to the first publisher, as if they were the receiver's. */
  answer(data: Buffer): void;
  close(): Promise<void>;
}

export interface Message {
  /** RTMP message types are FLV tag types: 8 sound, 9 pictures; below 8 are the protocol's own. */
  type: number;
  /** 0 to 2^32 - 1. */
  timestampMs: number;
  /** Whether it is a decoder's configuration. */
  header: boolean;
}

/** RTMP 1.0, section 5.2: C0, C1 and C2. */
const HANDSHAKE_BYTES = 1 + 1536 + 1536;
const SET_CHUNK_SIZE = 1;

/** Proxies `port` and `application` of the receiver on loopback. */
export async function tapWire(port: number, application = 'live'): Promise<Wire> {
  const sent: Buffer[] = [];
  const sockets = new Set<Socket>();
  let [connections, bytes] = [0, 0];
  let publisher: Socket | undefined;
  const server = createServer((from) => {
    const first = connections++ === 0;
    const to = connect({ port, host: '127.0.0.1' });
    for (const socket of [from, to]) sockets.add(socket.on('error', () => undefined));
    if (first) {
      publisher = from;
      from.on('data', (data) => {
        sent.push(data);
        bytes += data.length;
      });
    }
    from.pipe(to).pipe(from);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `rtmp://127.0.0.1:${address.port}/${application}`,
    connections: () => connections,
    messages: () => readMessages(Buffer.concat(sent)),
    sent: () => Buffer.concat(sent),
    bytes: () => bytes,
    answer: (data) => void publisher?.write(data),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface ChunkStream {
  type: number;
  timestampMs: number;
  deltaMs: number;
  extended: boolean;
  bytes: number;
  parts: Buffer[];
  got: number;
}

/** Parses RTMP 1.0, section 5.3: chunks, joined to messages; an incomplete message at the end is left out. */
function readMessages(data: Buffer): Message[] {
  const streams = new Map<number, ChunkStream>();
  const messages: Message[] = [];
  let chunkBytes = 128;
  for (let at = HANDSHAKE_BYTES; at + 16 <= data.length; ) {
    const format = data.readUInt8(at) >> 6;
    const id = data.readUInt8(at) & 63;
    if (id < 2) throw new Error('a long chunk stream id');
    at += 1;
    const fresh = { type: 0, timestampMs: 0, deltaMs: 0, extended: false, bytes: 0, parts: [], got: 0 };
    const stream: ChunkStream = streams.get(id) ?? fresh;
    streams.set(id, stream);
    at = readChunkHeader(data, at, format, stream);
    const part = data.subarray(at, at + Math.min(chunkBytes, stream.bytes - stream.got));
    at += Math.min(chunkBytes, stream.bytes - stream.got);
    if (at > data.length) break;
    stream.parts.push(part);
    stream.got += part.length;
    if (stream.got < stream.bytes) continue;
    const body = Buffer.concat(stream.parts);
    stream.parts = [];
    stream.got = 0;
    if (stream.type === SET_CHUNK_SIZE) chunkBytes = body.readUInt32BE(0);
    const tag = { type: stream.type as TagType, body };
    const header = isAvcSequenceHeader(tag) || isAacSequenceHeader(tag);
    messages.push({ type: stream.type, timestampMs: stream.timestampMs, header });
  }
  return messages;
}

/** Section 5.3.1.2: full, without the stream, only the time, or nothing. Returns the start of the payload. */
function readChunkHeader(data: Buffer, start: number, format: number, stream: ChunkStream): number {
  let at = start;
  let time = stream.deltaMs;
  if (format < 3) {
    time = data.readUIntBE(at, 3);
    stream.extended = time === 0xffffff;
    at += 3;
  }
  if (format < 2) {
    stream.bytes = data.readUIntBE(at, 3);
    stream.type = data.readUInt8(at + 3);
    at += 4;
  }
  if (format === 0) at += 4;
  if (stream.extended) {
    if (format < 3) time = data.readUInt32BE(at);
    at += 4;
  }
  if (stream.got > 0) return at;
  if (format === 0) stream.timestampMs = time;
  else stream.timestampMs = (stream.timestampMs + time) % 2 ** 32;
  stream.deltaMs = format === 0 ? 0 : time;
  return at;
}
