/** The API as this page uses it: the public client, and an observer that learns from every answer. */
import {
  type AccountEvent,
  type Client,
  ConnectionError,
  createClient,
  type FeedNews,
  type List,
  type LiveStats,
  type Page,
  ProblemError,
  type Readiness,
  type Stream,
  type StreamEvent,
  type User,
  type WatchEventsQuery,
} from '../../service/client/index.ts';
import { createList } from '../../service/client/list.ts';
import { openBody } from '../../service/client/send.ts';
import { withReadable } from './readable.ts';
import { createTurns } from './turns.ts';

export type { LiveStats, Page, Readiness, Stream, StreamEvent };

/** Tells the page what it learns from an answer besides the body. */
export interface ApiObserver {
  /** An answer came (of any status), or none did. */
  reached: (yes: boolean) => void;
  /** The server's clock less ours, in milliseconds, from the Date header. */
  clockOffset: (ms: number) => void;
  /** The key is no longer accepted, or the session is over. */
  refused: () => void;
  /** Whether the session is known to be over: then the server is not asked, and each call fails as it would there. */
  isOver: () => boolean;
}

/** Where media is, and the headers to ask for it with. */
export interface MediaSource {
  url: string;
  headers: Record<string, string>;
}

/** A picture of the API. */
export interface Picture {
  url: string;
  /** Asks for it with the key, which a browser does not add by itself. Undefined without a key: the browser adds the cookie. */
  load?: (signal: AbortSignal) => Promise<Blob>;
}

export interface Api {
  me(signal?: AbortSignal): Promise<User>;
  stream(id: string, signal?: AbortSignal): Promise<Stream>;
  readiness(id: string, signal?: AbortSignal): Promise<Readiness>;
  liveStats(id: string, signal?: AbortSignal): Promise<LiveStats>;
  events(id: string, signal?: AbortSignal): Promise<Page<StreamEvent>>;
  start(id: string): Promise<Stream>;
  stop(id: string): Promise<Stream>;
  /** The changes, as they happen; ends with the connection. */
  changes(signal: AbortSignal): AsyncIterable<FeedNews>;
  /** The events of the account as they happen, without end. */
  watchEvents(query: WatchEventsQuery, signal: AbortSignal): AsyncIterable<AccountEvent>;
  /** The calls that pages change things by; the observer learns from each of their answers, too. */
  calls: Pick<Client, 'streams' | 'uploads' | 'playlists' | 'scenes' | 'destinations' | 'endpoints' | 'events'> &
    Pick<Client, 'apiKeys' | 'apiKeyPolicy' | 'sessions' | 'connectedApps' | 'account'> &
    Pick<Client, 'billing' | 'topUps' | 'crypto' | 'invoices' | 'billingAddress' | 'limits'>;
  /** A file of the API, of a media type; `path` with its query. */
  file(path: string, type: string): Promise<Blob>;
  /** A picture by its address in an answer, such as `posterUrl`. */
  picture(address: string): Picture;
  /** Address for resumable uploads (tus) and the headers to send along. */
  resumable(): { url: string; headers: Record<string, string> };
  /** Address of the live preview (HTTP-FLV) and the headers to ask for it with. */
  preview(id: string): MediaSource;
  /** Address of an upload's first minute (FLV). */
  uploadPreview(id: string): MediaSource;
}

/** A request is given up after this time, so that a server that accepts and never answers is noticed. */
const TIMEOUT_MS = 15_000;
/** Nothing has answered for this time: the server hangs. Requests go on waiting until TIMEOUT_MS. */
const HUNG_MS = 5_000;
/** A proxy that answers for a server that is gone; for a person that is a lost connection too. */
const GATEWAY_STATUSES = [502, 503, 504];

const PROBLEM = { 'content-type': 'application/problem+json' };
const SESSION_OVER = { status: 401, code: 'unauthenticated', title: 'Unauthenticated', detail: 'The session is over.' };

type Watch = <T>(answer: Promise<T>) => Promise<T>;

/** The same calls, observed; a list is observed page by page. */
function observed<Calls extends object>(calls: Calls, watch: Watch): Calls {
  const observe =
    (call: (...args: unknown[]) => Promise<unknown> | List<unknown>) =>
    (...args: unknown[]) => {
      const answer = call(...args);
      return answer instanceof Promise ? watch(answer) : createList((cursor) => watch(answer.page(cursor)));
    };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, observe(call)])) as Calls;
}

/**
 * Requests of the cards of streams at once. Over HTTP/1.1 a browser has six connections to a server. One follows the changes, and what a
 * person asks for must not wait for two dozen cards, each of which the server may answer after two seconds.
 */
