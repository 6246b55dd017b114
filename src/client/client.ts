/** The API as functions: one for each operation, grouped by noun, with the server's own types. */

import type { TopUp, TopUpCreate } from '../billing/cards/record.ts';
import type { CryptoAsset, CryptoDeposit, CryptoDepositCreate } from '../billing/crypto/record.ts';
import type { BillingAddress, BillingAddressUpdate, Invoice, InvoiceSummary } from '../billing/invoices/record.ts';
import type { Billing, LedgerEntry, Usage, UsageAsked } from '../billing/ledger/record.ts';
import type {
  AccountDelete,
  AccountLimits,
  ApiKey,
  ApiKeyCreate,
  ConnectedApp,
  CreatedApiKey,
  PersonSession,
  SignInOptions,
  User,
} from '../domain/accounts/record.ts';
import type {
  Destination,
  DestinationCreate,
  DestinationTest,
  DestinationUpdate,
} from '../domain/destinations/record.ts';
import type {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistDiff,
  PlaylistPublish,
  PlaylistRollback,
  PlaylistSummary,
  PlaylistUpdate,
  PlaylistVersion,
  PlaylistVersionSummary,
} from '../domain/playlists/record.ts';
import type { LiveStats } from '../domain/stats/record.ts';
import type {
  Readiness,
  Stream,
  StreamCreate,
  StreamEvent,
  StreamSchedule,
  StreamSkip,
  StreamUpdate,
  StreamWindows,
} from '../domain/streams/record.ts';
import type { Upload, UploadFromLink } from '../domain/uploads/record.ts';
import type { Phase } from '../resources/stream/spec.ts';
import { type FeedNews, readFeed } from './feed.ts';
import { createList, type List, type Page } from './list.ts';
import { type CallOptions, type ClientOptions, createSend, openBody, type Send } from './send.ts';

export interface ListQuery {
  /** Size of a page, 1 to 100. */
  limit?: number;
}

export interface StreamQuery extends ListQuery {
  status?: Phase;
  /** Part of the name, in any case. */
  q?: string;
}

export interface WaitOptions extends CallOptions {
  /** Seconds, 0 to 60, to wait for it to happen. */
  wait?: number;
}

export interface StartOptions extends WaitOptions {
  /** One that is not ready is `waiting` until it is, and goes on air by itself then. */
  whenReady?: boolean;
}

export interface Status {
  status: 'ok' | 'degraded';
  version: string;
  time: string;
  components: Record<string, 'ok' | 'unavailable'>;
}

export type Client = ReturnType<typeof createClient>;

/** Where something is: ids come from elsewhere and may hold anything. */
const at = (collection: string, id: string, rest = ''): string => `${collection}/${encodeURIComponent(id)}${rest}`;

/** As long as the server waits for a test. */
const TEST_MS = 30_000;

/** Fewer requests than the server's own size takes, when all of a list is read. */
const PAGE_SIZE = 100;

