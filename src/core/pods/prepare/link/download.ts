/**
 * Downloads the bytes of a link, from the first to the last. After a break in the middle it requests the rest (RFC 9110
 * 14, Range), provided that the content has not changed (If-Range, and the same size). Byte ranges count the body as it
 * was sent, so a packed body is unpacked behind the place where the parts are joined.
 */
import { exponentialMs } from '../../../lib/backoff.ts';
import { sleep, systemClock } from '../../../lib/clock.ts';
import type { AddressLookup } from '../../../lib/guarded-agent.ts';
import type { Logger } from '../../../lib/log.ts';
import { PrepareError } from '../failure/failure.ts';
import { announcesRanges, CONDITION_REFUSED, first, isWholeAnswer, readPart, readStrongTag } from './answer.ts';
import { decodeBody, readCodings } from './codings.ts';
import { Cookies } from './cookies.ts';
import { readDispositionName } from './disposition.ts';
import { discard, follow, type HopOptions, type LinkAnswer, type LinkResponse } from './hops.ts';
import { BrokenOffError, explainError, explainStatus, PassingError, readRetryAfter } from './outage.ts';
import { PAGE_BYTES, readErrorDocument, recognizePage } from './page.ts';
import { peek } from './peek.ts';
import { RANGES, type RangeOptions, Ranges } from './ranges.ts';
import { ServerSpeed, WINDOW_SECONDS } from './server-speed.ts';
import { findBehindPage } from './share-links.ts';
import { isUnreadable } from './unreadable.ts';

export interface FetchOptions {
  allowPrivateLinks: boolean;
  maxBytes: number;
  timeoutSeconds: number;
  /** A server that sends less, on average over a window, is given up after the first window. */
  minBytesPerSecond: number;
  /** Tests make these short. */
  windowSeconds?: number;
  openTimeoutMs?: number;
  signal: AbortSignal;
  log: Logger;
  ranges?: Partial<RangeOptions>;
  /** First wait before a retry, doubled with each; tests make it short. */
  retryDelayMs?: number;
  lookup?: AddressLookup;
  /** Stand-ins for services in tests: the origin to connect to, by the origin of a link. */
  standIns?: ReadonlyMap<string, string>;
  /** Called with 0 to 1, where the source states its size. */
  onProgress?: (fraction: number) => void;
  /** Called with the size of the file, where the server states it, before the first byte. */
  onSize?: (bytes: number) => void;
}

/** Failures in a row without a byte, after which the Job fails. The operator retries during an outage. */
const MAX_FAILURES = 4;
/** The same after bytes that another Job would have to fetch again. */
const MAX_FAILURES_ON_THE_WAY = 8;
/** The longest wait before a retry inside the Job, which keeps its place meanwhile. */
const LONGEST_WAIT_MS = 10_000;
/** No retry follows attempts that took longer than this since the first failure: a hanging server holds a place. */
const LONGEST_TROUBLE_MS = 20_000;
const LONGEST_TROUBLE_ON_THE_WAY_MS = 90_000;
/** Total of the waits that do not count as slowness of the server. */
const EXCUSED_MS = 120_000;
/** Limit from the beginning of an attempt to the headers of an answer that is no redirect. */
const OPEN_TIMEOUT_MS = 60_000;
/** A packed body has hardly more bytes than its content. */
const PACKED_SLACK = 1.02;
const PACKED_SLACK_BYTES = 2 ** 16;
const ERROR_DOCUMENT_MS = 2_000;
/** Several connections go on only where they are faster together than one by this factor. */
const WORTH = 1.2;

/** Advice about the final status of a server. */
const ADVICE: Record<number, string> = {
  401: 'The server requires a login. Share the file with everybody who has the link.',
  403: 'The server denies access, or the link has expired. Share the file with everybody who has the link, or create a new link.',
  404: 'The file does not exist or was removed. Check the link.',
  407: 'The proxy requires a login. Use a link without one.',
  410: 'The file was removed. Use another link.',
};

export type LinkClients = Pick<HopOptions, 'agent' | 'lenient'>;

