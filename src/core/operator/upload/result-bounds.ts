/**
 * Bounds what a prepare Job reports. Its pod opens files that strangers made; if one of them takes the pod over, it may write any
 * result. A number beyond what the task and the settings allow is not written to a status. Pure: no I/O, no clock.
 */
import { UPLOAD_ERRORS } from '../../lib/codes/uploads.ts';
import type { MediaLimits } from '../../protocol/media-limits.ts';
import type { PrepareResult } from '../../protocol/task.ts';
import { parseProfile } from '../../resources/stream/profile.ts';
import {
  type LoudnessTarget,
  MAX_CUT_DB,
  parseSoundProfile,
  type SoundLoudness,
} from '../../resources/upload/loudness.ts';
import { nameFrom } from '../../resources/upload/name.ts';
import {
  MAX_IMAGE_PIXELS,
  type MediaInfo,
  type MediaTrack,
  type RenditionStatus,
} from '../../resources/upload/spec.ts';
import { cleanTags } from '../../resources/upload/tags.ts';
import { MAX_WARNING_CHARS, mergeWarnings, type UploadWarning } from '../../resources/upload/warnings.ts';
import type { PodSettings } from '../pods/security.ts';
import type { MakingTask } from './job.ts';

type Bounds = Pick<PodSettings, 'maxSourceBytes' | 'mediaLimits'>;
type Of<Action> = Extract<MakingTask, { action: Action }>;

/** A rendition may be a little longer than its source (prepare/steps/make.ts), and times are rounded. */
const LONGER = 1.05;
const MORE_SECONDS = 31;
/** No rendition has a tenth of it. */
const MAX_BITRATE_KBPS = 1_000_000;
const MAX_FRAMERATE = 1_000_000;
/** Kubernetes takes integers up to 2^63, and a picture's side fits into 32 bits. */
const MAX_SIDE = 2 ** 31 - 1;
/** Samples in floating point are at most so far from 1, in dB. */
const MAX_DB = 1000;
const CODEC = /^[\w.-]{1,64}$/;
const LANGUAGE = /^[A-Za-z0-9-]{2,35}$/;
/** The definition of the Upload takes twice as many; Jobs write no more. */
const MAX_MESSAGE_CHARS = 512;

/** Whether a rendition of a source of this length may be so long. */
export const isExpectedSeconds = (seconds: number, sourceSeconds: number): boolean =>
  within(seconds, 0, sourceSeconds * LONGER + MORE_SECONDS);

/** Whether a rendition may have this bit rate, in kbit/s. */
export const isExpectedBitrate = (kbps: number): boolean => within(kbps, 0, MAX_BITRATE_KBPS);

const within = (value: number, min: number, max: number): boolean => value >= min && value <= max;

function isSize({ sizeBytes }: MediaInfo, task: Of<'import'>, { maxSourceBytes }: Bounds): boolean {
  if ('sent' in task) return sizeBytes === task.sent.sizeBytes;
  return within(sizeBytes, 0, Math.min(task.maxBytes ?? maxSourceBytes, maxSourceBytes));
}

function isPicture(video: MediaInfo['video'], task: Of<'import'>, { pixels }: MediaLimits): boolean {
  if (!video) return task.type === 'audio';
  const { width, height, framerate, codec } = video;
  const sides = within(width, 1, MAX_SIDE) && within(height, 1, MAX_SIDE);
  // The size of a cover picture does not matter.
  const area = task.type === 'audio' || width * height <= (task.type === 'image' ? MAX_IMAGE_PIXELS : pixels);
  return sides && area && within(framerate, 0, MAX_FRAMERATE) && CODEC.test(codec);
}

function isSound(audio: MediaInfo['audio'], task: Of<'import'>, limits: MediaLimits): boolean {
  if (!audio) return task.type !== 'audio';
  const { sampleRate, channels, codec } = audio;
  return within(sampleRate, 0, limits.sampleRate) && within(channels, 1, limits.channels) && CODEC.test(codec);
}

