/**
 * Calls Twitch's Helix API with an app access token. A call that fails throws TwitchError, which has no text of the API. A token that the
 * API does not take is renewed once; after 429, nothing is sent until the time that the API names.
 */
import type { Clock } from '../../lib/clock.ts';
import type { AccessTokens } from '../common/access-tokens.ts';
import type { ApiAnswer, SendApiRequest } from '../common/http.ts';
import { readUsers } from './channels.ts';
import { readStreams, readTwitchFailure, type TwitchFailure, USERS_PER_CALL } from './judge.ts';

/** `Ratelimit-Reset` is a time of another clock. */
const LONGEST_PAUSE_MS = 120_000;
const DEFAULT_PAUSE_MS = 60_000;
const GRANT_ID = 'app';

export class TwitchError extends Error {
  readonly failure: TwitchFailure;

  constructor(failure: TwitchFailure) {
    super(`Twitch: ${failure}`);
    this.failure = failure;
  }
}

export interface TwitchOptions {
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** As https://api.twitch.tv/helix */
  apiUrl: string;
  tokenUrl: string;
}

interface Deps {
  send: SendApiRequest;
  tokens: AccessTokens;
  clock: Clock;
}

/** Milliseconds to wait after 429, from the header in seconds since 1970. */
function readPauseMs({ headers }: ApiAnswer, nowMs: number): number {
  const pauseMs = Number(headers['ratelimit-reset']) * 1_000 - nowMs;
  return pauseMs > 0 ? Math.min(LONGEST_PAUSE_MS, pauseMs) : DEFAULT_PAUSE_MS;
}

export function createTwitchClient({ send, tokens, clock }: Deps, options: TwitchOptions) {
  const { clientId, clientSecret, apiUrl } = options;
  let pausedUntilMs = 0;

  const readGrant = async () =>
    clientId === undefined || clientSecret === undefined
      ? undefined
      : { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };

  const sendOnce = async (path: string, query: readonly (readonly [string, string])[]) => {
    if (clock.now().getTime() < pausedUntilMs) throw new TwitchError('rate_limited');
    const result = await tokens.get(GRANT_ID, readGrant);
    if ('failure' in result) throw new TwitchError(result.failure);
    const { token } = result;
    const url = new URL(`${apiUrl.replace(/\/$/, '')}/${path}`);
    for (const [name, value] of query) url.searchParams.append(name, value);
    const headers = { authorization: `Bearer ${token}`, 'client-id': clientId ?? '' };
    return { token, answer: await send({ url, headers }) };
  };

  const get = async (path: string, query: readonly (readonly [string, string])[]): Promise<unknown> => {
    let { token, answer } = await sendOnce(path, query);
    if (answer?.status === 401) {
      tokens.forget(GRANT_ID, token);
      ({ token, answer } = await sendOnce(path, query));
    }
    if (!answer) throw new TwitchError('platform_failed');
    const nowMs = clock.now().getTime();
    if (answer.status === 429) pausedUntilMs = nowMs + readPauseMs(answer, nowMs);
    if (answer.status !== 200) throw new TwitchError(readTwitchFailure(answer.status));
    return answer.body;
  };

  return {
    /** Of at most 100 users. */
    async listStreams(userIds: readonly string[]) {
      const ids = userIds.map((id) => ['user_id', id] as const);
      const read = readStreams(await get('streams', [...ids, ['first', String(USERS_PER_CALL)]]));
      if (!read) throw new TwitchError('platform_failed');
      return read;
    },
    /** Of at most 100 logins and ids together. Users that there are not are left out. */
    async listUsers(query: { logins: readonly string[]; ids: readonly string[] }) {
      const logins = query.logins.map((login) => ['login', login] as const);
      const users = readUsers(await get('users', [...logins, ...query.ids.map((id) => ['id', id] as const)]));
      if (!users) throw new TwitchError('platform_failed');
      return users;
    },
  };
}
