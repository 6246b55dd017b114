/**
 * Reads where viewers see a destination's streams from a request, and shows what is known of their view. The token of the platform's account
 * lives in a Secret alone. Pure: no I/O, no clock.
 */
import { PLATFORM_CODES } from '../../../core/lib/codes/platforms.ts';
import { PLATFORM_ISSUES } from '../../../core/lib/codes/youtube-issues.ts';
import { tidyKey, tidyUrl } from '../../../core/lib/pasted.ts';
import { isInternalHost } from '../../../core/lib/public-address.ts';
import { SENTENCES } from '../../../core/lib/sentences.ts';
import { platformSecretName, RETRY_ANNOTATION } from '../../../core/resources/common/names.ts';
import { PRIVATE_HOST } from '../../../core/resources/destination/forbidden.ts';
import {
  type DestinationPlatform,
  PLATFORM_KINDS,
  type PlatformView,
  readPlatformView,
} from '../../../core/resources/destination/platform.ts';
import type { Destination as Resource } from '../../../core/resources/destination/resource.ts';
import {
  findChannelProblem,
  findVideoProblem,
  findWatchProblem,
  readChannel,
  readVideoId,
  readWatchHost,
} from '../../../core/resources/destination/viewers.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { Destination, PlatformInput } from './record.ts';

type PlatformKind = DestinationPlatform['kind'];
type Field = 'url' | 'channel' | 'videoId' | 'refreshToken';

/** The kind that each field belongs to. */
const KIND_OF: Record<Field, PlatformKind> = {
  url: 'watch',
  channel: 'twitch',
  videoId: 'youtube',
  refreshToken: 'youtube',
};
const FIELDS = Object.keys(KIND_OF) as Field[];

export interface PlatformChange {
  /** The next `spec.platform`, without the name of a Secret that is to be written; null removes it. */
  platform: DestinationPlatform | null;
  /** The token to keep in the Secret of `platformSecretName`; undefined leaves that as it is. */
  refreshToken?: string;
}

/** The next `spec.platform` of a destination. */
export const nameSecret = (name: string, { platform, refreshToken }: PlatformChange): DestinationPlatform | null =>
  platform && { ...platform, ...(refreshToken !== undefined && { secretName: platformSecretName(name) }) };

const refuse = (field: string, message: string) => validationFailed([{ path: `/platform/${field}`, message }]);

/** The given texts without blanks around them; what people paste as another field's text is where it belongs. */
function readTexts(kind: PlatformKind, given: Exclude<PlatformInput, null>): Partial<Record<Field, string>> {
  const texts = Object.fromEntries(
    FIELDS.flatMap((field) => (given[field]?.trim() ? [[field, given[field]]] : [])),
  ) as Partial<Record<Field, string>>;
  const own = FIELDS.find((field) => KIND_OF[field] === kind) as Field;
  const { url, ...others } = texts;
  return url !== undefined && kind !== 'watch' && texts[own] === undefined ? { ...others, [own]: url } : texts;
}

function readWatch(text: string | undefined, allowPrivate: boolean): DestinationPlatform {
  if (text === undefined) throw refuse('url', SENTENCES.platformUrl);
  const url = tidyUrl(text);
  const problem = findWatchProblem(url);
  if (problem !== undefined) throw refuse('url', problem);
  if (isInternalHost(readWatchHost(url), allowPrivate)) {
    const errors = [{ path: '/platform/url', message: PRIVATE_HOST }];
    throw new AppError('destination_forbidden', `The watch address ${PRIVATE_HOST}.`, { extras: { errors } });
  }
  return { kind: 'watch', policy: 'Observe', url };
}

function readTwitch(text: string | undefined): DestinationPlatform {
  if (text === undefined) throw refuse('channel', SENTENCES.platformChannel);
  const channel = readChannel(text);
  const problem = findChannelProblem(channel);
  if (problem !== undefined) throw refuse('channel', problem);
  return { kind: 'twitch', policy: 'Observe', channel };
}

