/**
 * Sends HTTP requests to the API server through one pool of undici: kept-alive connections, time-outs, retries of reads,
 * and one kind of error. The generated client opens a TLS connection for each call (500 lists: 500 connections and 3.5
 * s).
 */

import type { Readable } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import manifest from '../../../package.json' with { type: 'json' };
import { type Backoff, backoffMs } from '../lib/backoff.ts';
import { sleep } from '../lib/clock.ts';
import { currentTrace } from '../lib/context.ts';
import { endCallSpan, startCallSpan } from './call-span.ts';
import type { ClusterAccess, Tls } from './kubeconfig.ts';
import { parseObject } from './parse-object.ts';
import { requestText } from './text-request.ts';
import { type KubeCredentials, KubeError } from './types.ts';

const PRODUCT = `loopstream/${manifest.version}`;
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

/** Called when the headers of a request arrive, or fail to: the status is then 0. */
export type OnRequest = (request: { method: string; status: number; ms: number }) => void;

export interface TransportOptions {
  /** The time limit of a request with its retries; 30,000 ms by default. A watch has no such limit. */
  timeoutMs?: number | undefined;
  onRequest?: OnRequest | undefined;
  /** The part of the product that asks, for the User-Agent and so for audit logs, such as `operator`. */
  role?: string | undefined;
}

export interface KubeTransport {
  /** One exchange. Any HTTP status is an answer; KubeError 'Unreachable' when none came. Reads are retried. */
  send(method: string, path: string, options?: SendRequest): Promise<KubeAnswer>;
  /** As `send`, but a status of 400 and above becomes KubeError, and the body is parsed. */
  json<T>(method: string, path: string, options?: SendRequest): Promise<T>;
  /** GET with an endless body, which fails when nothing comes for `stallMs`. */
  open(path: string, options: { stallMs: number; signal?: AbortSignal | undefined }): Promise<Readable>;
  close(): Promise<void>;
}

/** Parses the certificates once. Given as texts, they would be parsed for each connection. */
function parseTls({ protocol }: URL, { ca, cert, key, ...rest }: Tls) {
  const context = { ...(ca && { ca }), ...(cert && key && { cert, key }) };
  return protocol === 'https:' ? { ...rest, secureContext: createSecureContext(context) } : rest;
}

/** Throws where a certificate or a key cannot be parsed. */
function openConnections({ server, proxyUrl }: ClusterAccess, given: Tls): Dispatcher {
  const tls = parseTls(server, given);
  const options = {
    connections: CONNECTIONS,
    // HTTP/1.1: one request or watch a connection, so that a lost connection costs one of them and not all.
    allowH2: false,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 60_000,
  };
  if (proxyUrl) return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls });
  const connect = { ...tls, timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 };
  return new Pool(server.origin, { ...options, connect });
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

const unreachable = (access: ClusterAccess, error: unknown): KubeError => {
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
  access: ClusterAccess,
  { timeoutMs = REQUEST_TIMEOUT_MS, onRequest, role }: TransportOptions = {},
): KubeTransport {
  /** Opened by the first request. */
  let connections: Dispatcher | undefined;
  let certificate: KubeCredentials['tls'];
  const { origin } = access.server;
  const base = access.server.pathname.replace(/\/$/, '');
  const userAgent = role === undefined ? PRODUCT : `${PRODUCT} (${role})`;
  let closed = false;

  /** An exec plug-in may hand out a new certificate: later requests go over connections made with it. */
  const authorize = async () => {
    const { headers, tls } = await access.credentials().catch((cause: unknown) => {
      const message = `The credentials for the API server at ${access.server.host} could not be read.`;
      throw new KubeError(0, 'Unreachable', message, { cause });
    });
    if (tls && String(tls.cert) !== String(certificate?.cert)) {
      certificate = tls;
      void connections?.close();
      connections = undefined;
    }
    if (closed) throw new KubeError(0, 'Unreachable', 'The connections to the API server are closed.');
    connections ??= openConnections(access, { ...access.tls, ...certificate });
    return { headers, connections };
  };

  /** A request that is ready to be sent, and what reports the status of its response, 0 where none came. */
  const prepare = async (method: string, path: string, { body, headers: given }: SendRequest, bodyTimeout: number) => {
    const { headers: credentials, connections } = await authorize();
    const span = startCallSpan(method, path, access.server);
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(span?.headers ?? currentTrace()),
      ...credentials,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given,
    };
    const since = performance.now();
    return {
      connections,
      request: {
        origin,
        path: `${base}${path}`,
        method: method as Dispatcher.HttpMethod,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: REQUEST_TIMEOUT_MS,
        bodyTimeout,
      },
      reportStatus: (status: number) => {
        endCallSpan(span, status);
        onRequest?.({ method, status, ms: performance.now() - since });
      },
    };
  };

  const exchange = async (method: string, path: string, options: SendRequest) => {
    try {
      const { connections, request, reportStatus } = await prepare(method, path, options, REQUEST_TIMEOUT_MS);
      const limits = { timeoutMs: options.timeoutMs ?? timeoutMs, onHeaders: reportStatus };
      const { status, headers, text } = await requestText(connections, request, limits);
      return { answer: { status, text }, retryAfter: headers['retry-after']?.toString() };
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
        return parseObject(text) as T;
      } catch (cause) {
        throw new KubeError(status, '', `The API server's response to ${method} ${path.split('?')[0]} is not JSON.`, {
          cause,
        });
      }
    },
    async open(path, { stallMs, signal }) {
      try {
        const { connections, request, reportStatus } = await prepare('GET', path, {}, stallMs);
        const response = connections.request({ ...request, ...(signal && { signal }) });
        response.then(
          ({ statusCode }) => reportStatus(statusCode),
          () => reportStatus(0),
        );
        const { statusCode, headers, body } = await response;
        if (statusCode < 400) return body;
        const answer = { status: statusCode, text: await body.text() };
        throw toKubeError(answer, `GET ${path.split('?')[0]}`, headers['retry-after']?.toString());
      } catch (error) {
        throw unreachable(access, error);
      }
    },
    async close() {
      closed = true;
      await connections?.destroy();
    },
  };
}
