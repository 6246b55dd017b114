/**
 * Fetches from watch addresses: past the guards at every hop, and within limits of bytes and of time, since what answers may be a page, a
 * film without end, or nothing for hours.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { type AddressLookup, guardedAgent } from '../../lib/guarded-agent.ts';
import { hostRefusal } from '../../lib/public-address.ts';
import type { FetchFault } from './verdict.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Name and TLS included: a viewer would have gone by then. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Why an address gives no media, in words of the judge. */
export class WatchError extends Error {
  override readonly name = 'WatchError';
  readonly fault: FetchFault;
  constructor(fault: FetchFault) {
    super(`the watch address gives no media: ${fault}`);
    this.fault = fault;
  }
}

export interface WebOptions {
  /** Whether addresses of private networks may be watched. */
  allowPrivate: boolean;
  /** DNS; tests bring their own answers. */
  lookup?: AddressLookup | undefined;
}

export interface WebQuestion {
  /** Aborts when the time for it is over: the server is too slow, and the address is out of reach. */
  late: AbortSignal;
  signal: AbortSignal;
  headers?: Record<string, string>;
}

export interface WebAnswer {
  /** 200, 206 or 304. */
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** Where redirects led. */
  address: string;
  body: Dispatcher.ResponseData['body'];
}

export const discard = (body: Dispatcher.ResponseData['body']): void =>
  void body.on('error', () => undefined).destroy();

const isAnswer = (status: number): boolean => status === 200 || status === 206 || status === 304;

function findFault(status: number): FetchFault {
  if (status === 404 || status === 410) return 'address_not_found';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_failing';
  return status >= 400 ? 'unauthorized' : 'not_media';
}

/** Name and password of an address (RFC 7617). */
function readLogin({ username, password }: URL): Record<string, string> {
  if (!username && !password) return {};
  const decode = (text: string) =>
    text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return {
    authorization: `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`, 'latin1').toString('base64')}`,
  };
}

export interface Web {
  /** Returns the answer behind all redirects. Read or discard its body. Throws WatchError, or the signal's reason. */
  ask: (address: string, asked: WebQuestion) => Promise<WebAnswer>;
  close: () => Promise<void>;
}

export function openWeb({ allowPrivate, lookup }: WebOptions): Web {
  const agent = guardedAgent({
    allowPrivate,
    lookup,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    forbid: () => new WatchError('forbidden_address'),
  });

  async function hop(url: URL, { signal, late, headers }: WebQuestion): Promise<Dispatcher.ResponseData> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new WatchError('not_media');
    if (hostRefusal(url.hostname, allowPrivate) !== undefined) throw new WatchError('forbidden_address');
    try {
      return await request(`${url.origin}${url.pathname}${url.search}`, {
        dispatcher: agent,
        signal: AbortSignal.any([signal, late]),
        headers: { accept: '*/*', 'user-agent': 'loopstream', ...readLogin(url), ...headers },
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof WatchError ? error : new WatchError('unreachable');
    }
  }

  return {
    ask: async (address, asked) => {
      let url = URL.parse(address);
      for (let hops = 0; url && hops <= MAX_REDIRECTS; hops += 1) {
        const { statusCode: status, headers, body } = await hop(url, asked);
        if (isAnswer(status)) return { status, headers, address: url.href, body };
        discard(body);
        if (!REDIRECTS.has(status)) throw new WatchError(findFault(status));
        url = URL.parse([headers.location].flat()[0] ?? '', url.href);
      }
      throw new WatchError('not_media');
    },
    close: () => agent.destroy(),
  };
}

/** Takes bytes, or gives them back where the number is negative. False where too much is held already. */
export type TakeBytes = (bytes: number) => boolean;

interface Holder {
  bytes: number;
  /** Ends the task, or is undefined where it holds its bytes only while its media are decoded. */
  yieldTo: AbortController | undefined;
}

/**
 * Counts the bytes that all looks together hold, so that many large answers at once take no more memory than few. Where they starve, the look
 * that has been fetching for the longest time is ended: a server that lets its bytes drip must not cost others theirs.
 */
export class ByteBudget {
  #left: number;
  /** In the order in which they began. */
  readonly #holders = new Set<Holder>();

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Runs a task that may take bytes until `late` aborts; they are free again at its end. `hasAll()` says that it fetches no more. */
  async spend<T>(task: (take: TakeBytes, late: AbortSignal, hasAll: () => void) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const holder: Holder = { bytes: 0, yieldTo: over };
    this.#holders.add(holder);
    const hasAll = () => {
      holder.yieldTo = undefined;
    };
    try {
      return await task((bytes) => this.#take(holder, bytes), over.signal, hasAll);
    } finally {
      this.#holders.delete(holder);
      this.#left += holder.bytes;
    }
  }

  #take(holder: Holder, bytes: number): boolean {
    if (!this.#holders.has(holder)) return false;
    while (bytes > this.#left) {
      const oldest = [...this.#holders].find((one) => one.yieldTo !== undefined && one.bytes > 0);
      if (!oldest || oldest === holder) return false;
      oldest.yieldTo?.abort();
      this.#free(oldest);
    }
    holder.bytes += bytes;
    this.#left -= bytes;
    return true;
  }

  #free(holder: Holder): void {
    this.#holders.delete(holder);
    this.#left += holder.bytes;
    holder.bytes = 0;
  }
}

export interface BodyLimits {
  maxBytes: number;
  take: TakeBytes;
  signal: AbortSignal;
  /** Looks at the first bytes, and may end the reading there. */
  isWanted?: (head: Buffer) => boolean;
}

const HEAD_BYTES = 1024;

/** Reads a body up to `maxBytes`; `isCut` says that there was more. Throws WatchError `unreachable` when it breaks off or comes too slowly. */
export async function readBody(
  { body }: WebAnswer,
  { maxBytes, take, signal, isWanted = () => true }: BodyLimits,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isCut = false;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (!take(chunk.length)) throw new WatchError('unreachable');
      chunks.push(chunk);
      const isHead = size < HEAD_BYTES;
      size += chunk.length;
      isCut = size > maxBytes || (isHead && !isWanted(Buffer.concat(chunks)));
      if (isCut) break;
    }
  } catch {
    signal.throwIfAborted();
    throw new WatchError('unreachable');
  } finally {
    discard(body);
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut };
}

const DECODERS: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
};
/** Asked for. Some servers send brotli or zstd to everybody. */
export const TEXT_CODINGS = 'gzip, deflate';

/** The content coding of an answer; empty where its bytes are as they are. */
export function readCoding({ headers }: WebAnswer): string {
  const coding = [headers['content-encoding']].flat().join(',').trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/**
 * Decodes a text as its server sent it. Throws WatchError: `playlist_too_large` where few bytes become too many, `unreachable` for a coding
 * that is not known.
 */
export async function decodeText(answer: WebAnswer, bytes: Buffer, maxBytes: number): Promise<string> {
  const coding = readCoding(answer);
  if (coding === '') return bytes.toString();
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  // Viewers may have a program that reads it.
  if (!decode) throw new WatchError('unreachable');
  try {
    return (await decode(bytes, { maxOutputLength: maxBytes })).toString();
  } catch (error) {
    const isLarge = error instanceof RangeError;
    throw new WatchError(isLarge ? 'playlist_too_large' : 'not_media');
  }
}
