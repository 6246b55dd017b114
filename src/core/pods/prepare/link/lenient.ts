/**
 * Reads answers of HTTP/1 as browsers do, for servers whose answers a strict parser refuses: the same length twice, a
 * length beside chunks, lines that end in a line feed alone, blanks in the names of headers, long headers. A strict
 * parser keeps two programs that share a connection from reading it in two ways (request smuggling). Here a connection
 * carries one request, and is closed behind its answer.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { buildConnector } from 'undici';
import { SILENCE_TIMEOUT_MS } from '../../../lib/guarded-agent.ts';
import { PrepareError } from '../failure/failure.ts';
import { PassingError } from './outage.ts';

/** The limit of Chromium. */
const MAX_HEAD_BYTES = 256 * 1024;
const MAX_CHUNK_LINE_BYTES = 16 * 1024;
/** Answers 100 to 199 in front of the final one. */
const MAX_INTERIM = 10;

type Headers = Record<string, string | string[] | undefined>;

/** The part of an answer that links use. */
export interface LenientAnswer {
  statusCode: number;
  /** By names in lower case; values have a byte in each character. */
  headers: Headers;
  body: Readable;
}

export interface LenientServers {
  connect: buildConnector.connector;
  /** Origins whose answers the strict parser could not read. */
  origins: Set<string>;
}

const unreadable = (detail: string) => new PrepareError('link_unreachable', detail);
const closed = () => new PassingError('The server closed the connection.');

export interface AnswerHead {
  statusCode: number;
  headers: Headers;
}