/** Nothing is sent before the first call. Every call rejects with a LoopstreamError, or its signal's reason. */
export function createClient(options: ClientOptions) {
  const send = createSend(options);
  return {
    status: (call?: CallOptions) => send<Status>('GET', '/status', call),
    /** The machine-readable description of the API (OpenAPI 3.1). */
    openApi: (call?: CallOptions) => send<Record<string, unknown>>('GET', '/openapi.json', call),
    me: (call?: CallOptions) => send<User>('GET', '/me', call),
    /** The limits of the account, and their use. */
    limits: (call?: CallOptions) => send<AccountLimits>('GET', '/limits', call),
    ...personCalls(send),
    /**
     * Yields changes as they happen: begins with `reset` and ends with the connection; then begin again. Rejects with
     * LoopstreamError when it does not begin, or breaks off.
     */
    async *changes(call: Pick<CallOptions, 'signal' | 'timeoutMs'> = {}): AsyncGenerator<FeedNews> {
      yield* readFeed(await openBody(options, '/changes', 'text/event-stream', call), call.signal);
    },
    streams: streamCalls(send),
    destinations: {
      ...readCalls<Destination, Destination>(send, '/destinations'),
      create: (body: DestinationCreate, call?: CallOptions) =>
        send<Destination>('POST', '/destinations', { ...call, body }),
      update: (id: string, body: DestinationUpdate, call?: CallOptions) =>
        send<Destination>('PATCH', at('/destinations', id), { ...call, body }),
      /** Publishes to it for a moment. That it fails is an answer, not an error. */
      test: (id: string, call?: CallOptions) =>
        send<DestinationTest>('POST', at('/destinations', id, '/test'), { ...call, extraMs: TEST_MS }),
    },
    uploads: {
      ...readCalls<Upload, Upload>(send, '/uploads'),
      fromLink: (body: UploadFromLink, call?: CallOptions) =>
        send<Upload>('POST', '/uploads/from-link', { ...call, body }),
      /** Fetches the link of one again that has failed. */
      retry: (id: string, call?: CallOptions) => send<Upload>('POST', at('/uploads', id, '/retry'), call),
    },
    playlists: playlistCalls(send),
    crypto: {
      /** The assets that can be paid, with their prices now. */
      assets: async (call?: CallOptions) => (await send<{ data: CryptoAsset[] }>('GET', '/crypto/assets', call)).data,
      list: (query?: ListQuery, call?: CallOptions): List<CryptoDeposit> =>
        listCall(send, '/crypto/deposits', query, call),
      get: (id: string, call?: CallOptions) => send<CryptoDeposit>('GET', at('/crypto/deposits', id), call),
      /** To be paid at its `address`. */
      create: (body: CryptoDepositCreate, call?: CallOptions) =>
        send<CryptoDeposit>('POST', '/crypto/deposits', { ...call, body }),
    },
    billing: {
      get: (call?: CallOptions) => send<Billing>('GET', '/billing', call),
      /** The last 30 days, by day, unless told. */
      usage: (query: Partial<UsageAsked> = {}, call?: CallOptions) =>
        send<Usage>('GET', '/billing/usage', { ...call, query }),
      ledger: (query?: ListQuery, call?: CallOptions): List<LedgerEntry> =>
        listCall(send, '/billing/ledger', query, call),
    },
    invoices: {
      list: (query?: ListQuery, call?: CallOptions): List<InvoiceSummary> =>
        listCall(send, '/billing/invoices', query, call),
      get: (id: string, call?: CallOptions) => send<Invoice>('GET', at('/billing/invoices', id), call),
    },
    billingAddress: {
      get: (call?: CallOptions) => send<BillingAddress>('GET', '/billing/address', call),
      update: (body: BillingAddressUpdate, call?: CallOptions) =>
        send<BillingAddress>('PATCH', '/billing/address', { ...call, body }),
    },
    topUps: {
      list: (query?: ListQuery, call?: CallOptions): List<TopUp> => listCall(send, '/billing/top-ups', query, call),
      get: (id: string, call?: CallOptions) => send<TopUp>('GET', at('/billing/top-ups', id), call),
      /** To be paid at its `checkoutUrl`. */
      create: (body: TopUpCreate, call?: CallOptions) => send<TopUp>('POST', '/billing/top-ups', { ...call, body }),
    },
  };
}

const listCall = <T>(send: Send, path: string, query: ListQuery | undefined, call?: CallOptions): List<T> =>
  createList((cursor) => send<Page<T>>('GET', path, { ...call, query: { limit: PAGE_SIZE, ...query, cursor } }));

/** The methods of all nouns: `list` sends no request by itself, see List. */
const readCalls = <T, Listed, Query extends ListQuery = ListQuery>(send: Send, path: string) => ({
  list: (query?: Query, call?: CallOptions): List<Listed> => listCall(send, path, query, call),
  get: (id: string, call?: CallOptions) => send<T>('GET', at(path, id), call),
  delete: (id: string, call?: CallOptions) => send<void>('DELETE', at(path, id), call),
});

/** For a page in which somebody has signed in: with a key or a token they reject with `problems.PersonRequired`. */
const personCalls = (send: Send) => ({
  /** How people can sign in; for everybody. */
  signInOptions: (call?: CallOptions) => send<SignInOptions>('GET', '/sign-in-options', call),
  apiKeys: {
    list: (query?: ListQuery, call?: CallOptions): List<ApiKey> => listCall(send, '/api-keys', query, call),
    /** The key is in the answer, this once; a try whose answer is lost has made one that nobody knows. */
    create: (body: ApiKeyCreate, call?: CallOptions) =>
      send<CreatedApiKey>('POST', '/api-keys', { maxRetries: 0, ...call, body }),
    revoke: (id: string, call?: CallOptions) => send<void>('DELETE', at('/api-keys', id), call),
  },
  sessions: {
    list: (query?: ListQuery, call?: CallOptions): List<PersonSession> => listCall(send, '/sessions', query, call),
    end: (id: string, call?: CallOptions) => send<void>('DELETE', at('/sessions', id), call),
    /** All but this one. */
    endOthers: (call?: CallOptions) => send<void>('DELETE', '/sessions', call),
  },
  connectedApps: {
    list: (query?: ListQuery, call?: CallOptions): List<ConnectedApp> => listCall(send, '/connected-apps', query, call),
    disconnect: (id: string, call?: CallOptions) => send<void>('DELETE', at('/connected-apps', id), call),
  },
  account: {
    /** All that is kept of the account. */
    export: (call?: CallOptions) => send<Record<string, unknown>>('GET', '/account/export', call),
    /** For good. */
    delete: (body: AccountDelete, call?: CallOptions) =>
      send<void>('POST', '/account/deletion', { maxRetries: 0, ...call, body }),
  },
});

