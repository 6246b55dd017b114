/**
 * Import from a link: streams what a URL serves into storage while hashing it. A source that drops in the middle is asked
 * for the rest (RFC 9110 14, Range), under the condition that its content has not changed (If-Range, and the same size);
 * one that cannot promise that is begun anew.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { sleep } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { PrepareError } from './failure.ts';
import { checkLink, guardedAgent, type Lookup } from './guard.ts';
import { Pace, WINDOW_SECONDS } from './pace.ts';

const MAX_REDIRECTS = 5;
/** Failures in a row, without one byte between them, after which a source is given up. */
const MAX_FAILURES = 4;
/** How often a source is begun that cannot be gone on with. */
const MAX_BEGINNINGS = 3;
/** From the beginning of a try to the headers of an answer that is no redirect. */
const OPEN_TIMEOUT_MS = 60_000;
const BUFFER_BYTES = 2 ** 20;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** RFC 9110 15 and RFC 6585: statuses that a moment may change. */
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

export interface FetchOptions {
  allowPrivateLinks: boolean;
  maxBytes: number;
  timeoutSeconds: number;
  /** A server that sends less, averaged over a window, is given up after the first window. */
  minBytesPerSecond: number;
  /** Tests make these short. */
  windowSeconds?: number;
  openTimeoutMs?: number;
  signal: AbortSignal;
  log: Logger;
  /** First wait before another try, doubled with each; tests make it short. */
  retryDelayMs?: number;
  lookup?: Lookup;
  /** 0 to 1, where the source says how large it is. */
  onProgress?: (fraction: number) => void;
}

export interface Fetched {
  sha256: string;
  sizeBytes: number;
}

type Response = Dispatcher.ResponseData;

const first = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** A failure that another try may mend. */
class PassingError extends Error {}
/** What has come is worth nothing, because the rest of it cannot be had. */
class BrokenOffError extends Error {}

/**
 * Writes what `link` serves to `key`. Rejects with PrepareError (link_unreachable, link_forbidden, link_too_slow,
 * media_too_large, prepare_timeout), StorageError, or the signal's reason; the object is then not written.
 */
export async function fetchInto(
  storage: Pick<Storage, 'write'>,
  key: string,
  link: string,
  options: FetchOptions,
): Promise<Fetched> {
  const deadline = AbortSignal.timeout(options.timeoutSeconds * 1000);
  const signal = AbortSignal.any([options.signal, deadline]);
  const agent = guardedAgent(options.allowPrivateLinks, options.lookup);
  try {
    for (let beginnings = 1; ; beginnings++) {
      try {
        return await writeOnce(storage, key, new Download(link, agent, { ...options, signal }), signal);
      } catch (error) {
        if (!(error instanceof BrokenOffError)) throw error;
        if (beginnings >= MAX_BEGINNINGS) throw new PrepareError('link_unreachable', error.message, { cause: error });
        options.log.info({ reason: error.message }, 'beginning the link anew');
      }
    }
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (deadline.aborted) {
      throw new PrepareError('prepare_timeout', `It did not arrive within ${options.timeoutSeconds} s.`);
    }
    throw error;
  } finally {
    await agent.destroy();
  }
}

async function writeOnce(
  storage: Pick<Storage, 'write'>,
  key: string,
  source: Download,
  signal: AbortSignal,
): Promise<Fetched> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const hashed = async function* () {
    for await (const chunk of source.bytes()) {
      sizeBytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  };
  await storage.write(key, Readable.from(hashed(), { objectMode: false, highWaterMark: BUFFER_BYTES }), signal);
  return { sha256: hash.digest('hex'), sizeBytes };
}

class Download {
  readonly #link: string;
  readonly #agent: Dispatcher;
  readonly #options: FetchOptions;
  readonly #pace: Pace;
  /** Since when the server is waited for; undefined before its first answer. */
  #waitsSince: number | undefined;
  #received = 0;
  #total: number | undefined;
  /** ETag or date of the first answer: the rest is only taken from the same content. */
  #validator: string | undefined;

  constructor(link: string, agent: Dispatcher, options: FetchOptions) {
    this.#link = link;
    this.#agent = agent;
    this.#options = options;
    this.#pace = new Pace(options.minBytesPerSecond, options.windowSeconds);
  }