export class Download {
  readonly #clients: LinkClients;
  readonly #options: FetchOptions;
  readonly #speed: ServerSpeed;
  readonly #cookies = new Cookies();
  #link: string | URL;
  /** Start of the wait for the server; undefined before its first answer. */
  #waitsSince: number | undefined;
  #excusedMs = EXCUSED_MS;
  /** Start of the attempts since which nothing has come. */
  #triedSince = 0;
  /** Bytes of the body as it is sent. */
  #received = 0;
  #total: number | undefined;
  /** Strong tag and date of the first answer: the rest must belong to the same content. */
  #etag: string | undefined;
  #modified: string | undefined;
  /** Values of If-Range, the one first that is sent: some servers know it with a date alone, or not at all. */
  #conditions: readonly (string | undefined)[] = [];
  /** Whether the first answer has only a part of the file. */
  #isPart = false;
  #codings: ReturnType<typeof readCodings> = [];
  #contentType = '';
  #url: URL | undefined;
  /** Whether the server says that it sends ranges, and has not shown otherwise. */
  #takesRanges = false;
  /** Of the connection that is read. */
  #measured = { bytes: 0, waitedMs: 0 };
  /** The server's name of the file. */
  name: string | undefined;

  constructor(link: string, clients: LinkClients, options: FetchOptions) {
    this.#link = link;
    this.#clients = clients;
    this.#options = options;
    this.#speed = new ServerSpeed(options.minBytesPerSecond, options.windowSeconds);
  }

  /** Yields the file, unpacked. Rejects with PrepareError, BrokenOffError, or the signal's reason. */
  async *bytes(): AsyncGenerator<Buffer> {
    const whole = await this.#openFile();
    let sizeBytes = 0;
    for await (const chunk of whole) {
      sizeBytes += chunk.length;
      if (this.#codings.length > 0) this.#checkSpeed(chunk.length, 0);
      this.#checkSize(sizeBytes);
      yield chunk;
    }
  }

  /** Yields the body of the file. If a share link shows a page first, it is the body of the link behind it. */
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
    this.#conditions = [];
    this.#codings = [];
    this.#takesRanges = false;
  }

  async *#decoded(): AsyncGenerator<Buffer> {
    const sent = this.#sent();
    // The codings are known with the first bytes.
    const { whole } = await peek(sent, 1);
    yield* decodeBody(whole, this.#codings);
  }

