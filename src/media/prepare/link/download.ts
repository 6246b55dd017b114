/**
 * The bytes that a link serves, from the first to the last. A source that drops in the middle is asked for the rest (RFC 9110 14, Range),
 * under the condition that its content has not changed (If-Range, and the same size). Byte ranges are those of the body as it was sent,
 * so a packed one is unpacked behind the place where the parts are joined.
 */
import type { Dispatcher } from 'undici';
import { sleep, systemClock } from '../../../lib/clock.ts';
import type { AddressLookup } from '../../../lib/guarded-agent.ts';
import type { Logger } from '../../../lib/log.ts';
import { PrepareError } from '../failure.ts';
import { Pace, WINDOW_SECONDS } from '../pace.ts';
import { decodeBody, readCodings } from './codings.ts';
import { Cookies } from './cookies.ts';
import { nameOfDisposition } from './disposition.ts';
import { type Answer, discard, first, follow, type Response } from './hops.ts';
import { BrokenOffError, explainError, explainStatus, PassingError, readRetryAfter } from './outage.ts';
import { PAGE_BYTES, readErrorDocument, recognizePage } from './page.ts';
import { peek } from './peek.ts';
import { findBehindPage } from './share-links.ts';

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
  lookup?: AddressLookup;
  /** Tests put stand-ins in the place of services: the origin that is connected to, for that of a link. */
  standIns?: ReadonlyMap<string, string>;
  /** 0 to 1, where the source says how large it is. */
  onProgress?: (fraction: number) => void;
}

/** Failures in a row without a byte between them, after which the Job gives up: the operator goes on where it is an outage. */
const MAX_FAILURES = 4;
/** The same where bytes have come that another Job would have to fetch again. */
const MAX_FAILURES_ON_THE_WAY = 8;
/** The longest wait before another try inside the Job, which keeps its place meanwhile. */
const LONGEST_WAIT_MS = 10_000;
/** Tries that take longer than this, from the first that failed, are not followed by another: a server that hangs holds a place. */
const LONGEST_TROUBLE_MS = 20_000;
const LONGEST_TROUBLE_ON_THE_WAY_MS = 90_000;
/** Of all waits together so much is not counted as slowness of the server. */
const EXCUSED_MS = 120_000;
/** From the beginning of a try to the headers of an answer that is no redirect. */
const OPEN_TIMEOUT_MS = 60_000;
/** A packed body has hardly more bytes than what is in it. */
const PACKED_SLACK = 1.02;
const PACKED_SLACK_BYTES = 2 ** 16;
const ERROR_DOCUMENT_MS = 2_000;

/** What to do about a status that is the last word of a server. */
const ADVICE: Record<number, string> = {
  401: 'It asks for a login. Share the file with everybody who has the link.',
  403: 'It does not give the file to everybody, or the link has expired. Share it with everybody who has the link, or make a new one.',
  404: 'There is no file at this link, or no more.',
  407: 'It asks for a login.',
  410: 'There is no file at this link any more.',
};

export class Download {
  readonly #agent: Dispatcher;
  readonly #options: FetchOptions;
  readonly #pace: Pace;
  readonly #cookies = new Cookies();
  #link: string | URL;
  /** Since when the server is waited for; undefined before its first answer. */
  #waitsSince: number | undefined;
  #excusedMs = EXCUSED_MS;
  /** When the try began since which nothing has come. */
  #triedSince = 0;
  /** Bytes of the body as it is sent. */
  #received = 0;
  #total: number | undefined;
  /** ETag or date of the first answer: the rest is only taken from the same content. */
  #validator: string | undefined;
  #codings: ReturnType<typeof readCodings> = [];
  #contentType = '';
  #url: URL | undefined;
  /** What the server calls the file. */
  name: string | undefined;

  constructor(link: string, agent: Dispatcher, options: FetchOptions) {
    this.#link = link;
    this.#agent = agent;
    this.#options = options;
    this.#pace = new Pace(options.minBytesPerSecond, options.windowSeconds);
  }