function streamCalls(send: Send) {
  const path = '/streams';
  const command = (id: string, rest: string, { wait, whenReady, ...call }: StartOptions = {}) =>
    send<Stream>('POST', at(path, id, rest), { ...call, query: { wait, whenReady }, extraMs: (wait ?? 0) * 1000 });
  return {
    ...readCalls<Stream, Stream, StreamQuery>(send, path),
    create: (body: StreamCreate, call?: CallOptions) => send<Stream>('POST', path, { ...call, body }),
    update: (id: string, body: StreamUpdate, call?: CallOptions) =>
      send<Stream>('PATCH', at(path, id), { ...call, body }),
    readiness: (id: string, call?: CallOptions) => send<Readiness>('GET', at(path, id, '/readiness'), call),
    /** Rejects with `problems.StreamNotReady` and its `issues` when something would stop it from starting. */
    start: (id: string, call?: StartOptions) => command(id, '/start', call),
    stop: (id: string, call?: WaitOptions) => command(id, '/stop', call),
    /** Goes on to the next item. */
    skip: (id: string, body: StreamSkip = {}, call?: CallOptions) =>
      send<Stream>('POST', at(path, id, '/skip'), { ...call, body }),
    /** Sets the schedule anew: what is left out is taken away. */
    schedule: (id: string, body: StreamSchedule, call?: CallOptions) =>
      send<Stream>('POST', at(path, id, '/schedule'), { ...call, body }),
    /** Its schedule, and the next times that it puts it on air. */
    windows: (id: string, call?: CallOptions) => send<StreamWindows>('GET', at(path, id, '/upcoming'), call),
    unschedule: (id: string, call?: CallOptions) => send<Stream>('DELETE', at(path, id, '/schedule'), call),
    liveStats: (id: string, call?: CallOptions) => send<LiveStats>('GET', at(path, id, '/live-stats'), call),
    events: (id: string, query?: ListQuery, call?: CallOptions): List<StreamEvent> =>
      listCall(send, at(path, id, '/events'), query, call),
  };
}

function playlistCalls(send: Send) {
  const path = '/playlists';
  const version = (id: string, number: number, rest = '') => at(path, id, `/versions/${number}${rest}`);
  return {
    ...readCalls<Playlist, PlaylistSummary>(send, path),
    create: (body: PlaylistCreate, call?: CallOptions) => send<Playlist>('POST', path, { ...call, body }),
    update: (id: string, body: PlaylistUpdate, call?: CallOptions) =>
      send<Playlist>('PATCH', at(path, id), { ...call, body }),
    /** One batch, all or nothing. */
    change: (id: string, body: PlaylistChanges, call?: CallOptions) =>
      send<Playlist>('POST', at(path, id, '/changes'), { ...call, body }),
    publish: (id: string, body: PlaylistPublish, call?: CallOptions) =>
      send<Playlist>('POST', at(path, id, '/publish'), { ...call, body }),
    rollback: (id: string, body: PlaylistRollback, call?: CallOptions) =>
      send<Playlist>('POST', at(path, id, '/rollback'), { ...call, body }),
    versions: (id: string, query?: ListQuery, call?: CallOptions): List<PlaylistVersionSummary> =>
      listCall(send, at(path, id, '/versions'), query, call),
    version: (id: string, number: number, call?: CallOptions) =>
      send<PlaylistVersion>('GET', version(id, number), call),
    /** From the version before unless `from` names another. */
    diff: (id: string, number: number, query: { from?: number } = {}, call?: CallOptions) =>
      send<PlaylistDiff>('GET', version(id, number, '/diff'), { ...call, query }),
  };
}
