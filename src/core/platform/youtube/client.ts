/**
 * Calls the YouTube Data API v3. Each call is charged before it is sent, and fails with YoutubeError, which says what that means and has no
 * text of the API. An access token that the API does not take is renewed once.
 */
import type { Clock } from '../../lib/clock.ts';
import type { AccessTokens } from '../common/access-tokens.ts';
import type { ApiAnswer, SendApiRequest } from '../common/http.ts';
import {
  type BroadcastTemplate,
  findStreamId,
  readBroadcasts,
  readFailure,
  readIngests,
  readNextPage,
  readTemplates,
  readVideos,
  type Video,
  type YoutubeBroadcast,
  type YoutubeFailure,
  type YoutubeIngest,
} from './answers.ts';
import { LIST_UNITS, WRITE_UNITS } from './budget.ts';
import type { UnitMeter } from './meter.ts';
import { IDS_PER_CALL } from './plan.ts';

/** A channel with more pages of broadcasts or keys than this is not read to the end: its lists prove no absence. */
const MAX_PAGES = 20;

export class YoutubeError extends Error {
  readonly failure: YoutubeFailure;
  /** Whether the call was not sent, or the API itself has said no: it had no effect. */
  readonly isRefused: boolean;
  /** The API's answer; undefined if the call was not sent, or got none. */
  readonly status: number | undefined;

  constructor(failure: YoutubeFailure, isRefused: boolean, status?: number) {
    super(`YouTube: ${failure}`);
    this.failure = failure;
    this.isRefused = isRefused;
    this.status = status;
  }
}

/** The grant of a channel's owner. Its refresh token is read when an access token is needed. */
export interface YoutubeAccount {
  /** Digest of the refresh token. */
  id: string;
  readRefreshToken: () => Promise<string | undefined>;
}

export interface YoutubeOptions {
  apiKey?: string | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** Units of a day of the project, of which nine tenths are used. */
  budgetUnits?: number | undefined;
  /** With the version, as https://www.googleapis.com/youtube/v3 */
  apiUrl: string;
  tokenUrl: string;
}

interface Call {
  method: 'GET' | 'POST';
  path: string;
  query: Readonly<Record<string, string | undefined>>;
  json?: unknown;
  units: number;
  /** Undefined for what everybody may see, with the API key. */
  account: YoutubeAccount | undefined;
  /** Milliseconds since 1970: later, the call is not sent any more. */
  sendByMs?: number;
}

interface Deps {
  send: SendApiRequest;
  tokens: AccessTokens;
  meter: UnitMeter;
  clock: Clock;
}

const BROADCAST_PARTS = 'id,snippet,status,contentDetails';

export type BroadcastStatus = 'active' | 'upcoming' | 'completed';