  /** The file, unpacked. Rejects with PrepareError, BrokenOffError, or the signal's reason. */
  async *bytes(): AsyncGenerator<Buffer> {
    const whole = await this.#openFile();
    let sizeBytes = 0;
    for await (const chunk of whole) {
      sizeBytes += chunk.length;
      if (this.#codings.length > 0) this.#checkPace(chunk.length, 0);
      this.#checkSize(sizeBytes);
      yield chunk;
    }
  }

  /** The body of the file; where a share link shows a page first, that of the link behind it. */
  async #openFile(): Promise<AsyncIterable<Buffer>> {
    for (let pages = 0; ; pages++) {
      const { head, whole } = await peek(this.#decoded(), PAGE_BYTES);
      const page = recognizePage(head, this.#contentType);
      if (!page) return whole;
      await whole.return(undefined);
      const behind = this.#url && page.isHtml && pages === 0 ? findBehindPage(this.#url, String(head)) : undefined;
      if (!behind) throw new PrepareError('link_is_a_page', page.detail);
      this.#options.log.info('following the share link behind its page');
      this.#restart(behind);
    }
  }

  #restart(link: URL): void {
    this.#link = link;
    this.#received = 0;
    this.#total = undefined;
    this.#validator = undefined;
    this.#codings = [];
  }

  async *#decoded(): AsyncGenerator<Buffer> {
    const sent = this.#sent();
    // The codings are known when the first bytes have come.
    const { whole } = await peek(sent, 1);
    yield* decodeBody(whole, this.#codings);
  }

  /** The body as it is sent, its parts joined. */
  async *#sent(): AsyncGenerator<Buffer> {
    let failures = 0;
    for (;;) {
      if (failures === 0) this.#triedSince = performance.now();
      try {
        const response = await this.#open();
        this.#waitsSince ??= performance.now();
        for await (const chunk of response.body as AsyncIterable<Buffer>) {
          this.#countSent(chunk);
          failures = 0;
          yield chunk;
          this.#waitsSince = performance.now();
          this.#triedSince = this.#waitsSince;
        }
        return;
      } catch (error) {
        await this.#waitAfter(error, ++failures);
      }
    }
  }

  #countSent({ length }: Buffer): void {
    const isPacked = this.#codings.length > 0;
    this.#checkPace(isPacked ? 0 : length);
    this.#received += length;
    this.#checkSize(isPacked ? Math.floor((this.#received - PACKED_SLACK_BYTES) / PACKED_SLACK) : this.#received);
    if (this.#total) this.#options.onProgress?.(this.#received / this.#total);
  }

