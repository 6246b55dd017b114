/**
 * Judges from Helix `GET /streams` whether viewers see a channel. Documented: up to 100 `user_id` a request, an app access token is enough,
 * and a channel that is not live is left out of the answer. Believed: an answer may be some minutes behind, and Twitch ends a broadcast after
 * 48 hours; its pages for broadcasters say so, the reference of the API does not. Pure: no I/O, no clock.
 */

import type { PlatformReason } from '../../lib/codes/platforms.ts';
import type { PlatformVerdict } from '../common/verdict.ts';

export const USERS_PER_CALL = 100;
/** Three polls of 30 s: one lost answer is no news, two are. */
export const FRESH_MS = 90_000;
/** Whole 48 hours. A warning comes before, early enough for a person to plan a restart. */
export const BROADCAST_LIMIT_MS = 48 * 3_600_000;
export const LIMIT_NEAR_MS = 2 * 3_600_000;
/** A broadcast that has just begun is not listed at once. Shorter than the lists are said to lag, a missing channel is Unknown. */
export const LIST_LAG_MS = 180_000;

type Json = Readonly<Record<string, unknown>>;

export interface TwitchStream {
  userId: string;
  startedMs?: number;
  viewers?: number;
}

/** Reads the answer; entries whose `type` is not `live` are errors of Twitch ("empty in case of an error") and count as not read. */
export function readStreams(answer: unknown): { streams: TwitchStream[]; unreadableIds: string[] } | undefined {
  const data = (answer as Json | null)?.data;
  if (!Array.isArray(data)) return undefined;
  const entries = data.filter(
    (one): one is Json => typeof one === 'object' && one !== null && typeof one.user_id === 'string',
  );
  const isLive = ({ type }: Json) => type === 'live';
  return {
    streams: entries.filter(isLive).map(({ user_id, started_at, viewer_count }) => {
      const startedMs = Date.parse(String(started_at));
      const isCount = Number.isSafeInteger(viewer_count) && Number(viewer_count) >= 0;
      return {
        userId: String(user_id),
        ...(Number.isNaN(startedMs) ? {} : { startedMs }),
        ...(isCount ? { viewers: Number(viewer_count) } : {}),
      };
    }),
    unreadableIds: entries.filter((one) => !isLive(one)).map(({ user_id }) => String(user_id)),
  };
}

/** User ids by request. `first` has to be as many as are asked for: the default page has 20 entries. */
export function planStreams(userIds: readonly string[]): string[][] {
  const ids = [...new Set(userIds)];
  return Array.from({ length: Math.ceil(ids.length / USERS_PER_CALL) }, (_, n) =>
    ids.slice(n * USERS_PER_CALL, (n + 1) * USERS_PER_CALL),
  );
}

export type TwitchFailure = 'unauthorized' | 'rate_limited' | 'platform_failed';

/** 401 also answers a token that was revoked: a new app token is to be fetched once before that is believed. */
export function readTwitchFailure(status: number): TwitchFailure {
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 429 ? 'rate_limited' : 'platform_failed';
}

export interface TwitchEvidence {
  /** Time of the latest answer that covered the channel; `stream` is undefined if the channel was left out. */
  answer?: { atMs: number; stream?: TwitchStream; isUnreadable?: boolean };
  /** The first of the answers in a row without the channel. */
  absentSinceMs?: number;
  /** When our stream began to publish; Twitch cannot list it before. */
  publishedSinceMs?: number;
  failure?: { atMs: number; failure: TwitchFailure };
  lastSeenMs?: number;
}

export function judgeTwitch(evidence: TwitchEvidence, nowMs: number): PlatformVerdict {
  const { answer, absentSinceMs, publishedSinceMs = 0, failure, lastSeenMs } = evidence;
  const seen = lastSeenMs === undefined ? {} : { lastSeenMs };
  const unknown = (reason: PlatformReason): PlatformVerdict => ({ status: 'Unknown', reason, issues: [], ...seen });
  if (!answer || nowMs - answer.atMs > FRESH_MS) return unknown(failure?.failure ?? 'not_checked');
  if (answer.isUnreadable) return unknown('unconfirmed');
  const { stream, atMs } = answer;
  if (!stream) {
    // One answer proves nothing: pages shift while they are read. Two do, once Twitch has had the time to list a start.
    const isConfirmed = absentSinceMs !== undefined && absentSinceMs < atMs;
    if (!isConfirmed || atMs - publishedSinceMs < LIST_LAG_MS) return unknown('unconfirmed');
    return {
      status: 'False',
      reason: lastSeenMs === undefined ? 'no_broadcast' : 'broadcast_ended',
      issues: [],
      ...seen,
    };
  }
  const endsMs = stream.startedMs === undefined ? undefined : stream.startedMs + BROADCAST_LIMIT_MS;
  const isLimitNear = endsMs !== undefined && nowMs >= endsMs - LIMIT_NEAR_MS;
  return {
    status: 'True',
    ...(isLimitNear ? { reason: 'limit_near' } : {}),
    ...(stream.viewers === undefined ? {} : { viewers: stream.viewers }),
    lastSeenMs: atMs,
    issues: [],
  };
}
