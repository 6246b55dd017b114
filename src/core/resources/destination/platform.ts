/**
 * Declares how a destination says where its viewers are, and what is known of their view. The process `platform` alone writes
 * `status.platform` and the condition PlatformLive. All readers go by `readPlatformView`, so that a statement that nobody has confirmed for
 * long is Unknown everywhere. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { kubeTime } from '../../lib/clock.ts';
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { findPlatformCode, PLATFORM_DOUBTS, type PlatformReason } from '../../lib/codes/platforms.ts';
import { type Condition, findCondition } from '../common/conditions.ts';

/** - watch: an address that viewers open. - twitch, youtube: the API of the platform. */
export const PLATFORM_KINDS = ['watch', 'twitch', 'youtube'] as const;

export const PLATFORM_POLICIES = ['Observe', 'Repair'] as const;

export const DestinationPlatform = Type.Object(
  {
    kind: Type.Enum(PLATFORM_KINDS, {
      title: 'PlatformKind',
      description:
        'How the view of the viewers is found out: by an address that they open, or by the API of a platform.',
    }),
    policy: Type.Enum(PLATFORM_POLICIES, {
      title: 'PlatformPolicy',
      default: 'Observe',
      description:
        'Observe only tells. Repair (youtube) makes a new broadcast when the last one has ended although the stream is still sent.',
    }),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'For watch: the address that viewers open, an HLS playlist (http, https), HTTP-FLV or an RTMP address to play.',
      }),
    ),
    channel: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'For twitch: the login name or the id of the channel.' }),
    ),
    videoId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'For youtube: the id of the video that viewers open. Not needed with secretName.',
      }),
    ),
    secretName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description:
          'For youtube: Secret in the same namespace with the key refreshToken, of an account that may manage the channel.',
      }),
    ),
  },
  { description: 'Where viewers see the stream. Without it, nobody looks.' },
);
export type DestinationPlatform = Static<typeof DestinationPlatform>;

export const ISSUE_SEVERITIES = ['info', 'warning', 'error'] as const;

/** The progress of a repair (platform/youtube/repair.ts), kept here so that no process makes a second broadcast. Times are of RFC 3339. */
export const RepairStatus = Type.Object(
  {
    phase: Type.Enum(['idle', 'inserting', 'inserted', 'stalled'], { description: 'What is under way.' }),
    inserts: Type.Array(Type.String({ format: 'date-time' }), {
      maxItems: 10,
      description: 'Times of the broadcasts that were begun in the last 24 hours.',
    }),
    absentSince: Type.Optional(
      Type.String({ format: 'date-time', description: 'Time of the first list that did not show what is looked for.' }),
    ),
    mark: Type.Optional(
      Type.String({ maxLength: 64, description: 'Random id in the description of the broadcast that is being made.' }),
    ),
    markedAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which the mark was made.' })),
    broadcastId: Type.Optional(Type.String({ maxLength: 64, description: 'Id of the broadcast that was made.' })),
    boundAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which it was last bound.' })),
    startedAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which it was last started.' })),
    binds: Type.Optional(Type.Integer({ minimum: 0, description: 'How often binding was tried.' })),
    starts: Type.Optional(Type.Integer({ minimum: 0, description: 'How often starting was tried.' })),
    liveBroadcastId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Id of the last broadcast with this key that was live.' }),
    ),
    liveAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which it was last seen live.' })),
    stalled: Type.Optional(
      Type.Enum(['revoked', 'limit', 'refused', 'taken'], { description: 'Why no repair is tried any more.' }),
    ),
    resume: Type.Optional(
      Type.String({ maxLength: 256, description: 'Value of the annotation loopstream.dev/retry when it stalled.' }),
    ),
  },
  { description: 'Progress of the repair of a broadcast.' },
);
export type RepairStatus = Static<typeof RepairStatus>;

export const PlatformStatus = Type.Object(
  {
    checkedAt: Type.String({ format: 'date-time', description: 'Time of the last look.' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'Until then PlatformLive holds. Without a later look, it is Unknown from then on.',
    }),
    lastSeenAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'Time at which viewers were last known to see the stream.' }),
    ),
    viewers: Type.Optional(
      Type.Integer({ minimum: 0, description: 'People who watch now, as far as the platform tells.' }),
    ),
    broadcastId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Id of the broadcast that viewers see, on the platform.' }),
    ),
    issues: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.String({ maxLength: 64, description: 'Stable code.' }),
          severity: Type.Enum(ISSUE_SEVERITIES, { title: 'PlatformIssueSeverity', description: 'How bad it is.' }),
        }),
        { maxItems: 16, description: 'What the platform says of the media that it gets.' },
      ),
    ),
    repair: Type.Optional(RepairStatus),
  },
  { description: 'What is known of the view of the viewers. Only with spec.platform.' },
);
export type PlatformStatus = Static<typeof PlatformStatus>;

