/**
 * Reads answers of the YouTube Data API v3 into what is decided by. Field names are those of the discovery document of the API
 * (videos, liveBroadcasts, liveStreams). A field that is missing or has an unknown value reads as undefined: an answer that cannot be
 * read proves nothing. Pure: no I/O, no clock.
 */

type Json = Readonly<Record<string, unknown>>;

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
/** An id is written to a status and shown in terminals: nothing else is taken for one. */
const asId = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined;
const asTime = (value: unknown): number | undefined => {
  const time = Date.parse(asText(value) ?? '');
  return Number.isNaN(time) ? undefined : time;
};
const asOneOf = <T extends string>(known: readonly T[], value: unknown): T | undefined =>
  known.find((one) => one === value);
/** Counts are JSON strings (`format: uint64`). */
const asCount = (value: unknown): number | undefined => {
  const count = Number(typeof value === 'string' && value !== '' ? value : (value ?? Number.NaN));
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
};

/** A video, as `videos.list` shows it with `part=snippet,liveStreamingDetails`. */
export interface Video {
  id: string;
  /** False for a video that never was a broadcast. */
  isBroadcast: boolean;
  startedMs?: number | undefined;
  endedMs?: number | undefined;
  /** `snippet.liveBroadcastContent`; known to lag behind the two times above. */
  content?: 'live' | 'upcoming' | 'none' | undefined;
  /** Missing if the owner hides the number, or nobody watches. */
  viewers?: number | undefined;
}

/** In the order in which a broadcast passes them; it never goes back. */
export const LIFE_CYCLE = [
  'created',
  'ready',
  'testStarting',
  'testing',
  'liveStarting',
  'live',
  'complete',
  'revoked',
] as const;
export type LifeCycle = (typeof LIFE_CYCLE)[number];

export interface YoutubeBroadcast {
  id: string;
  lifeCycle: LifeCycle;
  /** The live stream (key) that it is bound to. */
  streamId?: string | undefined;
  description: string;
  createdMs?: number | undefined;
}

export interface YoutubeIngest {
  id: string;
  status?: 'active' | 'created' | 'error' | 'inactive' | 'ready' | undefined;
  health?: 'good' | 'ok' | 'bad' | 'noData' | 'revoked' | undefined;
  issues: readonly { type: string; severity: 'info' | 'warning' | 'error' }[];
}

const readItems = <T>(answer: unknown, read: (item: Json) => T | undefined): T[] => {
  const { items } = asObject(answer);
  return Array.isArray(items) ? items.flatMap((item) => read(asObject(item)) ?? []) : [];
};

export const readVideos = (answer: unknown): Video[] =>
  readItems(answer, (item) => {
    const id = asId(item.id);
    const details = asObject(item.liveStreamingDetails);
    const content = asOneOf(['live', 'upcoming', 'none'], asObject(item.snippet).liveBroadcastContent);
    return (
      id && {
        id,
        isBroadcast: item.liveStreamingDetails !== undefined || content === 'live' || content === 'upcoming',
        startedMs: asTime(details.actualStartTime),
        endedMs: asTime(details.actualEndTime),
        content,
        viewers: asCount(details.concurrentViewers),
      }
    );
  }) as Video[];

export const readBroadcasts = (answer: unknown): YoutubeBroadcast[] =>
  readItems(answer, (item): YoutubeBroadcast | undefined => {
    const id = asId(item.id);
    const lifeCycle = asOneOf(LIFE_CYCLE, asObject(item.status).lifeCycleStatus);
    const snippet = asObject(item.snippet);
    if (!id || !lifeCycle) return undefined;
    return {
      id,
      lifeCycle,
      streamId: asId(asObject(item.contentDetails).boundStreamId),
      description: asText(snippet.description) ?? '',
      createdMs: asTime(snippet.publishedAt),
    };
  });

export const readIngests = (answer: unknown): YoutubeIngest[] =>
  readItems(answer, (item): YoutubeIngest | undefined => {
    const id = asId(item.id);
    const status = asObject(item.status);
    const health = asObject(status.healthStatus);
    const issues = Array.isArray(health.configurationIssues) ? health.configurationIssues.map(asObject) : [];
    if (!id) return undefined;
    return {
      id,
      status: asOneOf(['active', 'created', 'error', 'inactive', 'ready'], status.streamStatus),
      health: asOneOf(['good', 'ok', 'bad', 'noData', 'revoked'], health.status),
      issues: issues.flatMap((issue) => {
        const type = asText(issue.type);
        return type ? { type, severity: asOneOf(['info', 'warning', 'error'], issue.severity) ?? 'warning' } : [];
      }),
    };
  });

/** The id of the stream that has this key. Query parameters of a key belong to the address, not to it. */
export function findStreamId(answer: unknown, rtmpKey: string): string | undefined {
  const key = rtmpKey.split('?')[0]?.trim();
  const ids = readItems(answer, (item) => {
    const { streamName } = asObject(asObject(item.cdn).ingestionInfo);
    return asText(streamName) === key ? asId(item.id) : undefined;
  });
  return ids[0];
}

