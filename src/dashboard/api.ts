/**
 * The REST API as this page uses it: one function an operation, typed answers, problem documents as errors. The types
 * are the server's own; only types are imported, so none of its code reaches the browser.
 */
import type { Destination } from '../destinations/record.ts';
import type { LiveStats } from '../stats/record.ts';
import type { Readiness, Stream, StreamEvent } from '../streams/record.ts';
import { type ApiProblem, parseIssues, parseProblem, unreachable } from './problem.ts';

export type { LiveStats, Readiness, Stream, StreamEvent };

/** What the page shows of the signed-in user. */
export interface User {
  id: string;
  email: string;
}

export interface Page<T> {
  data: T[];
  page: { hasMore: boolean; nextCursor: string | null };
}

/** How the page learns what every answer tells besides its body. */
export interface ApiObserver {
  /** An answer came (of any status), or none did. */
  reached: (yes: boolean) => void;
  /** The server's clock less ours, in milliseconds, from the Date header. */
  clockOffset: (ms: number) => void;
  /** The key is no longer accepted. */
  refused: (problem: ApiProblem) => void;
}

export interface Api {
  me(signal?: AbortSignal): Promise<User>;
  streams(cursor: string | undefined, signal?: AbortSignal): Promise<Page<Stream>>;
  stream(id: string, signal?: AbortSignal): Promise<Stream>;
  destinations(signal?: AbortSignal): Promise<Page<Destination>>;
  readiness(id: string, signal?: AbortSignal): Promise<Readiness>;
  liveStats(id: string, signal?: AbortSignal): Promise<LiveStats>;
  events(id: string, signal?: AbortSignal): Promise<Page<StreamEvent>>;
  start(id: string): Promise<Stream>;
  stop(id: string): Promise<Stream>;
  /** Address of the live preview (HTTP-FLV) and the headers to ask for it with. */
  preview(id: string): { url: string; headers: Record<string, string> };
}

/** A request is given up after this time, so that a server that accepts and never answers is noticed. */
const TIMEOUT_MS = 15_000;

type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (!/[/+]json/.test(type)) return undefined;
  return response.json().catch(() => undefined);
}

/** Speaks to `base` (for example `https://host/v1`) with an API key. Throws ApiProblem, or the signal's reason when aborted. */
export function createApi(
  base: string,
  key: string,
  observer: Partial<ApiObserver> = {},
  send: FetchLike = fetch,
): Api {
  const headers = { 'X-API-Key': key };

  async function call<T>(method: 'GET' | 'POST', path: string, signal?: AbortSignal): Promise<T> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    let body: unknown;
    try {
      response = await send(`${base}${path}`, {
        method,
        headers: { ...headers, Accept: 'application/json, application/problem+json' },
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        cache: 'no-store',
      });
      body = await bodyOf(response);
    } catch (error) {
      if (signal?.aborted) throw error;
      observer.reached?.(false);
      throw unreachable();
    }
    // A proxy that answers for a server that is gone says 502 to 504; for a person that is a lost connection too.
    observer.reached?.(![502, 503, 504].includes(response.status));
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) observer.clockOffset?.(date - Date.now());
    if (response.ok && body !== undefined) return body as T;
    const problem = parseProblem(response.status, body, response.headers.get('retry-after'));
    if (response.status === 401) observer.refused?.(problem);
    throw problem;
  }

  const streamPath = (id: string, rest = ''): string => `/streams/${encodeURIComponent(id)}${rest}`;
  return {
    me: (signal) => call('GET', '/me', signal),
    streams: (cursor, signal) =>
      call('GET', `/streams?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, signal),
    stream: (id, signal) => call('GET', streamPath(id), signal),
    destinations: (signal) => call('GET', '/destinations?limit=100', signal),
    readiness: async (id, signal) => {
      const answer = await call<Readiness>('GET', streamPath(id, '/readiness'), signal);
      return { ready: answer.ready === true, issues: parseIssues(answer.issues) };
    },
    liveStats: (id, signal) => call('GET', streamPath(id, '/live-stats'), signal),
    events: (id, signal) => call('GET', streamPath(id, '/events?limit=20'), signal),
    start: (id) => call('POST', streamPath(id, '/start')),
    stop: (id) => call('POST', streamPath(id, '/stop')),
    preview: (id) => ({ url: `${base}${streamPath(id, '/preview.flv')}`, headers }),
  };
}