export const PLATFORM_LIVE = 'PlatformLive';

/** The view of a destination's viewers at a moment, as far as it is known. */
export interface PlatformView {
  status: 'True' | 'False' | 'Unknown';
  /** Always set for False and Unknown; with True, something that asks for attention. */
  reason?: PlatformReason;
  /** Time at which the status last changed, RFC 3339. */
  since?: string;
  checkedAt?: string;
  lastSeenAt?: string;
  viewers?: number;
  broadcastId?: string;
  issues: NonNullable<PlatformStatus['issues']>;
}

interface WithPlatform {
  spec: { platform?: DestinationPlatform };
  status?: { platform?: PlatformStatus; conditions?: readonly Condition[] };
}

/** Undefined where nobody is asked to look. A statement that nobody has confirmed in time is none. */
export function readPlatformView({ spec, status }: WithPlatform, now: Date): PlatformView | undefined {
  if (!spec.platform) return undefined;
  const { platform, conditions } = status ?? {};
  const condition = findCondition(conditions, PLATFORM_LIVE);
  if (!platform || !condition) return { status: 'Unknown', reason: 'not_checked', issues: [] };
  const { checkedAt, lastSeenAt, viewers, broadcastId, issues = [] } = platform;
  const seen = { checkedAt, ...(lastSeenAt !== undefined && { lastSeenAt }) };
  if (Date.parse(platform.expiresAt) <= now.getTime())
    return { status: 'Unknown', reason: 'not_checked', since: platform.expiresAt, issues: [], ...seen };
  const reason = findPlatformCode(condition.reason);
  return {
    status: condition.status,
    ...(reason !== undefined && { reason }),
    since: condition.lastTransitionTime,
    ...seen,
    ...(viewers !== undefined && { viewers }),
    ...(broadcastId !== undefined && { broadcastId }),
    issues,
  };
}

const { meaning, fix } = PLATFORM_DOUBTS.not_checked;

type SettledStatus = NonNullable<WithPlatform['status']>;

/** The status without the part of the process `platform`. */
export function withoutPlatform<S extends SettledStatus>({ status }: { status?: S }): S | undefined {
  if (!status) return undefined;
  const { platform: _, ...rest } = status;
  const conditions = status.conditions?.filter(({ type }) => type !== PLATFORM_LIVE);
  return { ...(rest as S), ...(conditions && { conditions }) };
}

/**
 * Returns the status as it has to be where the process `platform` does not keep it so: without what viewers saw when nobody is asked to look any
 * more, and with PlatformLive Unknown once nobody has confirmed it in time. Undefined while nothing has to be changed.
 */
export function settlePlatform<S extends SettledStatus>(
  { spec, status }: { spec: WithPlatform['spec']; status?: S },
  now: Date,
): S | undefined {
  const { platform, conditions = [] } = status ?? {};
  const condition = findCondition(conditions, PLATFORM_LIVE);
  if (!status || (!platform && !condition)) return undefined;
  if (!spec.platform) return withoutPlatform({ status });
  const reason = toPascalCase('not_checked');
  if (!condition || (platform && now.getTime() < Date.parse(platform.expiresAt))) return undefined;
  if (condition.status === 'Unknown' && condition.reason === reason) return undefined;
  const lastTransitionTime = condition.status === 'Unknown' ? condition.lastTransitionTime : kubeTime(now);
  const unknown: Condition = {
    ...condition,
    status: 'Unknown',
    reason,
    message: `${meaning} ${fix}`,
    lastTransitionTime,
  };
  return { ...status, conditions: conditions.map((one) => (one === condition ? unknown : one)) };
}

/** When what is known of the viewers holds no longer; undefined where nobody has looked. */
export const findPlatformExpiry = ({ spec, status }: WithPlatform): Date | undefined =>
  spec.platform && status?.platform ? new Date(status.platform.expiresAt) : undefined;

/** Whether two states of a destination say the same of its viewers, one after the other without a gap, but for numbers and times. */
export function isSameView(next: WithPlatform | undefined, before: WithPlatform | undefined): boolean {
  const [one, other] = [next, before].map((each) => findCondition(each?.status?.conditions, PLATFORM_LIVE));
  const { checkedAt = '' } = next?.status?.platform ?? {};
  const { expiresAt = '' } = before?.status?.platform ?? {};
  const hadExpired = Date.parse(expiresAt) < Date.parse(checkedAt);
  return one?.status === other?.status && one?.reason === other?.reason && !hadExpired;
}