function readYoutube(
  text: string | undefined,
  policy: DestinationPlatform['policy'],
  { secretName, hasToken }: { secretName: string | undefined; hasToken: boolean },
): DestinationPlatform {
  const videoId = text === undefined ? undefined : readVideoId(text);
  const problem = videoId === undefined ? undefined : findVideoProblem(videoId);
  if (problem !== undefined) throw refuse('videoId', problem);
  if (videoId === undefined && !hasToken) throw refuse('videoId', SENTENCES.platformVideo);
  return {
    kind: 'youtube',
    policy,
    ...(videoId !== undefined && { videoId }),
    ...(secretName !== undefined && { secretName }),
  };
}

interface ReadOptions {
  /** As it is now. */
  before?: DestinationPlatform | undefined;
  allowPrivate: boolean;
}

/**
 * The input replaces the platform as a whole; only the token stays while none is given. Throws `validation_failed` and
 * `destination_forbidden`.
 */
export function readPlatform(given: PlatformInput, { before, allowPrivate }: ReadOptions): PlatformChange {
  const kind = PLATFORM_KINDS.find((one) => one === given?.kind);
  if (given === null || kind === undefined) return { platform: null };
  const texts = readTexts(kind, given);
  const foreign = FIELDS.find((field) => texts[field] !== undefined && KIND_OF[field] !== kind);
  if (foreign) throw refuse(foreign, `is for the kind ${KIND_OF[foreign]} alone`);
  const policy = given.policy ?? 'Observe';
  const token = texts.refreshToken === undefined ? undefined : tidyKey(texts.refreshToken);
  if (token !== undefined && /[\s\p{Cc}]/u.test(token))
    throw refuse('refreshToken', 'must not contain spaces or control characters');
  const secretName = given.refreshToken === undefined ? before?.secretName : undefined;
  const hasToken = token !== undefined || secretName !== undefined;
  if (policy === 'Repair' && (kind !== 'youtube' || !hasToken)) throw refuse('policy', SENTENCES.platformRepair);
  if (kind === 'watch') return { platform: readWatch(texts.url, allowPrivate) };
  if (kind === 'twitch') return { platform: readTwitch(texts.channel) };
  const platform = readYoutube(texts.videoId, policy, { secretName, hasToken });
  return { platform, ...(token !== undefined && { refreshToken: token }) };
}

/** A merge patch that replaces the whole. */
export const patchPlatform = (platform: DestinationPlatform | null) =>
  platform && { url: null, channel: null, videoId: null, secretName: null, ...platform };

export const showPlatform = (platform: DestinationPlatform | undefined): Destination['platform'] =>
  platform
    ? {
        kind: platform.kind,
        policy: platform.policy,
        url: platform.url ?? null,
        channel: platform.channel ?? null,
        videoId: platform.videoId ?? null,
        hasToken: platform.secretName !== undefined,
      }
    : null;

const STATUS = { True: 'true', False: 'false', Unknown: 'unknown' } as const;
/** Also for a reason that is newer than our table. */
const MEANING: Record<PlatformView['status'], string> = {
  True: 'Viewers see the stream.',
  False: 'Viewers do not see the stream.',
  Unknown: 'What viewers see is not known.',
};

const showIssue = ({ code, severity }: PlatformView['issues'][number]) => {
  const { meaning = 'The platform reports a problem with the media that it gets.', fix = null } =
    PLATFORM_ISSUES.get(code) ?? {};
  return { code, severity, message: meaning, fix };
};

/** Whether no repair is tried until a person asks for it, and nobody has. */
export const isRepairStalled = ({ metadata, status }: Pick<Resource, 'metadata' | 'status'>): boolean => {
  const { phase, resume } = status?.platform?.repair ?? {};
  return phase === 'stalled' && resume === metadata.annotations?.[RETRY_ANNOTATION];
};

export function showPlatformLive(destination: Resource, now: Date): Destination['platformLive'] {
  const view = readPlatformView(destination, now);
  if (!view) return null;
  const { status, reason, since, checkedAt, lastSeenAt, viewers, issues } = view;
  const text = reason === undefined ? undefined : PLATFORM_CODES[reason];
  return {
    status: STATUS[status],
    code: reason ?? null,
    message: text?.meaning ?? MEANING[status],
    fix: text?.fix ?? null,
    since: since ?? null,
    checkedAt: checkedAt ?? null,
    lastSeenAt: lastSeenAt ?? null,
    viewers: viewers ?? null,
    issues: issues.map(showIssue),
    repairStalled: destination.spec.platform?.policy === 'Repair' && isRepairStalled(destination),
  };
}