export function createYoutubeClient({ send, tokens, meter, clock }: Deps, options: YoutubeOptions) {
  const { apiKey, clientId, clientSecret, apiUrl } = options;

  const readGrant = async (account: YoutubeAccount) => {
    const refreshToken = await account.readRefreshToken();
    if (refreshToken === undefined || clientId === undefined || clientSecret === undefined) return undefined;
    return {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: clientId,
      client_secret: clientSecret,
    };
  };

  /** The headers that authorize a call, and the token among them. */
  const authorize = async (account: YoutubeAccount | undefined) => {
    // A header stays out of the logs of proxies, which have addresses.
    if (!account && apiKey !== undefined) return { headers: { 'x-goog-api-key': apiKey } };
    if (!account) throw new YoutubeError('unauthorized', true);
    const result = await tokens.get(account.id, () => readGrant(account));
    if ('failure' in result) throw new YoutubeError(result.failure, true);
    const { token } = result;
    return { headers: { authorization: `Bearer ${token}` }, token };
  };

  const sendOnce = async (call: Call): Promise<{ answer: ApiAnswer | undefined; token?: string }> => {
    const { method, path, query, json, units, account, sendByMs = Number.POSITIVE_INFINITY } = call;
    const url = new URL(`${apiUrl.replace(/\/$/, '')}/${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const { headers, token } = await authorize(account);
    if (!(await meter.charge(units))) throw new YoutubeError('quota_exhausted', true);
    if (clock.now().getTime() > sendByMs) throw new YoutubeError('platform_failed', true);
    const answer = await send({ url, method, headers, ...(json !== undefined && { json }) });
    return { answer, ...(token !== undefined && { token }) };
  };

  async function run(call: Call): Promise<unknown> {
    let { answer, token } = await sendOnce(call);
    if (answer?.status === 401 && token !== undefined && call.account) {
      tokens.forget(call.account.id, token);
      ({ answer, token } = await sendOnce(call));
    }
    if (!answer) throw new YoutubeError('platform_failed', false);
    const { status, body } = answer;
    const isObject = typeof body === 'object' && body !== null;
    if (status >= 200 && status < 300 && isObject) return body;
    const failure = readFailure(status, body);
    if (failure === 'quota_exhausted') await meter.exhaust();
    throw new YoutubeError(failure, isObject && status >= 400 && status < 500, status);
  }

  /** All pages. */
  async function list(
    path: string,
    query: Call['query'],
    account: YoutubeAccount,
  ): Promise<{ pages: unknown[]; isWhole: boolean }> {
    const pages: unknown[] = [];
    let pageToken: string | undefined;
    do {
      const page = await run({
        method: 'GET',
        path,
        query: { maxResults: '50', ...query, pageToken },
        units: LIST_UNITS,
        account,
      });
      pages.push(page);
      pageToken = readNextPage(page);
    } while (pageToken !== undefined && pages.length < MAX_PAGES);
    return { pages, isWhole: pageToken === undefined };
  }

  /** A list that is cut off would hide a broadcast. */
  async function listWhole(path: string, query: Call['query'], account: YoutubeAccount): Promise<unknown[]> {
    const { pages, isWhole } = await list(path, query, account);
    if (!isWhole) throw new YoutubeError('platform_failed', false);
    return pages;
  }

  return {
    /** At most 50. Without an account, as everybody sees them. */
    async listVideos(ids: readonly string[], account?: YoutubeAccount): Promise<Video[]> {
      const query = {
        part: 'id,snippet,liveStreamingDetails',
        id: ids.join(','),
        fields:
          'items(id,snippet/liveBroadcastContent,liveStreamingDetails(actualStartTime,actualEndTime,concurrentViewers))',
      };
      return readVideos(await run({ method: 'GET', path: 'videos', query, units: LIST_UNITS, account }));
    },
    /** At most 50. */
    async listIngests(ids: readonly string[], account: YoutubeAccount): Promise<YoutubeIngest[]> {
      const query = { part: 'id,status', id: ids.join(','), maxResults: String(IDS_PER_CALL) };
      return readIngests(await run({ method: 'GET', path: 'liveStreams', query, units: LIST_UNITS, account }));
    },
    /** The id of the account's stream with this key; undefined if it has none. */
    async findStream(rtmpKey: string, account: YoutubeAccount): Promise<string | undefined> {
      const { pages, isWhole } = await list('liveStreams', { part: 'id,cdn', mine: 'true' }, account);
      const id = pages.map((page) => findStreamId(page, rtmpKey)).find((one) => one !== undefined);
      if (id === undefined && !isWhole) throw new YoutubeError('platform_failed', false);
      return id;
    },
    async listBroadcasts(
      which: { status: BroadcastStatus } | { ids: readonly string[] },
      account: YoutubeAccount,
    ): Promise<{ broadcasts: YoutubeBroadcast[]; templates: BroadcastTemplate[] }> {
      const filter =
        'ids' in which ? { id: which.ids.join(',') } : { broadcastStatus: which.status, broadcastType: 'all' };
      const query = { part: BROADCAST_PARTS, ...filter };
      // Of broadcasts that are over, the newest will do.
      const isPast = 'status' in which && which.status === 'completed';
      const pages = isPast
        ? [
            await run({
              method: 'GET',
              path: 'liveBroadcasts',
              query: { maxResults: '50', ...query },
              units: LIST_UNITS,
              account,
            }),
          ]
        : await listWhole('liveBroadcasts', query, account);
      return { broadcasts: pages.flatMap(readBroadcasts), templates: pages.flatMap(readTemplates) };
    },
    /** Returns the id of the new broadcast. */
    async insertBroadcast(json: unknown, sendByMs: number, account: YoutubeAccount): Promise<string> {
      const query = { part: BROADCAST_PARTS };
      const body = await run({
        method: 'POST',
        path: 'liveBroadcasts',
        query,
        json,
        units: WRITE_UNITS,
        account,
        sendByMs,
      });
      const { id } = body as { id?: unknown };
      if (typeof id !== 'string') throw new YoutubeError('platform_failed', false);
      return id;
    },
    async bindBroadcast(id: string, streamId: string, account: YoutubeAccount): Promise<void> {
      const query = { part: 'id,contentDetails', id, streamId };
      await run({ method: 'POST', path: 'liveBroadcasts/bind', query, units: WRITE_UNITS, account });
    },
    async startBroadcast(id: string, account: YoutubeAccount): Promise<void> {
      const query = { part: 'id,status', id, broadcastStatus: 'live' };
      await run({ method: 'POST', path: 'liveBroadcasts/transition', query, units: WRITE_UNITS, account });
    },
  };
}
export type YoutubeClient = ReturnType<typeof createYoutubeClient>;
