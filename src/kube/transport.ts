/**
 * Sends HTTP requests to the API server through one undici Agent: kept-alive connections, time-outs, retries of reads,
 * and one kind of error. The generated client opens a TLS connection for each call (500 lists: 500 connections and 3.5
 * s).
 */

import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { type Backoff, backoffMs } from '../lib/backoff.ts';
import { sleep } from '../lib/clock.ts';
import { currentTrace } from '../lib/context.ts';
import { endCallSpan, startCallSpan } from './call-span.ts';
import type { Access, Tls } from './kubeconfig.ts';
import { type KubeCredentials, KubeError } from './types.ts';

const CONNECTIONS = 32;
const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;
const READ_ATTEMPTS = 4;
const READ_BACKOFF: Backoff = { baseMs: 200, maxMs: 5_000 };
/** Longer than this we do not wait inside a call; the caller gets the error with retryAfterSeconds. */
const MAX_RETRY_AFTER_SECONDS = 5;

export interface KubeAnswer {
  status: number;
  text: string;
}

export interface SendRequest {
  body?: unknown;
  headers?: Record<string, string>;
  /** The time limit of a request with its retries. */
  timeoutMs?: number;
}

/** Hears of each request when its headers came, or did not: then the status is 0. */
export type OnRequest = (request: { method: string; status: number; ms: number }) => void;

export interface KubeTransport {
  /** One exchange. Any HTTP status is an answer; KubeError 'Unreachable' when none came. Reads are retried. */
  send(method: string, path: string, options?: SendRequest): Promise<KubeAnswer>;
  /** As `send`, but a status of 400 and above becomes KubeError, and the body is parsed. */
  json<T>(method: string, path: string, options?: SendRequest): Promise<T>;
  /** GET with an endless body, which fails when nothing comes for `stallMs`. */
  open(path: string, options: { stallMs: number; signal?: AbortSignal | undefined }): Promise<Readable>;
  close(): Promise<void>;
}

function agentFor(access: Access, tls: Tls): Dispatcher {
  const options = {
    connections: CONNECTIONS,
    // HTTP/1.1: one request or watch a connection, so that a lost connection costs one of them and not all.
    allowH2: false,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
  };
  if (access.proxyUrl) return new ProxyAgent({ ...options, uri: access.proxyUrl, requestTls: tls });
  return new Agent({
    ...options,
    connect: { ...tls, timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 },
  });
}

/** metav1.Status → KubeError. `request` is shown when the answer is not a Status. */
export function toKubeError(answer: KubeAnswer, request: string, retryAfter?: string): KubeError {
  let reason = '';
  let message = `The API server responded to ${request} with status ${answer.status}.`;
  let seconds = retryAfter === undefined ? undefined : Number.parseInt(retryAfter, 10);
  try {
    const status = JSON.parse(answer.text);
    if (status?.kind === 'Status') {
      reason = status.reason ?? '';
      message = status.message ?? message;
      seconds ??= status.details?.retryAfterSeconds;
    }
  } catch {
    // A proxy's page, or a body that was cut: the status has to do.
  }
  const after = seconds !== undefined && Number.isFinite(seconds) ? { retryAfterSeconds: seconds } : {};
  return new KubeError(answer.status, reason, message, after);
}

/** How long to wait before read `attempt` + 1, or undefined when the error is not one that waiting mends. */
function retryDelayMs(error: KubeError, attempt: number): number | undefined {
  const passing = error.status === 0 || error.status === 429 || error.status >= 500;
  if (!passing || attempt >= READ_ATTEMPTS) return undefined;
  const asked = error.retryAfterSeconds ?? 0;
  if (asked > MAX_RETRY_AFTER_SECONDS) return undefined;
  return asked * 1000 + backoffMs(READ_BACKOFF, attempt - 1);
}

/** ECONNREFUSED, UND_ERR_SOCKET, TimeoutError, …: the part of an error that may be shown. */
export function errorCode(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === 'string' ? code : (name ?? 'unknown');
}

const unreachable = (access: Access, error: unknown): KubeError => {
  if (error instanceof KubeError) return error;
  return new KubeError(
    0,
    'Unreachable',
    `The API server at ${access.server.host} did not respond (${errorCode(error)}).`,
    {
      cause: error,
    },
  );
};

