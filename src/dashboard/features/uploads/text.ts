/** Describes an upload: where it stands, its media, and what to do when it failed. Pure: no I/O, no clock. */
import type { Upload } from '../../../client/index.ts';
import type { UploadErrorCode } from '../../../resources/upload/spec.ts';
import { formatBytes, formatClock, formatFps, formatLength } from '../../lib/format.ts';
import type { Tone } from '../../ui/tone.ts';

export interface StateLook {
  word: string;
  tone: Tone;
  /** Says what happens meanwhile, where something does. */
  doing?: string;
}

const LOOKS: Record<Upload['state'], StateLook> = {
  importing: { word: 'Importing', tone: 'busy', doing: 'Being fetched and checked' },
  preparing: { word: 'Preparing', tone: 'busy', doing: 'Being prepared for the streams that play it' },
  ready: { word: 'Ready', tone: 'good' },
  failed: { word: 'Failed', tone: 'danger' },
};

export const getStateLook = (state: string): StateLook =>
  Object.hasOwn(LOOKS, state) ? LOOKS[state as Upload['state']] : { word: state || 'Unknown', tone: 'quiet' };

/** The remedy for each code that an upload may fail with. */
const FIXES: Record<UploadErrorCode, string> = {
  link_unreachable:
    'Open the link in a private window: it must lead to the file itself, without signing in. Then try it again.',
  link_forbidden: 'Use a public http or https address. Addresses in a private network cannot be reached.',
  link_is_a_page:
    'Use a direct download link that everyone can open. Or download the file and upload it from your computer.',
  link_too_slow: 'Download the file to your computer and upload it from there.',
  media_too_large: 'Reduce its length or bit rate. Or split it and loop the parts as a playlist.',
  media_too_long:
    'Cut it into parts and loop them as a playlist. If the file is shorter than it claims, export it again.',
  media_too_many_pixels: 'Export it in 4K (3840 × 2160) or less, and add that.',
  media_too_complex: 'Export it again as MP4 with H.264, at most 60 frames per second and stereo sound, and add that.',
  media_empty: 'Choose the file again, or record or export it again, and add that.',
  media_unfinished: 'Finish or repair it with the recorder or program that made it, and add the result.',
  media_unreadable: 'Play the whole file on your computer. If that works, export it as MP4 and add it again.',
  media_format_unsupported: 'Export it in a common format, such as MP4, MP3, JPEG or PNG, and add that.',
  media_track_not_found: 'Choose another track, or Automatic.',
  media_encrypted: 'Add a copy without copy protection.',
  media_colors_unsupported: 'Export a video in SDR, HDR10 or HLG, or a picture in sRGB, and add that.',
  media_has_no_video: 'Add it again as audio, or choose a file with video.',
  media_has_no_audio: 'Add it again as video, or choose a file with audio.',
  storage_taken: 'Ask the staff of this service to give it a storage of its own, then add it again.',
  storage_full: 'Delete uploads that you no longer need, then add it again.',
  prepare_timeout: 'Try a shorter file, or a lower quality of the stream that plays it.',
  prepare_failed: 'Export the file again as MP4 with H.264 and AAC, and add that.',
};

/** undefined for a code that is newer than this page. */
export const getUploadFix = (code: string): string | undefined =>
  Object.hasOwn(FIXES, code) ? FIXES[code as UploadErrorCode] : undefined;

const CODECS: Record<string, string> = {
  h264: 'H.264',
  hevc: 'H.265',
  av1: 'AV1',
  vp8: 'VP8',
  vp9: 'VP9',
  mpeg4: 'MPEG-4',
  mpeg2video: 'MPEG-2',
  aac: 'AAC',
  mp3: 'MP3',
  opus: 'Opus',
  vorbis: 'Vorbis',
  flac: 'FLAC',
  ac3: 'AC-3',
};
export const nameCodec = (codec: string): string => CODECS[codec] ?? codec;
const CHANNELS: Record<number, string> = { 1: 'mono', 2: 'stereo', 6: '5.1' };

/** `1920×1080, 30 fps, H.264`. */
const formatPicture = ({ width, height, framerate, codec }: NonNullable<Upload['video']>): string =>
  [`${width}×${height}`, `${formatFps(framerate)} fps`, nameCodec(codec)].join(', ');

/** `AAC stereo`. */
export const formatSound = ({ codec, channels }: Pick<NonNullable<Upload['audio']>, 'codec' | 'channels'>): string =>
  [nameCodec(codec), CHANNELS[channels] ?? `${channels} channels`].join(' ');

/** All that is known of it, in the order one looks for it: length, size, picture, sound. */
export function listFacts({ durationSeconds, sizeBytes, video, audio }: Upload): string[] {
  return [
    durationSeconds !== null && formatLength(durationSeconds),
    sizeBytes !== null && formatBytes(sizeBytes),
    video && formatPicture(video),
    audio && formatSound(audio),
  ].filter((fact): fact is string => typeof fact === 'string');
}

const AUDIO_FILES = /\.(mp3|m4a|aac|wav|flac|ogg|oga|opus|wma|aiff?)$/i;

/** The use of a file: by the type that the browser tells, or by its name where there is none. */
export function guessFileType({ name, type }: Pick<File, 'name' | 'type'>): Upload['type'] {
  if (type !== '') return type.startsWith('audio/') ? 'AUDIO' : 'VIDEO';
  return AUDIO_FILES.test(name) ? 'AUDIO' : 'VIDEO';
}

/** Failures of links: whether the upload has one is not told, so that the server has the last word. */
export const canRetry = (code: string): boolean => code.startsWith('link_') && code !== 'link_forbidden';

/** `The server answered 503. Tried again at 12:05, given up at 12:30.` */
export const describeWait = ({ message, nextTryAt, until }: NonNullable<Upload['waiting']>): string =>
  `${message} Next attempt at ${formatClock(nextTryAt)}. The import is given up at ${formatClock(until)}.`;
