/**
 * Reads and writes the messages of RTMP that a player needs (Adobe's RTMP specification 1.0, sections 5.2 to 5.4 and 7.1; AMF 0
 * specification, section 2). The bytes of a server are not trusted. Pure: no I/O, no clock.
 */

/** C0 and C1; S0 and S1 have as many, and S2 one less. */
export const HELLO_BYTES = 1 + 1536;
/** A player says how much it has got. Servers ask for it every 2.5 MB or later. */
export const ACKNOWLEDGED_BYTES = 2 ** 20;
/** The largest keyframe at 2160p is a tenth of it. */
const MAX_MESSAGE_BYTES = 8 * 2 ** 20;
const MAX_CHUNK_STREAMS = 64;
const FIRST_CHUNK_BYTES = 128;
const EXTENDED = 0xffffff;

const SET_CHUNK_SIZE = 1;
const ACKNOWLEDGEMENT = 3;
const USER_CONTROL = 4;
const COMMAND_AMF3 = 17;
const COMMAND_AMF0 = 20;
const PING = 6;
const PONG = 7;

export class RtmpError extends Error {
  override readonly name = 'RtmpError';
}

export interface RtmpMessage {
  type: number;
  timestampMs: number;
  body: Buffer;
}

interface ChunkStream {
  type: number;
  bytes: number;
  timestampMs: number;
  deltaMs: number;
  isExtended: boolean;
  parts: Buffer[];
  got: number;
}

/** Joins the chunks of messages. Takes bytes in pieces of any size. */
export class ChunkReader {
  readonly #streams = new Map<number, ChunkStream>();
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** Bytes without which the next chunk is incomplete. */
  #need = 1;
  /** Bytes of messages that are incomplete. */
  #heldBytes = 0;
  #chunkBytes = FIRST_CHUNK_BYTES;

  /** Bytes that have come and are in no message so far. */
  get heldBytes(): number {
    return this.#pieceBytes + this.#heldBytes;
  }