export function createTransport(
  access: Access,
  {
    timeoutMs = REQUEST_TIMEOUT_MS,
    onRequest,
  }: { timeoutMs?: number | undefined; onRequest?: OnRequest | undefined } = {},
): KubeTransport {
  let agent = agentFor(access, access.tls);
  let certificate: KubeCredentials['tls'];
  const base = access.server.pathname.replace(/\/$/, '');
  let closed = false;

  /** An exec plug-in may hand out a new certificate: later requests go over connections made with it. */
  const authorize = async (): Promise<Record<string, string>> => {
    const { headers, tls } = await access.credentials().catch((cause: unknown) => {
      const message = `The credentials for the API server at ${access.server.host} could not be read.`;
      throw new KubeError(0, 'Unreachable', message, { cause });
    });
    if (tls && String(tls.cert) !== String(certificate?.cert)) {
      certificate = tls;
      void agent.close();
      agent = agentFor(access, { ...access.tls, ...tls });
    }
    return headers;
  };

  const request = async (
    method: string,
    path: string,
    options: SendRequest & { signal: AbortSignal | undefined; bodyTimeout: number },
  ) => {
    const credentials = await authorize();
    const span = startCallSpan(method, path, access.server);
    const trace = span?.headers ?? currentTrace();
    const headers = { accept: 'application/json', ...trace, ...credentials, ...options.headers };
    if (options.body !== undefined) Object.assign(headers, { 'content-type': 'application/json', ...options.headers });
    const since = performance.now();
    const reportRequest = (status: number) => {
      endCallSpan(span, status);
      onRequest?.({ method, status, ms: performance.now() - since });
    };
    const answer = agent.request({
      origin: access.server.origin,
      path: `${base}${path}`,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      ...(options.signal ? { signal: options.signal } : {}),
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: options.bodyTimeout,
    });
    answer.then(
      ({ statusCode }) => reportRequest(statusCode),
      () => reportRequest(0),
    );
    return answer;
  };

  /** Throws for 429 and 5xx too when they are to be tried again. */
  const exchange = async (method: string, path: string, options: SendRequest) => {
    // headersTimeout and bodyTimeout end a silence; this one ends an answer that trickles.
    const signal = AbortSignal.timeout(options.timeoutMs ?? timeoutMs);
    try {
      const { statusCode, headers, body } = await request(method, path, {
        ...options,
        signal,
        bodyTimeout: REQUEST_TIMEOUT_MS,
      });
      const answer = { status: statusCode, text: await body.text() };
      return { answer, retryAfter: headers['retry-after']?.toString() };
    } catch (error) {
      throw unreachable(access, error);
    }
  };

  const attempt = async (
    method: string,
    path: string,
    options: SendRequest,
    number = 1,
    since = performance.now(),
  ): Promise<KubeAnswer & { error?: KubeError }> => {
    const what = `${method} ${path.split('?')[0]}`;
    const outcome = await exchange(method, path, options).catch((error: KubeError) => error);
    const error =
      outcome instanceof KubeError
        ? outcome
        : outcome.answer.status >= 400
          ? toKubeError(outcome.answer, what, outcome.retryAfter)
          : undefined;
    const inTime = performance.now() - since < (options.timeoutMs ?? timeoutMs);
    const delay = error && method === 'GET' && inTime && !closed ? retryDelayMs(error, number) : undefined;
    if (delay !== undefined) {
      await sleep(delay);
      return attempt(method, path, options, number + 1, since);
    }
    if (outcome instanceof KubeError) throw outcome;
    return error ? { ...outcome.answer, error } : outcome.answer;
  };

  return {
    async send(method, path, options = {}) {
      const { status, text } = await attempt(method, path, options);
      return { status, text };
    },
    async json<T>(method: string, path: string, options: SendRequest = {}): Promise<T> {
      const { error, status, text } = await attempt(method, path, options);
      if (error) throw error;
      try {
        return JSON.parse(text) as T;
      } catch (cause) {
        throw new KubeError(status, '', `The API server's response to ${method} ${path.split('?')[0]} is not JSON.`, {
          cause,
        });
      }
    },
    async open(path, { stallMs, signal }) {
      try {
        const { statusCode, headers, body } = await request('GET', path, { signal, bodyTimeout: stallMs });
        if (statusCode < 400) return body;
        const answer = { status: statusCode, text: await body.text() };
        throw toKubeError(answer, `GET ${path.split('?')[0]}`, headers['retry-after']?.toString());
      } catch (error) {
        throw unreachable(access, error);
      }
    },
    async close() {
      closed = true;
      await agent.destroy();
    },
  };
}