  /** Waits until another try is worth it. Throws where none is. */
  async #waitAfter(error: unknown, failures: number): Promise<void> {
    const { signal, log, retryDelayMs = 500 } = this.#options;
    signal.throwIfAborted();
    const failure = explainError(error);
    if (!(failure instanceof PassingError)) throw failure;
    // Without a word of the server on whether it is still the same, a rest might be that of another file.
    if (this.#received > 0 && !this.#canResume()) throw this.#brokenOff('');
    this.#checkPace(0);
    const backoff = Math.min(retryDelayMs * 2 ** (failures - 1), LONGEST_WAIT_MS);
    const wait = Math.max(backoff, failure.retryAfterMs ?? 0);
    const [most, longest] =
      this.#received > 0
        ? [MAX_FAILURES_ON_THE_WAY, LONGEST_TROUBLE_ON_THE_WAY_MS]
        : [MAX_FAILURES, LONGEST_TROUBLE_MS];
    const isTooLong = wait > LONGEST_WAIT_MS || performance.now() - this.#triedSince > longest;
    if (failures >= most || isTooLong) throw this.#giveUp(failure);
    log.info({ reason: failure.message, receivedBytes: this.#received, waitMs: wait }, 'trying the link again');
    await sleep(wait, signal);
    this.#excuse(wait);
  }

  #giveUp(failure: PassingError): PrepareError {
    const retryAfterSeconds = failure.isOutage ? Math.ceil((failure.retryAfterMs ?? 0) / 1000) : undefined;
    return new PrepareError('link_unreachable', failure.message, {
      cause: failure,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }

  /** A packed body is made anew for each answer by many servers: only a strong tag says that it is the same, byte for byte. */
  #canResume(): boolean {
    return this.#validator !== undefined && (this.#codings.length === 0 || this.#validator.startsWith('"'));
  }

  #excuse(waitedMs: number): void {
    const excused = Math.min(waitedMs, this.#excusedMs);
    this.#excusedMs -= excused;
    if (this.#waitsSince !== undefined) this.#waitsSince += excused;
  }

  /** Throws PrepareError link_too_slow. `waitedMs`: for these bytes, where that is not the time since the last ones. */
  #checkPace(bytes: number, waitedMs?: number): void {
    if (this.#waitsSince === undefined) return;
    const now = performance.now();
    const { minBytesPerSecond, windowSeconds = WINDOW_SECONDS } = this.#options;
    const rate = this.#pace.add(bytes, waitedMs ?? Math.max(0, now - this.#waitsSince));
    if (waitedMs === undefined) this.#waitsSince = now;
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
    const { response, url } = await this.#followInTime();
    const { statusCode, headers } = response;
    try {
      const passing = explainStatus(statusCode, readRetryAfter(headers, systemClock.now()));
      if (passing) throw passing;
      if (this.#received > 0) this.#checkResumed(response);
      else await this.#begin(response, url);
      return response;
    } catch (error) {
      discard(response);
      throw error;
    }
  }

  async #begin(response: Response, url: URL): Promise<void> {
    const { statusCode, headers } = response;
    if (statusCode !== 200) throw await this.#refusal(response);
    this.#url = url;
    this.#codings = readCodings(headers['content-encoding']);
    this.#contentType = first(headers['content-type']) ?? '';
    this.name = nameOfDisposition(headers['content-disposition']);
    const length = Number(first(headers['content-length']) || Number.NaN);
    this.#total = Number.isSafeInteger(length) ? length : undefined;
    if (this.#codings.length === 0) this.#checkSize(this.#total ?? 0);
    const etag = first(headers.etag) ?? '';
    // RFC 9110 13.1.5: If-Range takes no weak tag.
    this.#validator = etag && !etag.startsWith('W/') ? etag : first(headers['last-modified']);
  }

  /** What a server says that does not give the file, in its own words where it has some. */
  async #refusal({ statusCode, body }: Response): Promise<PrepareError> {
    const status = `The server answered ${statusCode}`;
    const timer = setTimeout(() => body.destroy(), ERROR_DOCUMENT_MS);
    try {
      const { head, whole } = await peek(body as AsyncIterable<Buffer>, PAGE_BYTES);
      await whole.return(undefined);
      const said = readErrorDocument(head);
      const advice = ADVICE[statusCode] ?? '';
      return new PrepareError('link_unreachable', `${status}${said ? ` (${said})` : ''}. ${advice}`.trim());
    } catch (cause) {
      return new PrepareError('link_unreachable', `${status}. ${ADVICE[statusCode] ?? ''}`.trim(), { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  #checkResumed({ statusCode, headers }: Response): void {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(first(headers['content-range']) ?? '');
    const size = range?.[2] === '*' ? this.#total : Number(range?.[2]);
    const etag = first(headers.etag);
    const sameSize = this.#total === undefined || size === undefined || size === this.#total;
    // Some servers know Range and not If-Range.
    const sameTag = etag === undefined || !this.#validator?.startsWith('"') || etag === this.#validator;
    const sameCodings = String(readCodings(headers['content-encoding'])) === String(this.#codings);
    if (statusCode === 206 && Number(range?.[1]) === this.#received && sameSize && sameTag && sameCodings) return;
    throw this.#brokenOff(` (status ${statusCode})`);
  }

  #brokenOff(why: string): BrokenOffError {
    return new BrokenOffError(
      `The connection broke after ${this.#received} bytes and the server does not send the rest${why}.`,
    );
  }

  /** Each wait for a connection or for headers has an end of its own, and a server may ask for many of them. */
  async #followInTime(): Promise<Answer> {
    const { signal, openTimeoutMs = OPEN_TIMEOUT_MS, allowPrivateLinks, standIns } = this.#options;
    const stop = new AbortController();
    const late = new PassingError('The server did not answer in time.');
    const timer = setTimeout(() => stop.abort(late), openTimeoutMs);
    try {
      return await follow(this.#link, {
        ...{ agent: this.#agent, cookies: this.#cookies, allowPrivateLinks, standIns },
        signal: AbortSignal.any([signal, stop.signal]),
        headers: {
          ...(this.#received > 0 && { range: `bytes=${this.#received}-` }),
          ...(this.#received > 0 && this.#validator && { 'if-range': this.#validator }),
        },
      });
    } finally {
      clearTimeout(timer);
    }
  }
}
