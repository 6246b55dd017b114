/**
 * Implements the part of the YouTube Data API v3 that is about live streaming, from its public reference: videos.list, liveStreams.list,
 * liveBroadcasts.list, insert, bind and transition, with quota, errors by reason, pages, and tokens by OAuth 2.0. Functions act as the platform and as people
 * in YouTube Studio. The clock is given in, so a day passes at once.
 *
 * Believed, not documented: lists lag (here by what `lagMs` says, anew for each list), live methods cost 1 and 50 units, and a broadcast
 * with enableAutoStart that is bound to a stream with media starts by itself.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const AUTOSTART_MS = 5_000;
const TOKEN_LIFE_MS = 3_600_000;
const PAGE_DEFAULT = 5;
const PAGE_MOST = 50;

type Json = Record<string, unknown>;
export interface TimedAnswer {
  status: number;
  body: Json;
}
export interface ApiRequest {
  method: 'GET' | 'POST';
  /** Without `/youtube/v3/`. */
  path: string;
  query: Record<string, string>;
  body?: Json;
  /** An access token of a channel's owner, or else an API key in the query. */
  token?: string;
}

interface BroadcastState {
  lifeCycleStatus: string;
  privacyStatus: string;
  boundStreamId?: string;
  boundMs?: number;
  startedMs?: number;
  endedMs?: number;
}
interface FakeBroadcast extends BroadcastState {
  id: string;
  channelId: string;
  title: string;
  description: string;
  createdMs: number;
  enableAutoStart: boolean;
  enableMonitorStream: boolean;
  viewers?: number;
  deletedMs?: number;
  /** States by the time from which they held. */
  past: { atMs: number; state: BroadcastState }[];
}
interface FakeStream {
  id: string;
  /** The stream key. */
  streamName: string;
  channelId: string;
  isActive: boolean;
  health: string;
  issues: { type: string; severity: string; reason: string; description: string }[];
}
export interface Fault {
  /** The method it happens to, as `liveBroadcasts.insert`; any if missing. */
  method?: string;
  status: number;
  reason: string;
  times: number;
  /** The call takes effect although its answer is an error. */
  isDone?: boolean;
}

export interface YoutubeOptions {
  nowMs: () => number;
  /** How far behind a list of broadcasts is, in milliseconds, and whether by-id reads of the owner lag too. */
  lagMs?: () => number;
  budgetUnits?: number;
  /** Autostart is said to fail at times. */
  autostarts?: () => boolean;
  clientId?: string;
  clientSecret?: string;
  /** Called before the answer to a call that has taken effect, e.g. `POST liveBroadcasts/bind`. */
  beforeAnswer?: (call: string) => Promise<void> | void;
}

const refuse = (status: number, reason: string, domain = 'youtube.liveBroadcast'): TimedAnswer => ({
  status,
  body: { error: { code: status, message: reason, errors: [{ message: reason, domain, reason }] } },
});

const COSTS: Readonly<Record<string, number>> = {
  'liveBroadcasts.insert': 50,
  'liveBroadcasts.bind': 50,
  'liveBroadcasts.transition': 50,
};
const METHODS: Readonly<Record<string, string>> = {
  'GET videos': 'videos.list',
  'GET liveStreams': 'liveStreams.list',
  'GET liveBroadcasts': 'liveBroadcasts.list',
  'POST liveBroadcasts': 'liveBroadcasts.insert',
  'POST liveBroadcasts/bind': 'liveBroadcasts.bind',
  'POST liveBroadcasts/transition': 'liveBroadcasts.transition',
};

export type YoutubeWorld = ReturnType<typeof createYoutubeWorld>;