  /** Throws RtmpError. */
  push(bytes: Buffer): RtmpMessage[] {
    this.#pieces.push(bytes);
    this.#pieceBytes += bytes.length;
    // A long chunk is joined once, however small its pieces are.
    if (this.#pieceBytes < this.#need) return [];
    const data = this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : bytes;
    const messages: RtmpMessage[] = [];
    let at = 0;
    for (;;) {
      const end = this.#readChunk(data, at, messages);
      if (end === undefined) break;
      at = end;
    }
    this.#pieces = [Buffer.from(data.subarray(at))];
    this.#pieceBytes = data.length - at;
    return messages;
  }

  /** Returns where the chunk ends; undefined while it is incomplete. */
  #readChunk(data: Buffer, at: number, messages: RtmpMessage[]): number | undefined {
    this.#need = 1;
    if (at >= data.length) return undefined;
    const first = data.readUInt8(at);
    const [format, short] = [first >> 6, first & 63];
    const idBytes = short === 0 ? 2 : short === 1 ? 3 : 1;
    const headerBytes = [11, 7, 3, 0][format] ?? 0;
    const bodyAt = at + idBytes + headerBytes;
    this.#need = bodyAt - at;
    if (bodyAt > data.length) return undefined;
    const id = short > 1 ? short : data.readUIntLE(at + 1, idBytes - 1) + 64;
    const before = this.#streams.get(id);
    if (!before && (format !== 0 || this.#streams.size >= MAX_CHUNK_STREAMS))
      throw new RtmpError('no message begins here');
    const header = data.subarray(at + idBytes, bodyAt);
    const short24 = headerBytes >= 3 ? header.readUIntBE(0, 3) : undefined;
    const isExtended = short24 === undefined ? (before?.isExtended ?? false) : short24 === EXTENDED;
    const mediaAt = bodyAt + (isExtended ? 4 : 0);
    this.#need = mediaAt - at;
    if (mediaAt > data.length) return undefined;
    const size = headerBytes >= 7 ? header.readUIntBE(3, 3) : (before?.bytes ?? 0);
    const got = before?.got ?? 0;
    const taken = Math.min(this.#chunkBytes, size - got);
    if (size > MAX_MESSAGE_BYTES || taken < 0) throw new RtmpError('the message is too large');
    this.#need = mediaAt + taken - at;
    if (mediaAt + taken > data.length) return undefined;

    const stream = before ?? { type: 0, bytes: 0, timestampMs: 0, deltaMs: 0, isExtended, parts: [], got: 0 };
    this.#streams.set(id, stream);
    const given = isExtended && short24 !== undefined ? data.readUInt32BE(bodyAt) : short24;
    if (format === 0) [stream.timestampMs, stream.deltaMs] = [given ?? 0, 0];
    else if (got === 0) {
      stream.deltaMs = given ?? stream.deltaMs;
      stream.timestampMs += stream.deltaMs;
    }
    stream.isExtended = isExtended;
    stream.bytes = size;
    if (headerBytes >= 7) stream.type = header.readUInt8(6);
    stream.parts.push(Buffer.from(data.subarray(mediaAt, mediaAt + taken)));
    stream.got += taken;
    this.#heldBytes += taken;
    if (this.#heldBytes > 2 * MAX_MESSAGE_BYTES) throw new RtmpError('too many messages have begun');
    if (stream.got >= stream.bytes) messages.push(this.#end(stream));
    return mediaAt + taken;
  }

  #end(stream: ChunkStream): RtmpMessage {
    const body = Buffer.concat(stream.parts);
    this.#heldBytes -= body.length;
    [stream.parts, stream.got] = [[], 0];
    if (stream.type === SET_CHUNK_SIZE && body.length >= 4)
      this.#chunkBytes = Math.max(1, body.readUInt32BE(0) & 0x7fffffff);
    return { type: stream.type, timestampMs: stream.timestampMs, body };
  }
}

/** Writes a message in chunks that every server takes from the beginning. */
function encodeMessage(chunkStream: number, type: number, messageStream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt8(chunkStream);
  head.writeUIntBE(body.length, 4, 3);
  head.writeUInt8(type, 7);
  head.writeUInt32LE(messageStream, 8);
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += FIRST_CHUNK_BYTES)
    chunks.push(at === 0 ? head : Buffer.of(0xc0 | chunkStream), body.subarray(at, at + FIRST_CHUNK_BYTES));
  return Buffer.concat(chunks);
}

export function acknowledge(bytes: number): Buffer {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(bytes % 2 ** 32);
  return encodeMessage(2, ACKNOWLEDGEMENT, 0, body);
}

/** Returns the answer to a ping; undefined for any other message. */
export function readPing({ type, body }: RtmpMessage): Buffer | undefined {
  if (type !== USER_CONTROL || body.length < 6 || body.readUInt16BE(0) !== PING) return undefined;
  const pong = Buffer.from(body.subarray(0, 6));
  pong.writeUInt16BE(PONG);
  return encodeMessage(2, USER_CONTROL, 0, pong);
}

type Value = string | number | boolean | null | Record<string, string | boolean>;

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

function encodeValue(value: Value): Buffer {
  if (value === null) return Buffer.of(5);
  if (typeof value === 'string') return Buffer.concat([Buffer.of(2), text(value)]);
  if (typeof value === 'boolean') return Buffer.of(1, value ? 1 : 0);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  const members = Object.entries(value).flatMap(([name, member]) => [text(name), encodeValue(member)]);
  return Buffer.concat([Buffer.of(3), ...members, Buffer.of(0, 0, 9)]);
}

export const encodeCommand = (messageStream: number, name: string, transaction: number, ...values: Value[]): Buffer =>
  encodeMessage(3, COMMAND_AMF0, messageStream, Buffer.concat([name, transaction, ...values].map(encodeValue)));

export interface RtmpCommand {
  name: string;
  transaction: number;
  /** Of an information object; empty where there is none. */
  code: string;
  /** The number behind a null: the stream that createStream made. */
  number: number | undefined;
}

/** Reads a command, as far as a player needs it; undefined for any other message. */
export function readCommand({ type, body }: RtmpMessage): RtmpCommand | undefined {
  if (type !== COMMAND_AMF0 && type !== COMMAND_AMF3) return undefined;
  const values = body.subarray(type === COMMAND_AMF3 ? 1 : 0);
  const nameEnd = values[0] === 2 && values.length >= 3 ? 3 + values.readUInt16BE(1) : values.length;
  if (nameEnd + 9 > values.length || values[nameEnd] !== 0) return undefined;
  const rest = values.subarray(nameEnd + 9);
  return {
    name: values.toString('latin1', 3, nameEnd),
    transaction: values.readDoubleBE(nameEnd + 1),
    code: readMember(rest, 'code'),
    number: rest.length >= 10 && rest[0] === 5 && rest[1] === 0 ? rest.readDoubleBE(2) : undefined,
  };
}

/** Finds a member of an object by its name, without parsing the others. */
function readMember(values: Buffer, name: string): string {
  const at = values.indexOf(text(name));
  const start = at + 2 + name.length;
  if (at < 0 || values[start] !== 2 || start + 3 > values.length) return '';
  return values.toString('utf8', start + 3, start + 3 + values.readUInt16BE(start + 1));
}