/** Parses the lines of a head. Throws PrepareError link_unreachable where it is no answer of HTTP. Pure. */
export function parseHead(text: string): AnswerHead {
  const [status = '', ...lines] = text.trimStart().split('\n');
  // SHOUTcast begins with ICY.
  const [, code] = /^(?:HTTP\/\d(?:\.\d)?|ICY) +(\d{3})(?!\d)/i.exec(status) ?? [];
  if (code === undefined) throw unreadable('The server does not answer by HTTP.');
  const headers: Record<string, string | string[]> = Object.create(null);
  let last: string | undefined;
  for (const line of lines) {
    const value = headers[last ?? ''];
    // A folded line continues the one before (RFC 9112 5.2).
    if (/^[ \t]/.test(line) && last !== undefined && typeof value === 'string') {
      headers[last] = `${value} ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const before = headers[name];
    const now = line.slice(colon + 1).trim();
    headers[name] = before === undefined ? now : [before, now].flat();
    last = name;
  }
  return { statusCode: Number(code), headers };
}

/** Returns how an answer's body ends: a length, chunks, or the end of the connection. Throws PrepareError. Pure. */
export function readFraming({ statusCode, headers }: AnswerHead): { length: number | undefined; isChunked: boolean } {
  if (statusCode === 204 || statusCode === 304) return { length: 0, isChunked: false };
  const codings = [headers['transfer-encoding'] ?? []].flat().join(',');
  // Chunks come before a length (RFC 9112 6.3).
  if (codings.trim().toLowerCase().endsWith('chunked')) return { length: undefined, isChunked: true };
  const lengths = [headers['content-length'] ?? []]
    .flat()
    .flatMap((value) => value.split(',').map((one) => one.trim()));
  const numbers = new Set(lengths.filter((one) => /^\d{1,15}$/.test(one)).map(Number));
  if (numbers.size > 1) throw unreadable('The server states several lengths of the file, which differ.');
  return { length: [...numbers][0], isChunked: false };
}

/** Reads a socket in pieces. Rejects with a PassingError where it ends or is silent. */
class SocketReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The next bytes, at most so many; undefined at the end. */
  async read(most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
    if (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const bytes = this.#rest.subarray(0, Math.min(most, this.#rest.length));
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  /**
   * Returns the text up to the first byte for which `isEnd` is true, inclusive. Throws `tooLong` beyond `most` bytes.
   * Each byte is examined once, however few come at a time.
   */
  async readUntil(isEnd: (byte: number) => boolean, most: number, tooLong: () => Error): Promise<string> {
    const parts: Buffer[] = [];
    for (let length = 0; ; ) {
      const bytes = await this.read();
      if (!bytes) throw closed();
      const at = bytes.findIndex(isEnd);
      const part = at < 0 ? bytes : bytes.subarray(0, at + 1);
      length += part.length;
      if (length > most) throw tooLong();
      parts.push(part);
      if (at < 0) continue;
      this.#rest = Buffer.concat([bytes.subarray(at + 1), this.#rest]);
      return Buffer.concat(parts).toString('latin1');
    }
  }
}

const [LF, CR] = [0x0a, 0x0d];
const isLineEnd = (byte: number): boolean => byte === LF;

/** Finds the empty line behind the lines of a head; empty lines in front of them do not count. */
function findHeadEnd(): (byte: number) => boolean {
  let isEmpty = true;
  let hasLines = false;
  return (byte) => {
    if (byte === LF) {
      if (isEmpty && hasLines) return true;
      isEmpty = true;
    } else if (byte !== CR) {
      isEmpty = false;
      hasLines = true;
    }
    return false;
  };
}

async function readHead(reader: SocketReader): Promise<AnswerHead> {
  const tooLong = () => unreadable(`The headers of the server have more than ${MAX_HEAD_BYTES / 1024} kB.`);
  for (let interim = 0; interim <= MAX_INTERIM; interim++) {
    const head = parseHead(await reader.readUntil(findHeadEnd(), MAX_HEAD_BYTES, tooLong));
    if (head.statusCode >= 200) return head;
  }
  throw unreadable('The server does not send a final answer.');
}

async function* readExactly(reader: SocketReader, length: number): AsyncGenerator<Buffer> {
  for (let left = length; left > 0; ) {
    const bytes = await reader.read(left);
    if (!bytes) throw closed();
    left -= bytes.length;
    yield bytes;
  }
}

async function* readChunks(reader: SocketReader): AsyncGenerator<Buffer> {
  const tooLong = () => unreadable('The chunks of the answer are not valid.');
  for (;;) {
    const line = await reader.readUntil(isLineEnd, MAX_CHUNK_LINE_BYTES, tooLong);
    const [, size] = /^\s*([0-9a-f]{1,12})\s*(?:;|$)/i.exec(line) ?? [];
    if (size === undefined) throw tooLong();
    const length = Number.parseInt(size, 16);
    // Trailers are not read: the connection ends here.
    if (length === 0) return;
    yield* readExactly(reader, length);
    await reader.readUntil(isLineEnd, 2, tooLong);
  }
}

async function* readBody(
  reader: SocketReader,
  { length, isChunked }: ReturnType<typeof readFraming>,
): AsyncGenerator<Buffer> {
  if (isChunked) return yield* readChunks(reader);
  if (length !== undefined) return yield* readExactly(reader, length);
  for (let bytes = await reader.read(); bytes; bytes = await reader.read()) yield bytes;
}

/**
 * Sends a GET on a connection of its own, and returns its answer; a redirect is not followed. Rejects with PrepareError
 * link_forbidden or link_unreachable, PassingError, an error of the network, or the signal's reason.
 */
export async function requestLeniently(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { connect, signal }: { connect: buildConnector.connector; signal: AbortSignal },
): Promise<LenientAnswer> {
  signal.throwIfAborted();
  const { hostname, host, protocol, port, pathname, search } = url;
  const socket = await new Promise<Socket>((resolve, reject) => {
    connect({ hostname, host, protocol, port: port || (protocol === 'https:' ? '443' : '80') }, (error, connected) =>
      connected ? resolve(connected) : reject(error ?? closed()),
    );
  });
  const stop = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', stop));
  // The reader rejects with it.
  socket.on('error', () => undefined);
  let isBegun = false;
  socket.setTimeout(SILENCE_TIMEOUT_MS, () =>
    socket.destroy(
      new PassingError(isBegun ? 'The server stopped sending data.' : 'The server did not respond in time.'),
    ),
  );
  try {
    signal.throwIfAborted();
    const lines = Object.entries({ host, ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    const reader = new SocketReader(socket);
    const head = await readHead(reader);
    isBegun = true;
    const body = Readable.from(readBody(reader, readFraming(head)), { objectMode: false });
    body.once('close', () => socket.destroy());
    return { ...head, body };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