  async *bytes(): AsyncGenerator<Buffer> {
    let failures = 0;
    for (;;) {
      try {
        const response = await this.#open();
        this.#waitsSince ??= performance.now();
        for await (const chunk of response.body as AsyncIterable<Buffer>) {
          this.#checkPace(chunk.length);
          failures = 0;
          this.#received += chunk.length;
          this.#checkSize(this.#received);
          if (this.#total) this.#options.onProgress?.(this.#received / this.#total);
          yield chunk;
          this.#waitsSince = performance.now();
        }
        return;
      } catch (error) {
        this.#options.signal.throwIfAborted();
        const failure = explain(error);
        // Without a word of the server on whether it is still the same, a rest might be that of another file.
        if (failure instanceof PassingError && this.#received > 0 && !this.#validator) throw this.#brokenOff('');
        failures++;
        if (!(failure instanceof PassingError)) throw failure;
        this.#checkPace(0);
        if (failures >= MAX_FAILURES) throw new PrepareError('link_unreachable', failure.message, { cause: error });
        this.#options.log.info({ reason: failure.message, receivedBytes: this.#received }, 'trying the link again');
        await sleep((this.#options.retryDelayMs ?? 500) * 2 ** (failures - 1), this.#options.signal);
      }
    }
  }

  /** Throws PrepareError link_too_slow. */
  #checkPace(bytes: number): void {
    if (this.#waitsSince === undefined) return;
    const now = performance.now();
    const { minBytesPerSecond, windowSeconds = WINDOW_SECONDS } = this.#options;
    const rate = this.#pace.add(bytes, now - this.#waitsSince);
    this.#waitsSince = now;
    if (rate === undefined) return;
    throw new PrepareError(
      'link_too_slow',
      `It sent ${Math.round(rate)} bytes a second for ${windowSeconds} s, and ${minBytesPerSecond} are the least. Put the file ` +
        'on a faster server, or download it and upload it yourself.',
    );
  }

  #checkSize(bytes: number): void {
    if (bytes > this.#options.maxBytes) {
      throw new PrepareError('media_too_large', `The limit is ${this.#options.maxBytes} bytes.`);
    }
  }

  /** The answer whose body begins at the first byte that is still missing. */
  async #open(): Promise<Response> {
    const response = await this.#followInTime();
    const { statusCode, headers } = response;
    try {
      if (PASSING.has(statusCode)) throw new PassingError(`The server answered ${statusCode}.`);
      if (this.#received > 0) this.#checkResumed(response);
      else this.#begin(response);
      const encoding = headers['content-encoding'] ?? 'identity';
      if (encoding !== 'identity') {
        throw new PrepareError(
          'link_unreachable',
          `The server sends it encoded (${encoding}), which was not asked for.`,
        );
      }
      return response;
    } catch (error) {
      response.body.on('error', () => undefined).destroy();
      throw error;
    }
  }

  #begin({ statusCode, headers }: Response): void {
    if (statusCode !== 200) throw new PrepareError('link_unreachable', `The server answered ${statusCode}.`);
    const length = Number(headers['content-length'] ?? Number.NaN);
    this.#total = Number.isSafeInteger(length) ? length : undefined;
    this.#checkSize(this.#total ?? 0);
    const etag = first(headers.etag) ?? '';
    // RFC 9110 13.1.5: If-Range takes no weak tag.
    this.#validator = etag && !etag.startsWith('W/') ? etag : first(headers['last-modified']);
  }

  #checkResumed({ statusCode, headers }: Response): void {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(first(headers['content-range']) ?? '');
    const size = range?.[2] === '*' ? this.#total : Number(range?.[2]);
    const etag = first(headers.etag);
    const sameSize = this.#total === undefined || size === undefined || size === this.#total;
    // Some servers know Range and not If-Range.
    const sameTag = etag === undefined || !this.#validator?.startsWith('"') || etag === this.#validator;
    if (statusCode === 206 && Number(range?.[1]) === this.#received && sameSize && sameTag) return;
    throw this.#brokenOff(` (status ${statusCode})`);
  }

  #brokenOff(why: string): BrokenOffError {
    return new BrokenOffError(
      `The connection broke after ${this.#received} bytes and the server does not send the rest${why}.`,
    );
  }

  /** Each wait for a connection or for headers has an end of its own, and a server may ask for many of them. */
  async #followInTime(): Promise<Response> {
    const { signal, openTimeoutMs = OPEN_TIMEOUT_MS } = this.#options;
    const stop = new AbortController();
    const late = new PassingError('The server did not answer in time.');
    const timer = setTimeout(() => stop.abort(late), openTimeoutMs);
    try {
      return await this.#follow(AbortSignal.any([signal, stop.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(signal: AbortSignal): Promise<Response> {
    const { allowPrivateLinks } = this.#options;
    let url = checkLink(this.#link, allowPrivateLinks);
    const { origin, username, password } = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const login = username && url.origin === origin;
      const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      const response = await request(`${url.origin}${url.pathname}${url.search}`, {
        dispatcher: this.#agent,
        signal,
        headers: {
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'loopstream',
          ...(login && { authorization: `Basic ${credentials.toString('base64')}` }),
          ...(this.#received > 0 && { range: `bytes=${this.#received}-` }),
          ...(this.#received > 0 && this.#validator && { 'if-range': this.#validator }),
        },
      });
      const location = response.headers.location;
      if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return response;
      response.body.on('error', () => undefined).destroy();
      if (!URL.canParse(location, url.href))
        throw new PrepareError('link_unreachable', 'It redirects to no valid link.');
      url = checkLink(new URL(location, url), allowPrivateLinks);
    }
    throw new PrepareError('link_unreachable', `It redirects more than ${MAX_REDIRECTS} times.`);
  }
}

const REASONS: Record<string, string> = {
  EAI_AGAIN: 'Its name could not be resolved at the moment.',
  ECONNREFUSED: 'The server refused the connection.',
  ECONNRESET: 'The server broke the connection.',
  UND_ERR_SOCKET: 'The server broke the connection.',
  UND_ERR_CONNECT_TIMEOUT: 'The server did not answer in time.',
  UND_ERR_HEADERS_TIMEOUT: 'The server did not answer in time.',
  UND_ERR_BODY_TIMEOUT: 'The server stopped sending.',
  ETIMEDOUT: 'The server did not answer in time.',
};

/** A network error as what it means here: final (PrepareError) or worth another try. */
function explain(error: unknown): PrepareError | PassingError | BrokenOffError {
  if (error instanceof PrepareError || error instanceof PassingError || error instanceof BrokenOffError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOTFOUND') return new PrepareError('link_unreachable', 'Its name does not exist.', { cause: error });
  return new PassingError(REASONS[code] ?? `The connection failed (${code}).`, { cause: error });
}
