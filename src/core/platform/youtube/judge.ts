/**
 * Judges from answers of YouTube whether viewers see a broadcast. Everything that cannot be told is Unknown, never True: an answer that is too old, a
 * video that is not visible without a token, a list that may lag. Pure: no I/O, no clock.
 */

import type { PlatformReason } from '../../lib/codes/platforms.ts';
import { UNKNOWN_YOUTUBE_ISSUE, YOUTUBE_ISSUES } from '../../lib/codes/youtube-issues.ts';
import type { StallReason } from '../common/repair-state.ts';
import type { PlatformIssue, PlatformVerdict } from '../common/verdict.ts';
import type { Video, YoutubeBroadcast, YoutubeFailure, YoutubeIngest } from './answers.ts';

/** Three polls of the plan: one lost answer is no news, two are. */
export const VIDEO_FRESH_MS = 90_000;
/** An older answer about ingest does not contradict a newer one about the video. */
export const INGEST_FRESH_MS = 60_000;
/** Issues are told until the next answer, which may take an hour where the budget is short. */
export const HEALTH_FRESH_MS = 2 * 3_600_000;
/** Believed: lists of broadcasts lag by up to a minute. Nothing is documented. */
export const LIST_LAG_MS = 60_000;

/** An answer with its time in milliseconds since 1970; `value` is undefined if the API does not show the object. */
export interface TimedAnswer<T> {
  atMs: number;
  value?: T;
}

export interface Evidence {
  /** From the public `videos.list`, by id. */
  video?: TimedAnswer<Video>;
  /** From `liveStreams.list` with the token of the channel. */
  ingest?: TimedAnswer<YoutubeIngest>;
  /** From `liveBroadcasts.list` with the token: the broadcasts bound to our stream. `absentSinceMs`: the first of the lists in a row that showed none that is live. */
  broadcasts?: TimedAnswer<readonly YoutubeBroadcast[]> & { absentSinceMs?: number };
  /** Why the latest call about this destination failed. */
  failure?: { atMs: number; failure: YoutubeFailure };
  lastSeenMs?: number;
}

const isFresh = (answer: { atMs: number } | undefined, withinMs: number, nowMs: number): boolean =>
  answer !== undefined && nowMs - answer.atMs <= withinMs;

const listIssues = (ingest: YoutubeIngest | undefined): PlatformIssue[] => {
  const issues = (ingest?.issues ?? []).map(({ type, severity }) => ({
    ...((Object.hasOwn(YOUTUBE_ISSUES, type) ? YOUTUBE_ISSUES[type] : undefined) ?? UNKNOWN_YOUTUBE_ISSUE),
    severity,
  }));
  // Two types of YouTube may be one of ours: the more severe one stays.
  const rank = { error: 0, warning: 1, info: 2 };
  const sorted = issues.sort((a, b) => rank[a.severity] - rank[b.severity]);
  return [...new Map(sorted.toReversed().map((one) => [one.code, one])).values()].reverse();
};

const FAILURE_REASONS: Readonly<Record<YoutubeFailure, PlatformReason>> = {
  quota_exhausted: 'quota_exhausted',
  rate_limited: 'rate_limited',
  unauthorized: 'unauthorized',
  refused: 'platform_failed',
  not_found: 'not_visible',
  platform_failed: 'platform_failed',
};

interface Seen {
  status: PlatformVerdict['status'];
  reason?: PlatformReason;
  viewers?: number | undefined;
  atMs?: number;
}

/** The two times decide; `liveBroadcastContent` has been seen to say "upcoming" for long after a start. */
function judgeVideo({ atMs, value }: TimedAnswer<Video>): Seen {
  // Private, deleted and blocked videos all are absent from the answer.
  if (!value) return { status: 'Unknown', reason: 'not_visible' };
  if (!value.isBroadcast) return { status: 'Unknown', reason: 'not_a_broadcast' };
  if (value.endedMs !== undefined) return { status: 'False', reason: 'broadcast_ended' };
  if (value.startedMs !== undefined) return { status: 'True', viewers: value.viewers, atMs };
  if (value.content === 'live') return { status: 'Unknown', reason: 'unconfirmed' };
  return value.content === 'none'
    ? { status: 'False', reason: 'broadcast_ended' }
    : { status: 'False', reason: 'no_broadcast' };
}

