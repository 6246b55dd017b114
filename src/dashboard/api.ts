/** The API as this page uses it: the client that everybody has, and what the page learns from every answer of it. */
import {
  ConnectionError,
  createClient,
  type Destination,
  type List,
  type LiveStats,
  type Page,
  problems,
  type Readiness,
  type Stream,
  type StreamEvent,
  type User,
} from '../client/index.ts';

export type { LiveStats, Page, Readiness, Stream, StreamEvent };

/** How the page learns what every answer tells besides its body. */
export interface ApiObserver {
  /** An answer came (of any status), or none did. */
  reached: (yes: boolean) => void;
  /** The server's clock less ours, in milliseconds, from the Date header. */
  clockOffset: (ms: number) => void;
  /** The key is no longer accepted. */
  refused: () => void;
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
/** A proxy that answers for a server that is gone; for a person that is a lost connection too. */
const GATEWAY_STATUSES = [502, 503, 504];

/** Speaks to `base` (for example `https://host/v1`) with an API key. What is tried again, the page's queries decide. */
export function createApi(base: string, key: string, observer: Partial<ApiObserver> = {}): Api {
  const observed: typeof fetch = async (input, init) => {
    const response = await fetch(input, { ...init, cache: 'no-store' });
    observer.reached?.(!GATEWAY_STATUSES.includes(response.status));
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) observer.clockOffset?.(date - Date.now());
    return response;
  };
  const { me, streams, destinations } = createClient({
    ...{ baseUrl: base, apiKey: key, fetch: observed, timeoutMs: TIMEOUT_MS, maxRetries: 0 },
  });

  const told = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      if (error instanceof ConnectionError) observer.reached?.(false);
      if (error instanceof problems.Unauthenticated) observer.refused?.();
      throw error;
    });
  const page = <T>(list: List<T>, cursor?: string): Promise<Page<T>> => told(list.page(cursor));

  return {
    me: (signal) => told(me({ signal })),
    streams: (cursor, signal) => page(streams.list({ limit: 50 }, { signal }), cursor),
    stream: (id, signal) => told(streams.get(id, { signal })),
    destinations: (signal) => page(destinations.list({ limit: 100 }, { signal })),
    readiness: (id, signal) => told(streams.readiness(id, { signal })),
    liveStats: (id, signal) => told(streams.liveStats(id, { signal })),
    events: (id, signal) => page(streams.events(id, { limit: 20 }, { signal })),
    start: (id) => told(streams.start(id)),
    stop: (id) => told(streams.stop(id)),
    preview: (id) => ({
      url: `${base}/streams/${encodeURIComponent(id)}/preview.flv`,
      headers: { 'X-API-Key': key },
    }),
  };
}