const CARDS_AT_ONCE = 3;

/**
 * Speaks to `base` (for example `https://host/v1`) with an API key; without one, the browser adds the cookie of the session.
 * It tries nothing again: the page's queries decide that.
 */
export function createApi(base: string, key: string | undefined, observer: Partial<ApiObserver> = {}): Api {
  const headers = key === undefined ? {} : { 'X-API-Key': key };
  let answeredAt = 0;
  const watched: typeof fetch = async (input, init) => {
    if (observer.isOver?.()) return Response.json(SESSION_OVER, { status: 401, headers: PROBLEM });
    const askedAt = Date.now();
    // Only reads are answered soon: a start or a test of a destination takes its time.
    const isRead = (init?.method ?? 'GET') === 'GET';
    const hung = setTimeout(() => isRead && answeredAt < askedAt && observer.reached?.(false), HUNG_MS);
    const response = await fetch(input, { ...init, cache: 'no-store' }).finally(() => clearTimeout(hung));
    answeredAt = Date.now();
    observer.reached?.(!GATEWAY_STATUSES.includes(response.status));
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) observer.clockOffset?.(date - Date.now());
    return response;
  };
  const options = {
    baseUrl: base,
    fetch: watched,
    timeoutMs: TIMEOUT_MS,
    maxRetries: 0,
    ...(key !== undefined && { apiKey: key }),
  };
  const { me, changes, streams, destinations, uploads, playlists, scenes, ...person } = createClient(options);

  const watch: Watch = (answer) =>
    answer.then(withReadable).catch((error: unknown) => {
      if (error instanceof ConnectionError) observer.reached?.(false);
      if (error instanceof ProblemError && error.status === 401) observer.refused?.();
      throw error;
    });
  const page = <T>(list: List<T>, cursor?: string): Promise<Page<T>> => watch(list.page(cursor));

  const ofCard = createTurns(CARDS_AT_ONCE);

  const picture = (address: string): Picture => {
    const { href: url } = new URL(address, base);
    if (key === undefined) return { url };
    const load = async (signal: AbortSignal) => {
      // The picture under an address never changes, so the browser may have kept it.
      const response = await fetch(url, { headers, signal });
      if (!response.ok) throw new Error(`the picture has the status ${response.status}`);
      return response.blob();
    };
    return { url, load: (signal) => ofCard(() => load(signal), signal) };
  };

  return {
    me: (signal) => watch(me({ signal })),
    stream: (id, signal) => watch(streams.get(id, { signal })),
    readiness: (id, signal) => ofCard(() => watch(streams.readiness(id, { signal })), signal),
    liveStats: (id, signal) => ofCard(() => watch(streams.liveStats(id, { signal })), signal),
    events: (id, signal) => page(streams.events(id, { limit: 20 }, { signal })),
    start: (id) => watch(streams.start(id)),
    stop: (id) => watch(streams.stop(id)),
    async *changes(signal) {
      const feed = changes({ signal });
      // Only a feed that does not begin says that the server is away: one that breaks off later begins again at once.
      const first = await watch(feed.next());
      if (first.done) return;
      yield first.value;
      yield* feed;
    },
    async *watchEvents(query, signal) {
      for await (const event of person.watchEvents(query, { signal })) yield withReadable(event);
    },
    calls: {
      streams: observed(streams, watch),
      uploads: observed(uploads, watch),
      playlists: observed(playlists, watch),
      scenes: observed(scenes, watch),
      destinations: observed(destinations, watch),
      endpoints: observed(person.endpoints, watch),
      events: observed(person.events, watch),
      limits: (call) => watch(person.limits(call)),
      apiKeys: observed(person.apiKeys, watch),
      apiKeyPolicy: observed(person.apiKeyPolicy, watch),
      sessions: observed(person.sessions, watch),
      connectedApps: observed(person.connectedApps, watch),
      account: observed(person.account, watch),
      billing: observed(person.billing, watch),
      topUps: observed(person.topUps, watch),
      crypto: observed(person.crypto, watch),
      invoices: observed(person.invoices, watch),
      billingAddress: observed(person.billingAddress, watch),
    },
    file: (path, type) => watch(openBody(options, path, type).then((body) => new Response(body).blob())),
    picture,
    resumable: () => ({ url: `${base}/uploads/resumable`, headers }),
    preview: (id) => ({ url: `${base}/streams/${encodeURIComponent(id)}/preview.flv`, headers }),
    uploadPreview: (id) => ({ url: `${base}/uploads/${encodeURIComponent(id)}/preview.flv`, headers }),
  };
}
