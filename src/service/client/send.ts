/**
 * One call of the API over fetch: given up in time, tried again where that may help, its problems thrown. A POST carries an
 * Idempotency-Key, the same in each of its tries, so that trying again never does anything twice.
 */
import { type Backoff, backoffMs } from '../../core/lib/backoff.ts';
import { sleep } from '../../core/lib/clock.ts';
import { ConnectionError, createProblem, LoopstreamError } from './problem.ts';

export interface ClientOptions {
  /** With the version: `https://loops.example.com/v1`. */
  baseUrl: string;
  /** Has the full access of its owner: never in a page that others can read. */
  apiKey?: string;
  /** Instead of a key: an OAuth access token, or what hands one out that is still good. */
  accessToken?: string | (() => string | Promise<string>);
  /** For one try, 30,000 ms by default; a `wait` that is asked for comes on top. */
  timeoutMs?: number;
  /** Tries after the first, 3 by default. */
  maxRetries?: number;
  /** Instead of the runtime's own. */
  fetch?: typeof fetch;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, its pauses included; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** Of a POST: to be sent again with the same one after a restart, say. By default a new one for each call. */
  idempotencyKey?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Seconds, 0 to 60, to wait for it to happen. */
  wait?: number;
}

export interface TrialOptions extends CallOptions {
  /** The request is checked and answered as ever, and changes nothing. */
  dryRun?: boolean;
}

export interface RequestOptions extends CallOptions {
  query?: object | undefined;
  /** How much longer the server may take. */
  extraSeconds?: number | undefined;
}

/** Resolves to the body of an answer of 2xx, undefined when it has none. Rejects with LoopstreamError or the signal's reason. */
export type Send = <T>(path: string, call?: RequestOptions, body?: unknown) => Promise<T>;

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
export const PAUSE: Backoff = { baseMs: 500, maxMs: 8_000 };
/** The caller waits where a server asks for more patience than this. */
const MAX_RETRY_AFTER_SECONDS = 60;

/**
 * How long to wait before the next try, in milliseconds, or undefined when waiting does not mend the error. `tried`: how
 * often it was tried again already. `random` from 0 to 1 spreads those who failed at the same moment, also when all of them
 * were told the same Retry-After.
 */
export function pauseMs(error: LoopstreamError, tried: number, random: number): number | undefined {
  const asked = error.retryAfterSeconds ?? 0;
  if (!error.isPassing || asked > MAX_RETRY_AFTER_SECONDS) return undefined;
  return asked * 1000 + backoffMs(PAUSE, tried, random);
}

/** 128 random bits: `crypto.randomUUID` is kept from pages that came over plain HTTP. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** `?a=b`, without what is undefined; '' when nothing is left. */
export function formatQuery(values: object = {}): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readCredentials({ apiKey, accessToken }: ClientOptions): Promise<Record<string, string>> {
  if (apiKey !== undefined) return { 'x-api-key': apiKey };
  const token = typeof accessToken === 'function' ? await accessToken() : accessToken;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Sends one request with the credentials. `signal` and `late` end it. */
async function request(
  options: ClientOptions,
  path: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
  late: AbortSignal,
): Promise<Response> {
  const { fetch: send = fetch } = options;
  // linear-time: the program that calls names its server.
  return send(options.baseUrl.replace(/\/+$/, '') + path, {
    ...init,
    headers: { ...init.headers, ...(await readCredentials(options)) },
    signal: signal ? AbortSignal.any([signal, late]) : late,
  });
}

/**
 * Asks once for an answer that is read as it comes, of `type`. Rejects with LoopstreamError when none begins in time, or with
 * the signal's reason.
 */
export async function openBody(
  options: ClientOptions,
  path: string,
  type: string,
  { signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS }: CallOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const headers = { accept: `${type}, application/problem+json` };
    const response = await request(options, path, { headers }, signal, late.signal);
    if (response.ok && response.body && response.headers.get('content-type')?.startsWith(type)) return response.body;
    throw createProblem(response.status, response.headers, await readBody(response), Date.now());
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof LoopstreamError) throw cause;
    throw new ConnectionError('The loopstream server did not answer.', { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the function that sends requests of one method. */
export function createSend(options: ClientOptions, method: string): Send {
  /** One try. A problem is an outcome here, since another try may mend it. */
  const exchange = async <T>(path: string, init: RequestInit, call: RequestOptions): Promise<T | LoopstreamError> => {
    const { signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS, extraSeconds = 0 } = call;
    const timeout = AbortSignal.timeout(timeoutMs + 1000 * extraSeconds);
    try {
      const response = await request(options, path, init, signal, timeout);
      const body = await readBody(response);
      if (response.ok && (body !== undefined || response.status === 204)) return body as T;
      // Of a 202 only the status counts; any other success without JSON came from elsewhere.
      if (response.status === 202 && body === undefined) return undefined as T;
      return createProblem(response.status, response.headers, body, Date.now());
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      const how = timeout.aborted ? 'in time' : 'at all';
      return new ConnectionError(`The loopstream server did not answer ${how}.`, { cause });
    }
  };

  return async <T>(path: string, call: RequestOptions = {}, body?: unknown): Promise<T> => {
    const { query, signal, maxRetries = options.maxRetries ?? MAX_RETRIES } = call;
    const headers: Record<string, string> = { accept: 'application/json, application/problem+json' };
    const init: RequestInit = { method, headers };
    if (method === 'POST') headers['idempotency-key'] = call.idempotencyKey ?? newKey();
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      init.body = JSON.stringify(body);
    }
    for (let tried = 0; ; tried += 1) {
      signal?.throwIfAborted();
      const outcome = await exchange<T>(path + formatQuery(query), init, call);
      if (!(outcome instanceof LoopstreamError)) return outcome;
      // The try before, whose answer was lost, has deleted it.
      if (method === 'DELETE' && tried > 0 && 'status' in outcome && outcome.status === 404) return undefined as T;
      const ms = tried < maxRetries ? pauseMs(outcome, tried, Math.random()) : undefined;
      if (ms === undefined) throw outcome;
      await sleep(ms, signal);
    }
  };
}