function judgeBroadcasts(
  { atMs, value = [], absentSinceMs }: NonNullable<Evidence['broadcasts']>,
  wasSeen: boolean,
): Seen {
  if (value.some(({ lifeCycle }) => lifeCycle === 'live')) return { status: 'True', atMs };
  if (value.some(({ lifeCycle }) => lifeCycle === 'liveStarting')) return { status: 'Unknown', reason: 'unconfirmed' };
  if (absentSinceMs === undefined || atMs - absentSinceMs < LIST_LAG_MS)
    return { status: 'Unknown', reason: 'unconfirmed' };
  const hasEnded = wasSeen || value.some(({ lifeCycle }) => lifeCycle === 'complete' || lifeCycle === 'revoked');
  return { status: 'False', reason: hasEnded ? 'broadcast_ended' : 'no_broadcast' };
}

function judgeViews({ video, broadcasts, failure, lastSeenMs }: Evidence, nowMs: number): Seen {
  const views: Seen[] = [];
  if (video && isFresh(video, VIDEO_FRESH_MS, nowMs)) views.push(judgeVideo(video));
  if (broadcasts && isFresh(broadcasts, VIDEO_FRESH_MS, nowMs))
    views.push(judgeBroadcasts(broadcasts, lastSeenMs !== undefined));
  const [first] = views;
  const known = views.find(({ status }) => status !== 'Unknown');
  if (known) return known;
  // A failure explains what a call could not see, unless an answer came after it.
  const latest = Math.max(video?.atMs ?? 0, broadcasts?.atMs ?? 0);
  if (failure && (!first || failure.atMs >= latest))
    return { status: 'Unknown', reason: FAILURE_REASONS[failure.failure] };
  return first ?? { status: 'Unknown', reason: 'not_checked' };
}

function judgeIngest(ingest: Evidence['ingest'], nowMs: number): PlatformReason | undefined {
  if (!ingest?.value || !isFresh(ingest, INGEST_FRESH_MS, nowMs)) return undefined;
  const { status, health } = ingest.value;
  if (health === 'revoked') return 'key_revoked';
  // `noData` is no answer: the backend has no opinion of the stream's health.
  return status !== undefined && status !== 'active' ? 'ingest_inactive' : undefined;
}

export function judgeYoutube(evidence: Evidence, nowMs: number): PlatformVerdict {
  const { ingest, lastSeenMs } = evidence;
  const issues = isFresh(ingest, HEALTH_FRESH_MS, nowMs) ? listIssues(ingest?.value) : [];
  const seen = judgeViews(evidence, nowMs);
  const latestSeenMs = seen.status === 'True' ? Math.max(seen.atMs ?? 0, lastSeenMs ?? 0) : lastSeenMs;
  const base = { issues, ...(latestSeenMs === undefined ? {} : { lastSeenMs: latestSeenMs }) };
  const blocked = judgeIngest(ingest, nowMs);
  // Without media there is nothing to see, whatever the page of the broadcast says. An end stays the better reason.
  if (blocked && seen.reason !== 'broadcast_ended') {
    const { lastSeenMs: _, ...rest } = base;
    return { status: 'False', reason: blocked, ...rest, ...(lastSeenMs === undefined ? {} : { lastSeenMs }) };
  }
  if (seen.status !== 'True') return { status: seen.status, reason: seen.reason, ...base };
  const isBad = isFresh(ingest, HEALTH_FRESH_MS, nowMs) && ingest?.value?.health === 'bad';
  return {
    status: 'True',
    ...(isBad ? { reason: 'health_bad' } : {}),
    ...(seen.viewers === undefined ? {} : { viewers: seen.viewers }),
    ...base,
  };
}

/** A start takes its time on the platform: a broadcast that starts by itself is not there at once. */
export const START_MS = 60_000;

const STALL_REASONS: Readonly<Record<StallReason, PlatformReason>> = {
  revoked: 'taken_down',
  limit: 'repair_limit',
  refused: 'repair_refused',
  taken: 'bound_elsewhere',
};

export interface Circumstances {
  /** Since when the stream is sent without a break. */
  publishingSinceMs: number;
  stalled?: StallReason | undefined;
  /** Why no token or key can be asked with. */
  doubt?: PlatformReason | undefined;
}

/** Says what a person can do: after a stall, that it goes on only by a person; and nothing bad of a stream that has just begun. */
export function explainVerdict(
  verdict: PlatformVerdict,
  { publishingSinceMs, stalled, doubt }: Circumstances,
  nowMs: number,
): PlatformVerdict {
  const { status, reason } = verdict;
  if (status === 'True') return verdict;
  if (stalled) return { ...verdict, reason: STALL_REASONS[stalled] };
  const isStart = nowMs - publishingSinceMs < START_MS && (reason === 'no_broadcast' || reason === 'ingest_inactive');
  if (isStart) return { ...verdict, status: 'Unknown', reason: 'starting' };
  if (status !== 'Unknown' || !doubt) return verdict;
  return { ...verdict, status: doubt === 'key_revoked' ? 'False' : 'Unknown', reason: doubt };
}