/** The properties that the next broadcast takes over from the last one on the same key. */
export interface BroadcastTemplate {
  id: string;
  streamId?: string | undefined;
  title: string;
  description: string;
  privacyStatus: 'public' | 'unlisted' | 'private';
  isMadeForKids?: boolean | undefined;
  latencyPreference?: 'normal' | 'low' | 'ultraLow' | undefined;
  enableDvr?: boolean | undefined;
  endedMs?: number | undefined;
}

const asFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

export const readTemplates = (answer: unknown): BroadcastTemplate[] =>
  readItems(answer, (item): BroadcastTemplate | undefined => {
    const id = asId(item.id);
    const [snippet, status, details] = [item.snippet, item.status, item.contentDetails].map(asObject) as [
      Json,
      Json,
      Json,
    ];
    const privacyStatus = asOneOf(['public', 'unlisted', 'private'], status.privacyStatus);
    if (!id || !privacyStatus) return undefined;
    return {
      id,
      streamId: asText(details.boundStreamId),
      title: asText(snippet.title) ?? '',
      description: asText(snippet.description) ?? '',
      privacyStatus,
      isMadeForKids: asFlag(status.selfDeclaredMadeForKids),
      latencyPreference: asOneOf(['normal', 'low', 'ultraLow'], details.latencyPreference),
      enableDvr: asFlag(details.enableDvr),
      endedMs: asTime(snippet.actualEndTime),
    };
  });

/** The token of the next page; a list is only complete without one. */
export const readNextPage = (answer: unknown): string | undefined => asText(asObject(answer).nextPageToken);

/**
 * Joins lists of broadcasts that were read at about the same time, each of which may lag. A broadcast never goes back, so of two
 * views the one that is further on is the newer one.
 */
export function joinBroadcasts(...lists: (readonly YoutubeBroadcast[])[]): YoutubeBroadcast[] {
  const byId = new Map<string, YoutubeBroadcast>();
  const rank = ({ lifeCycle }: YoutubeBroadcast) => LIFE_CYCLE.indexOf(lifeCycle);
  for (const seen of lists.flat()) {
    const other = byId.get(seen.id);
    const [older, newer] = other && rank(other) > rank(seen) ? [seen, other] : [other, seen];
    byId.set(seen.id, {
      ...newer,
      streamId: newer.streamId ?? older?.streamId,
      description: newer.description || (older?.description ?? ''),
      createdMs: newer.createdMs ?? older?.createdMs,
    });
  }
  return [...byId.values()];
}

export type YoutubeFailure =
  | 'quota_exhausted'
  | 'rate_limited'
  | 'unauthorized'
  | 'refused'
  | 'not_found'
  | 'platform_failed';

/** By `error.errors[].reason` of the API, and `error` of the token endpoint. */
const FAILURES: Readonly<Record<string, YoutubeFailure>> = {
  quotaExceeded: 'quota_exhausted',
  dailyLimitExceeded: 'quota_exhausted',
  rateLimitExceeded: 'rate_limited',
  userRateLimitExceeded: 'rate_limited',
  userRequestsExceedRateLimit: 'rate_limited',
  authError: 'unauthorized',
  keyInvalid: 'unauthorized',
  keyExpired: 'unauthorized',
  forbidden: 'unauthorized',
  accessNotConfigured: 'unauthorized',
  insufficientPermissions: 'unauthorized',
  insufficientLivePermissions: 'unauthorized',
  liveStreamingNotEnabled: 'unauthorized',
  livePermissionBlocked: 'unauthorized',
  invalid_grant: 'unauthorized',
  invalid_client: 'unauthorized',
  unauthorized_client: 'unauthorized',
};

/** Says what an answer other than 2xx means. The reason decides before the status: 403 is both "no quota" and "not allowed". */
export function readFailure(status: number, body: unknown): YoutubeFailure {
  const { error } = asObject(body);
  const { errors } = asObject(error);
  const reasons = Array.isArray(errors) ? errors.map((one) => asText(asObject(one).reason)) : [asText(error)];
  const known = reasons.flatMap((reason) => (reason && Object.hasOwn(FAILURES, reason) ? FAILURES[reason] : []))[0];
  if (known && (known !== 'unauthorized' || status < 500)) return known;
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'rate_limited';
  if (status === 404) return 'not_found';
  return status >= 500 ? 'platform_failed' : 'refused';
}

/** The id of a video, or what people paste in its place: the address of its page. */
export function parseVideoId(text: string): string {
  const trimmed = text.trim();
  const url = URL.parse(trimmed) ?? (trimmed.includes('/') ? URL.parse(`https://${trimmed}`) : null);
  if (!url) return trimmed;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  return url.searchParams.get('v') ?? parts.find((part) => /^[\w-]{11}$/.test(part)) ?? parts.at(-1) ?? trimmed;
}