function isMedia(media: MediaInfo, task: Of<'import'>, bounds: Bounds): boolean {
  const { mediaLimits } = bounds;
  const { maxDurationSeconds = mediaLimits.durationSeconds } = task;
  const seconds = Math.min(mediaLimits.durationSeconds, maxDurationSeconds) + 1;
  return (
    isSize(media, task, bounds) &&
    within(media.durationSeconds, 0, seconds) &&
    isPicture(media.video, task, mediaLimits) &&
    isSound(media.audio, task, mediaLimits)
  );
}

/** Names are shown to people and written into programs. */
function withPlainNames({ name: written = '', tracks, tags: stated = {}, ...media }: MediaInfo): MediaInfo {
  const name = nameFrom(written);
  const tags = cleanTags(stated);
  return {
    ...media,
    ...(name !== undefined && { name }),
    ...(tracks && { tracks: tracks.map(cleanTrack) }),
    ...(tags && { tags }),
  };
}

function cleanTrack({ title: written = '', language = '', codec, ...track }: MediaTrack): MediaTrack {
  const title = nameFrom(written);
  return {
    ...track,
    codec: CODEC.test(codec) ? codec : 'unknown',
    ...(LANGUAGE.test(language) && { language }),
    ...(title !== undefined && { title }),
  };
}

function isLoudness({ gainDb, limitedBy: _, ...measures }: SoundLoudness, { maxBoostDb }: LoudnessTarget): boolean {
  return within(gainDb, -MAX_CUT_DB, maxBoostDb) && Object.values(measures).every((db) => within(db, -MAX_DB, MAX_DB));
}

/** A sound alone has a loudness. */
function isLoudnessOf(loudness: SoundLoudness | undefined, profile: string): boolean {
  const target = parseSoundProfile(profile);
  return target ? loudness !== undefined && isLoudness(loudness, target) : loudness === undefined;
}

const isRendition = (made: RenditionStatus, profile: string, { mediaLimits }: Bounds): boolean =>
  made.state === 'ready' &&
  made.profile === profile &&
  isLoudnessOf(made.loudness, profile) &&
  isExpectedSeconds(made.durationSeconds ?? -1, mediaLimits.durationSeconds) &&
  isExpectedBitrate(made.bitrateKbps ?? -1);

/** A sentence of a Job's own, without what a terminal would obey. */
const clean = (text: string, maxChars: number): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, maxChars);

const cleanWarnings = (warnings: readonly UploadWarning[] = []): UploadWarning[] =>
  mergeWarnings(warnings.map(({ code, message }) => ({ code, message: clean(message, MAX_WARNING_CHARS) })));

const refused: PrepareResult = {
  action: 'failed',
  error: {
    code: 'prepare_failed',
    message: `${UPLOAD_ERRORS.prepare_failed.meaning} The Job returned an impossible result.`,
  },
};

/** The result of a task as far as it can be true; `prepare_failed` where it cannot. */
export function boundResult(result: PrepareResult, task: MakingTask, bounds: Bounds): PrepareResult {
  if (result.action === 'failed') {
    const { code, message } = result.error;
    const error = { code, message: clean(message, MAX_MESSAGE_CHARS) };
    const isOfLink = task.action === 'import' && 'url' in task && code === 'link_unreachable';
    const { retryAfterSeconds } = result;
    return { action: 'failed', error, ...(isOfLink && retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }
  if (result.action === 'import' && task.action === 'import') {
    const { media, rendition, warnings } = result;
    const isMade = !rendition || (parseProfile(rendition.profile) && isRendition(rendition, rendition.profile, bounds));
    return isMade && isMedia(media, task, bounds)
      ? { ...result, media: withPlainNames(media), warnings: cleanWarnings(warnings) }
      : refused;
  }
  if (result.action === 'rendition' && task.action === 'rendition')
    return isRendition(result.rendition, task.profile, bounds)
      ? { ...result, warnings: cleanWarnings(result.warnings) }
      : refused;
  return result;
}