  /** Yields the body as it is sent, its parts joined. */
  async *#sent(): AsyncGenerator<Buffer> {
    let failures = 0;
    for (;;) {
      if (failures === 0) this.#triedSince = performance.now();
      try {
        const before = this.#received;
        const response = await this.#open();
        if (!response) return;
        this.#waitsSince ??= performance.now();
        for await (const chunk of this.#read(response.body as AsyncIterable<Buffer>)) {
          this.#countSent(chunk);
          failures = 0;
          yield chunk;
          this.#waitsSince = performance.now();
          this.#triedSince = this.#waitsSince;
        }
        if (this.#isComplete()) return;
        // A part without a byte would be asked for without an end.
        if (this.#received === before || !this.#canResume()) throw this.#brokenOff('');
      } catch (error) {
        await this.#waitAfter(error, ++failures);
      }
    }
  }

  /** Yields a body; by several connections, where one is slow and the server sends ranges. */
  async *#read(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    this.#measured = { bytes: 0, waitedMs: 0 };
    let ranges: Ranges | undefined;
    let before = { ...this.#measured };
    try {
      for await (const chunk of body) {
        if (!ranges) {
          ranges = this.#beginRanges();
          if (ranges) before = { ...this.#measured };
        }
        const ahead = ranges ? ranges.start - this.#received : Number.POSITIVE_INFINITY;
        yield chunk.length > ahead ? chunk.subarray(0, ahead) : chunk;
        if (!ranges || chunk.length < ahead) continue;
        if (this.#isWorth(ranges, before)) break;
        ranges.close();
        ranges = undefined;
        this.#takesRanges = false;
        if (chunk.length > ahead) yield chunk.subarray(ahead);
      }
      // A part may end in front of the ranges. Another request brings the rest.
      if (ranges && this.#received >= ranges.start) yield* ranges.bytes();
    } catch (error) {
      // One connection may succeed where a range has failed.
      if (!ranges || this.#options.signal.aborted) throw error;
      this.#options.log.info({ err: error, receivedBytes: this.#received }, 'going on with one connection');
      this.#takesRanges = false;
      ranges.close();
      const rest = await this.#open();
      if (rest) yield* rest.body as AsyncIterable<Buffer>;
    } finally {
      ranges?.close();
    }
  }

  /** Begins to fetch what comes later by other connections, where the rest takes long at the speed of this one. */
  #beginRanges(): Ranges | undefined {
    const options = { ...RANGES, ...this.#options.ranges };
    const { rangeBytes, connections, measureMs, minSecondsLeft } = options;
    const { bytes, waitedMs } = this.#measured;
    if (!this.#takesRanges || this.#total === undefined || waitedMs < measureMs) return undefined;
    const left = this.#total - this.#received;
    if (left < connections * rangeBytes || (left / bytes) * (waitedMs / 1000) < minSecondsLeft) return undefined;
    const start = this.#received + rangeBytes;
    this.#options.log.info({ receivedBytes: this.#received, waitedMs }, 'fetching by several connections');
    const open = (from: number, end: number, signal: AbortSignal) => this.#openRange(from, end, signal);
    return new Ranges(start, this.#total, open, this.#options.signal, options);
  }

  /** Whether all connections together are faster than the single one was. */
  #isWorth(ranges: Ranges, before: { bytes: number; waitedMs: number }): boolean {
    const { bytes, waitedMs } = this.#measured;
    const together = (bytes - before.bytes + ranges.received) / (waitedMs - before.waitedMs);
    return ranges.isFine && together >= WORTH * (before.bytes / before.waitedMs);
  }

  /** Requests bytes [start, end) of the content that the first answer began. */
  async #openRange(start: number, end: number, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const { response, url } = await this.#request(this.#url ?? this.#link, { start, end }, signal);
    try {
      if (url.origin !== this.#url?.origin) throw this.#brokenOff(' from the same host');
      this.#checkPart(response, start, end);
    } catch (error) {
      discard(response);
      throw error;
    }
    return response.body as AsyncIterable<Buffer>;
  }

  #countSent({ length }: Buffer): void {
    const isPacked = this.#codings.length > 0;
    this.#checkSpeed(isPacked ? 0 : length);
    this.#received += length;
    this.#checkSize(isPacked ? Math.floor((this.#received - PACKED_SLACK_BYTES) / PACKED_SLACK) : this.#received);
    if (this.#total) this.#options.onProgress?.(this.#received / this.#total);
  }

  /** Waits until a retry is worth it. Throws where none is. */
  async #waitAfter(error: unknown, failures: number): Promise<void> {
    const { signal, log, retryDelayMs = 500 } = this.#options;
    signal.throwIfAborted();
    // The next attempt reads what is after the first bytes leniently too.
    if (isUnreadable(error) && this.#url) this.#clients.lenient.origins.add(this.#url.origin);
    const failure = explainError(error);
    if (!(failure instanceof PassingError)) throw failure;
    // Without the server's word that the content is the same, the rest might be that of another file.
    if (this.#received > 0 && !this.#canResume()) throw this.#brokenOff('');
    this.#checkSpeed(0);
    const backoff = exponentialMs({ baseMs: retryDelayMs, maxMs: LONGEST_WAIT_MS }, failures - 1);
    const wait = Math.max(backoff, failure.retryAfterMs ?? 0);
    const [most, longest] =
      this.#received > 0
        ? [MAX_FAILURES_ON_THE_WAY, LONGEST_TROUBLE_ON_THE_WAY_MS]
        : [MAX_FAILURES, LONGEST_TROUBLE_MS];
    const isTooLong = wait > LONGEST_WAIT_MS || performance.now() - this.#triedSince > longest;
    if (failures >= most || isTooLong) throw this.#giveUp(failure);
    log.info({ reason: failure.message, receivedBytes: this.#received, waitMs: wait }, 'retrying the link');
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

  /** A server may send a part to a request for the whole file, and parts that are shorter than the request. */
  #isComplete(): boolean {
    return this.#total === undefined ? !this.#isPart : this.#received >= this.#total;
  }

  /**
   * Many servers pack a body anew for each answer: only a strong tag says that it is the same, byte for byte. From a
   * server that sends parts alone, a file without a validator is had in no other way.
   */
  #canResume(): boolean {
    return this.#isIdentified || (this.#isPart && this.#codings.length === 0);
  }

  get #isIdentified(): boolean {
    return this.#etag !== undefined || this.#modified !== undefined;
  }

  #excuse(waitedMs: number): void {
    const excused = Math.min(waitedMs, this.#excusedMs);
    this.#excusedMs -= excused;
    if (this.#waitsSince !== undefined) this.#waitsSince += excused;
  }

  /** Throws PrepareError link_too_slow. `waitedMs`: the wait for these bytes, if not the time since the last ones. */
  #checkSpeed(bytes: number, waitedMs?: number): void {
    if (this.#waitsSince === undefined) return;
    const now = performance.now();
    const { minBytesPerSecond, windowSeconds = WINDOW_SECONDS } = this.#options;
    const waited = waitedMs ?? Math.max(0, now - this.#waitsSince);
    this.#measured.bytes += bytes;
    this.#measured.waitedMs += waited;
    const rate = this.#speed.add(bytes, waited);
    if (waitedMs === undefined) this.#waitsSince = now;
    if (rate === undefined) return;
    throw new PrepareError(
      'link_too_slow',
      `It sent ${Math.round(rate)} bytes per second for ${windowSeconds} s, and the minimum is ${minBytesPerSecond}. Put the file ` +
        'on a faster server, or download it and upload it yourself.',
    );
  }

  #checkSize(bytes: number): void {
    if (bytes > this.#options.maxBytes) {
      throw new PrepareError(
        'media_too_large',
        `The limit is ${this.#options.maxBytes} bytes. Shorten the file, or export it at a lower bit rate.`,
      );
    }
  }

  /** Requests the answer whose body begins at the first missing byte; undefined where none is missing. */
  async #open(): Promise<LinkResponse | undefined> {
    const { response, url } = await this.#request(this.#link, { start: this.#received }, this.#options.signal);
    const { statusCode, headers } = response;
    try {
      const passing = explainStatus(statusCode, readRetryAfter(headers, systemClock.now()));
      if (passing) throw passing;
      // The answer behind the last part, where no part named the size.
      if (statusCode === 416 && this.#received > 0 && this.#isPart && this.#total === undefined) {
        discard(response);
        return undefined;
      }
      if (this.#received > 0) this.#checkPart(response, this.#received);
      else await this.#begin(response, url);
      return response;
    } catch (error) {
      discard(response);
      throw error;
    }
  }

  async #begin(response: LinkResponse, url: URL): Promise<void> {
    const { headers } = response;
    const part = readPart(response);
    if (!isWholeAnswer(response) && part?.start !== 0) throw await this.#refusal(response);
    this.#url = url;
    this.#codings = readCodings(headers['content-encoding']);
    this.#contentType = first(headers['content-type']) ?? '';
    this.name = readDispositionName(headers['content-disposition']);
    // Chunks come before a length (RFC 9112 6.3).
    const length = Number(
      (headers['transfer-encoding'] === undefined && first(headers['content-length'])) || Number.NaN,
    );
    this.#total = part ? part.size : Number.isSafeInteger(length) ? length : undefined;
    this.#isPart = part !== undefined && part.end !== part.size;
    if (this.#codings.length === 0) {
      this.#checkSize(this.#total ?? 0);
      if (this.#total !== undefined) this.#options.onSize?.(this.#total);
    }
    const isPacked = this.#codings.length > 0;
    this.#etag = readStrongTag(headers);
    this.#modified = isPacked ? undefined : first(headers['last-modified']);
    const known = [this.#etag, this.#modified].filter((value) => value !== undefined);
    this.#conditions = [...known, undefined];
    this.#takesRanges = !isPacked && this.#total !== undefined && known.length > 0 && announcesRanges(headers);
  }

  /** Describes an answer without the file, in the server's own words where it has some. */
  async #refusal({ statusCode, body }: LinkResponse): Promise<PrepareError> {
    const status = `The server returned status ${statusCode}`;
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

  /** Throws BrokenOffError unless the answer is the content from `start` on, and to `end` if that is given. */
  #checkPart(response: LinkResponse, start: number, end?: number): void {
    const { statusCode, headers } = response;
    const part = readPart(response);
    const size = part?.size;
    const sameSize = this.#total === undefined || size === undefined || size === this.#total;
    const isAll = end === undefined || part?.end === end;
    // Some servers know Range and not If-Range.
    const isSame = this.#isSame(headers) ?? (this.#conditions[0] !== undefined || !this.#isIdentified);
    const sameCodings = String(readCodings(headers['content-encoding'])) === String(this.#codings);
    if (part?.start !== start || !isAll || !sameSize || !isSame || !sameCodings)
      throw this.#brokenOff(` (status ${statusCode})`);
    this.#total ??= size;
  }

  /** Whether it is the content that the first answer began; undefined where the headers do not say so. */
  #isSame(headers: LinkResponse['headers']): boolean | undefined {
    const [etag, modified] = [readStrongTag(headers), first(headers['last-modified'])];
    if (this.#etag !== undefined && etag !== undefined) return etag === this.#etag;
    return this.#modified === undefined || modified === undefined ? undefined : modified === this.#modified;
  }

  /** Whether a server cannot read the condition of a request for a part: it begins the same content again. */
  #isConditionLost({ statusCode, headers }: LinkResponse): boolean {
    if (CONDITION_REFUSED.has(statusCode)) return true;
    const length = first(headers['content-length']);
    const sameSize = this.#total === undefined || length === undefined || Number(length) === this.#total;
    // Without a condition, a server that does not announce ranges sends the whole file again most often.
    const isWorth = this.#conditions.length > 2 || announcesRanges(headers);
    return statusCode === 200 && sameSize && isWorth && this.#isSame(headers) === true;
  }

  /** Requests the file, or a part of it on the next condition that the server can read. */
  async #request(link: string | URL, range: { start: number; end?: number }, within: AbortSignal): Promise<LinkAnswer> {
    for (;;) {
      const conditions = this.#conditions;
      const answer = await this.#followInTime(link, range, conditions[0], within);
      if (range.start === 0 || conditions.length < 2 || !this.#isConditionLost(answer.response)) return answer;
      discard(answer.response);
      // Another range may have found out meanwhile.
      if (this.#conditions === conditions) this.#conditions = conditions.slice(1);
    }
  }

  #brokenOff(why: string): BrokenOffError {
    return new BrokenOffError(
      `The connection broke after ${this.#received} bytes, and the server does not send the rest${why}.`,
    );
  }

  /** Each wait for a connection or for headers has a limit of its own, and a server may cause many of them. */
  async #followInTime(
    link: string | URL,
    { start, end }: { start: number; end?: number },
    condition: string | undefined,
    within: AbortSignal,
  ): Promise<LinkAnswer> {
    const { openTimeoutMs = OPEN_TIMEOUT_MS, allowPrivateLinks, standIns } = this.#options;
    const stop = new AbortController();
    const late = new PassingError('The server did not respond in time.');
    const timer = setTimeout(() => stop.abort(late), openTimeoutMs);
    try {
      return await follow(link, {
        ...this.#clients,
        cookies: this.#cookies,
        allowPrivateLinks,
        standIns,
        signal: AbortSignal.any([within, stop.signal]),
        headers: {
          ...(start > 0 && { range: `bytes=${start}-${end === undefined ? '' : end - 1}` }),
          ...(start > 0 && condition !== undefined && { 'if-range': condition }),
        },
      });
    } finally {
      clearTimeout(timer);
    }
  }
}