/** The platform without a network. */
export function createYoutubeWorld({
  nowMs,
  lagMs = () => 0,
  budgetUnits = 10_000,
  autostarts = () => true,
  clientId = 'client',
  clientSecret = 'secret',
}: YoutubeOptions) {
  const broadcasts = new Map<string, FakeBroadcast>();
  const streams = new Map<string, FakeStream>();
  const tokens = new Map<string, string>();
  const grants = new Map<string, string>();
  /** Access tokens by OAuth, with the grant they come from and the end of their hour. */
  const granted = new Map<string, { refreshToken: string; untilMs: number }>();
  const spent = new Map<string, number>();
  const faults: Fault[] = [];
  let number = 0;
  const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const quotaDay = () => new Date(nowMs()).toLocaleDateString('sv', { timeZone: 'America/Los_Angeles' });

  const getBroadcast = (id: string): FakeBroadcast => {
    const one = broadcasts.get(id);
    if (!one) throw new Error(`There is no broadcast ${id}.`);
    return one;
  };
  const pickState = (one: FakeBroadcast): BroadcastState => {
    const { lifeCycleStatus, privacyStatus, boundStreamId, boundMs, startedMs, endedMs } = one;
    return structuredClone({
      lifeCycleStatus,
      privacyStatus,
      boundStreamId,
      boundMs,
      startedMs,
      endedMs,
    }) as BroadcastState;
  };
  const change = (one: FakeBroadcast, values: Partial<BroadcastState>, atMs = nowMs()) => {
    Object.assign(one, values);
    one.past.push({ atMs, state: pickState(one) });
  };
  /** Lets happen what happens by itself, at the time at which it does. */
  const settle = () => {
    for (const one of broadcasts.values()) {
      const { boundMs, boundStreamId = '', enableAutoStart, lifeCycleStatus } = one;
      if (lifeCycleStatus !== 'ready' || !enableAutoStart || boundMs === undefined) continue;
      const startsMs = boundMs + AUTOSTART_MS;
      if (!streams.get(boundStreamId)?.isActive || nowMs() < startsMs || !autostarts()) continue;
      change(one, { lifeCycleStatus: 'live', startedMs: startsMs }, startsMs);
    }
  };
  /** The broadcast as it was; undefined if it was not there yet. */
  const viewAt = (one: FakeBroadcast, atMs: number): (FakeBroadcast & BroadcastState) | undefined => {
    const state = one.past.findLast((version) => version.atMs <= atMs)?.state;
    const isDeleted = one.deletedMs !== undefined && one.deletedMs <= atMs;
    return state && !isDeleted ? { ...one, ...state } : undefined;
  };

  const page = (kind: string, items: Json[], { maxResults, pageToken }: Record<string, string>): TimedAnswer => {
    const size = Number(maxResults ?? PAGE_DEFAULT);
    if (!Number.isInteger(size) || size < 0 || size > PAGE_MOST)
      return refuse(400, 'invalidParameter', 'youtube.parameter');
    const from = Number(pageToken ?? 0);
    const next = from + size < items.length ? { nextPageToken: String(from + size) } : {};
    const pageInfo = { totalResults: items.length, resultsPerPage: size };
    return { status: 200, body: { kind, ...next, pageInfo, items: items.slice(from, from + size) } };
  };

  const describeBroadcast = (one: FakeBroadcast & BroadcastState): Json => ({
    kind: 'youtube#liveBroadcast',
    id: one.id,
    snippet: {
      publishedAt: iso(one.createdMs),
      channelId: one.channelId,
      title: one.title,
      description: one.description,
      actualStartTime: iso(one.startedMs),
      actualEndTime: iso(one.endedMs),
    },
    status: { lifeCycleStatus: one.lifeCycleStatus, privacyStatus: one.privacyStatus },
    contentDetails: {
      boundStreamId: one.boundStreamId,
      enableAutoStart: one.enableAutoStart,
      monitorStream: { enableMonitorStream: one.enableMonitorStream },
    },
  });
  const describeStream = ({ id, streamName, channelId, isActive, health, issues }: FakeStream): Json => ({
    kind: 'youtube#liveStream',
    id,
    snippet: { channelId, title: id },
    cdn: { ingestionType: 'rtmp', ingestionInfo: { streamName, ingestionAddress: 'rtmp://a.rtmp.youtube.com/live2' } },
    status: {
      streamStatus: isActive ? 'active' : 'inactive',
      healthStatus: {
        status: isActive ? health : 'noData',
        lastUpdateTimeSeconds: String(Math.floor(nowMs() / 1000)),
        configurationIssues: isActive ? issues : [],
      },
    },
    contentDetails: { isReusable: true },
  });

  const listVideos = ({ query }: ApiRequest, owner: string | undefined): TimedAnswer => {
    const ids = (query.id ?? '').split(',').filter((id) => id !== '');
    if (ids.length === 0 || ids.length > PAGE_MOST) return refuse(400, 'invalidFilters', 'youtube.parameter');
    const items = ids.flatMap((id) => {
      const one = broadcasts.get(id);
      const isVisible = one && (one.privacyStatus !== 'private' || owner === one.channelId);
      if (!isVisible || one.deletedMs !== undefined || one.lifeCycleStatus === 'revoked') return [];
      const content = { live: 'live', complete: 'none' }[one.lifeCycleStatus] ?? 'upcoming';
      return {
        kind: 'youtube#video',
        id,
        snippet: { channelId: one.channelId, title: one.title, liveBroadcastContent: content },
        liveStreamingDetails: {
          actualStartTime: iso(one.startedMs),
          actualEndTime: iso(one.endedMs),
          ...(content === 'live' && one.viewers !== undefined ? { concurrentViewers: String(one.viewers) } : {}),
        },
      };
    });
    return page('youtube#videoListResponse', items, { maxResults: String(PAGE_MOST) });
  };

  const STATUSES: Readonly<Record<string, readonly string[]>> = {
    active: ['live', 'liveStarting', 'testing', 'testStarting'],
    upcoming: ['created', 'ready'],
    completed: ['complete'],
  };
  const listBroadcasts = ({ query }: ApiRequest, owner: string): TimedAnswer => {
    const filters = ['id', 'mine', 'broadcastStatus'].filter((name) => query[name] !== undefined);
    if (filters.length !== 1)
      return refuse(400, filters.length ? 'incompatibleParameters' : 'missingRequiredParameter');
    const atMs = nowMs() - lagMs();
    const own = [...broadcasts.values()].filter(({ channelId }) => channelId === owner);
    const seen = own.flatMap((one) => viewAt(one, atMs) ?? []);
    const ids = query.id?.split(',');
    const statuses = STATUSES[query.broadcastStatus ?? ''];
    const found = seen.filter(
      (one) => (!ids || ids.includes(one.id)) && (!statuses || statuses.includes(one.lifeCycleStatus)),
    );
    return page('youtube#liveBroadcastListResponse', found.map(describeBroadcast), query);
  };
  const listStreams = ({ query }: ApiRequest, owner: string): TimedAnswer => {
    if ((query.id === undefined) === (query.mine === undefined)) return refuse(400, 'missingRequiredParameter');
    const ids = query.id?.split(',');
    const own = [...streams.values()].filter((one) => one.channelId === owner && (!ids || ids.includes(one.id)));
    return page('youtube#liveStreamListResponse', own.map(describeStream), query);
  };

  const insert = ({ body = {} }: ApiRequest, owner: string): TimedAnswer => {
    const { snippet = {}, status = {}, contentDetails = {} } = body as Record<string, Json>;
    const title = String(snippet.title ?? '');
    if (title === '') return refuse(400, 'titleRequired');
    if (title.length > 100) return refuse(400, 'invalidTitle');
    if (String(snippet.description ?? '').length > 5000) return refuse(400, 'invalidDescription');
    if (snippet.scheduledStartTime === undefined) return refuse(400, 'scheduledStartTimeRequired');
    if (!(Date.parse(String(snippet.scheduledStartTime)) >= nowMs())) return refuse(400, 'invalidScheduledStartTime');
    if (status.privacyStatus === undefined) return refuse(400, 'privacyStatusRequired');
    const one = addBroadcast(owner, {
      title,
      description: String(snippet.description ?? ''),
      privacyStatus: String(status.privacyStatus),
      enableAutoStart: contentDetails.enableAutoStart === true,
      enableMonitorStream: (contentDetails.monitorStream as Json | undefined)?.enableMonitorStream !== false,
    });
    return { status: 200, body: describeBroadcast(one) };
  };
  const bind = ({ query }: ApiRequest, owner: string): TimedAnswer => {
    const one = broadcasts.get(query.id ?? '');
    if (!one || one.channelId !== owner || one.deletedMs !== undefined) return refuse(404, 'liveBroadcastNotFound');
    if (query.streamId && streams.get(query.streamId)?.channelId !== owner) return refuse(404, 'liveStreamNotFound');
    if (!['created', 'ready'].includes(one.lifeCycleStatus)) return refuse(403, 'liveBroadcastBindingNotAllowed');
    change(one, {
      boundStreamId: query.streamId,
      boundMs: nowMs(),
      lifeCycleStatus: 'ready',
    } as Partial<BroadcastState>);
    return { status: 200, body: describeBroadcast(one) };
  };
  const transition = ({ query }: ApiRequest, owner: string): TimedAnswer => {
    const one = broadcasts.get(query.id ?? '');
    if (!one || one.channelId !== owner || one.deletedMs !== undefined) return refuse(404, 'liveBroadcastNotFound');
    const wanted = query.broadcastStatus;
    if (wanted === one.lifeCycleStatus) return refuse(403, 'redundantTransition');
    const from = one.enableMonitorStream ? ['testing'] : ['ready', 'testing'];
    if (wanted !== 'live' || !from.includes(one.lifeCycleStatus)) return refuse(403, 'invalidTransition');
    if (!streams.get(one.boundStreamId ?? '')?.isActive) return refuse(403, 'errorStreamInactive');
    change(one, { lifeCycleStatus: 'live', startedMs: nowMs() });
    return { status: 200, body: describeBroadcast(one) };
  };

  const answer = (method: string, request: ApiRequest, owner: string | undefined): TimedAnswer => {
    if (method === 'videos.list') return listVideos(request, owner);
    // An API key alone names no channel.
    if (owner === undefined) return refuse(401, 'authError', 'global');
    if (method === 'liveBroadcasts.list') return listBroadcasts(request, owner);
    if (method === 'liveStreams.list') return listStreams(request, owner);
    if (method === 'liveBroadcasts.insert') return insert(request, owner);
    return method === 'liveBroadcasts.bind' ? bind(request, owner) : transition(request, owner);
  };

  const findOwner = (token: string): string | undefined => {
    const one = granted.get(token);
    if (!one) return tokens.get(token);
    return nowMs() < one.untilMs ? grants.get(one.refreshToken) : undefined;
  };

  function addBroadcast(channelId: string, values: Partial<FakeBroadcast> = {}): FakeBroadcast {
    const one: FakeBroadcast = {
      id: `video-${++number}`,
      channelId,
      title: 'A broadcast',
      description: '',
      createdMs: nowMs(),
      enableAutoStart: false,
      enableMonitorStream: true,
      lifeCycleStatus: 'ready',
      privacyStatus: 'public',
      past: [],
      ...values,
    };
    broadcasts.set(one.id, one);
    change(one, {});
    return one;
  }

  return {
    /** Answers one call, and charges it, also an invalid one. */
    request(request: ApiRequest): TimedAnswer {
      settle();
      const method = METHODS[`${request.method} ${request.path}`];
      if (!method) return refuse(404, 'notFound', 'global');
      const day = quotaDay();
      const units = (spent.get(day) ?? 0) + (COSTS[method] ?? 1);
      if (units > budgetUnits) return refuse(403, 'quotaExceeded', 'youtube.quota');
      spent.set(day, units);
      const fault = faults.find((one) => one.times > 0 && (one.method === undefined || one.method === method));
      const owner = request.token === undefined ? undefined : findOwner(request.token);
      const isKnown = request.token === undefined ? request.query.key !== undefined : owner !== undefined;
      if (fault) {
        fault.times--;
        if (fault.isDone && isKnown) answer(method, request, owner);
        return refuse(fault.status, fault.reason, 'global');
      }
      if (!isKnown)
        return refuse(
          request.token === undefined ? 403 : 401,
          request.token === undefined ? 'forbidden' : 'authError',
          'global',
        );
      if (request.query.part === undefined) return refuse(400, 'missingRequiredParameter', 'youtube.parameter');
      return answer(method, request, owner);
    },
    /** Exchanges a refresh token, as https://oauth2.googleapis.com/token does. */
    grant(form: URLSearchParams): TimedAnswer {
      const refreshToken = form.get('refresh_token') ?? '';
      const isClient = form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
      if (!isClient) return { status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } };
      if (form.get('grant_type') !== 'refresh_token' || !grants.has(refreshToken))
        return {
          status: 400,
          body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
        };
      const token = `ya29.${++number}`;
      granted.set(token, { refreshToken, untilMs: nowMs() + TOKEN_LIFE_MS });
      return { status: 200, body: { access_token: token, expires_in: TOKEN_LIFE_MS / 1_000, token_type: 'Bearer' } };
    },
    addChannel(channelId: string): { token: string; streamId: string; streamKey: string; refreshToken: string } {
      const token = `token-${++number}`;
      const streamId = `stream-${++number}`;
      const streamName = `key-${++number}-of-${channelId}`;
      const refreshToken = `1//refresh-${++number}`;
      tokens.set(token, channelId);
      grants.set(refreshToken, channelId);
      streams.set(streamId, { id: streamId, streamName, channelId, isActive: false, health: 'good', issues: [] });
      return { token, streamId, streamKey: streamName, refreshToken };
    },
    /** The owner takes the grant back: access tokens end with it. */
    revokeGrant(refreshToken: string): void {
      grants.delete(refreshToken);
    },
    /** The owner connects the account anew. */
    addGrant(refreshToken: string, channelId: string): void {
      grants.set(refreshToken, channelId);
    },
    removeStream(streamId: string): void {
      streams.delete(streamId);
    },
    addBroadcast,
    /** Media arrives at the key, or does not any more. */
    publish(streamId: string, isActive: boolean): void {
      settle();
      Object.assign(streams.get(streamId) ?? {}, { isActive });
    },
    setHealth(streamId: string, health: string, types: string[] = []): void {
      const issues = types.map((type) => ({ type, severity: 'error', reason: type, description: type }));
      Object.assign(streams.get(streamId) ?? {}, { health, issues });
    },
    setLive(id: string, streamId: string): void {
      change(getBroadcast(id), {
        boundStreamId: streamId,
        boundMs: nowMs(),
        lifeCycleStatus: 'live',
        startedMs: nowMs(),
      });
    },
    complete(id: string): void {
      settle();
      change(getBroadcast(id), { lifeCycleStatus: 'complete', endedMs: nowMs() });
    },
    /** Removed by YouTube itself. */
    revoke(id: string): void {
      settle();
      change(getBroadcast(id), { lifeCycleStatus: 'revoked', endedMs: nowMs() });
    },
    remove(id: string): void {
      getBroadcast(id).deletedMs = nowMs();
    },
    setPrivacy(id: string, privacyStatus: string): void {
      change(getBroadcast(id), { privacyStatus });
    },
    setViewers(id: string, viewers: number): void {
      getBroadcast(id).viewers = viewers;
    },
    revokeToken(token: string): void {
      tokens.delete(token);
    },
    failNext(fault: Fault): void {
      faults.push(fault);
    },
    /** All broadcasts, as they are now. */
    list(): readonly FakeBroadcast[] {
      settle();
      return [...broadcasts.values()].filter(({ deletedMs }) => deletedMs === undefined);
    },
    /** Units spent on the current day in Pacific time. */
    spentUnits: (): number => spent.get(quotaDay()) ?? 0,
  };
}

/** The same platform behind HTTP, at `apiUrl` in place of https://www.googleapis.com/youtube/v3, and `tokenUrl`. */
export async function startYoutube(
  options: YoutubeOptions,
): Promise<{ apiUrl: string; tokenUrl: string; world: YoutubeWorld; stop(): Promise<void> }> {
  const world = createYoutubeWorld(options);
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
    let text = '';
    for await (const chunk of request) text += chunk;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const key = request.headers['x-goog-api-key'];
    const path = pathname.replace('/youtube/v3/', '');
    const isGrant = pathname === '/token';
    const { status, body } = isGrant
      ? world.grant(new URLSearchParams(text))
      : world.request({
          method: request.method === 'POST' ? 'POST' : 'GET',
          path,
          query: { ...Object.fromEntries(searchParams), ...(typeof key === 'string' && { key }) },
          body: text === '' ? {} : JSON.parse(text),
          ...(token === undefined ? {} : { token }),
        });
    await options.beforeAnswer?.(`${request.method} ${path}`);
    response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    apiUrl: `${url}/youtube/v3`,
    tokenUrl: `${url}/token`,
    world,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
