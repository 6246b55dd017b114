/** Describes an upload: where it stands, its media, and what to do when it failed. Pure: no I/O, no clock. */

import type { Upload } from '../../../service/client/index.ts';
import { formatBytes, formatClock, formatFps, formatLength } from '../../lib/format.ts';
import type { Tone } from '../../ui/tone.ts';
import { formatLooks } from './looks.ts';
import { formatMeasured } from './sounds.ts';

export interface StateLook {
  word: string;
  tone: Tone;
}

const LOOKS: Record<Upload['state'], StateLook> = {
  importing: { word: 'Importing', tone: 'busy' },
  preparing: { word: 'Preparing', tone: 'busy' },
  ready: { word: 'Ready', tone: 'good' },
  failed: { word: 'Failed', tone: 'danger' },
};

export const getStateLook = (state: string): StateLook =>
  Object.hasOwn(LOOKS, state) ? LOOKS[state as Upload['state']] : { word: state || 'Unknown', tone: 'quiet' };

/** Says what happens to an upload meanwhile, where something does. */
export function describeDoing({ state, fromLink }: Pick<Upload, 'state' | 'fromLink'>): string | undefined {
  if (state === 'importing') return fromLink ? 'Being fetched and checked' : 'Being received and checked';
  return state === 'preparing' ? 'Being prepared for the streams that play it' : undefined;
}

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

/** `1920×1080, 30 fps, H.264`; an image has no frame rate. */
const formatPicture = ({ width, height, framerate, codec }: NonNullable<Upload['video']>): string =>
  [`${width}×${height}`, framerate > 0 && `${formatFps(framerate)} fps`, nameCodec(codec)].filter(Boolean).join(', ');

/** `AAC stereo`. */
export const formatSound = ({ codec, channels }: Pick<NonNullable<Upload['audio']>, 'codec' | 'channels'>): string =>
  [nameCodec(codec), CHANNELS[channels] ?? `${channels} channels`].join(' ');

/** All that is known of it, in the order one looks for it: length, size, picture, sound, loudness, overlays. */
export function listFacts(upload: Upload): string[] {
  const { type, durationSeconds, sizeBytes, video, audio } = upload;
  return [
    durationSeconds !== null && type !== 'IMAGE' && formatLength(durationSeconds),
    sizeBytes !== null && formatBytes(sizeBytes),
    video && formatPicture(video),
    audio && formatSound(audio),
    formatMeasured(upload),
    formatLooks(upload),
  ].filter((fact): fact is string => typeof fact === 'string');
}

const AUDIO_FILES = /\.(mp3|m4a|aac|wav|flac|ogg|oga|opus|wma|aiff?)$/i;

/** The use of a file that a stream loops: by the type that the browser tells, or by its name where there is none. */
export function guessFileType({ name, type }: Pick<File, 'name' | 'type'>): Upload['type'] {
  if (type !== '') return type.startsWith('audio/') ? 'AUDIO' : 'VIDEO';
  return AUDIO_FILES.test(name) ? 'AUDIO' : 'VIDEO';
}

/** Pictures that do not move. Of others the server finds out. */
const STILLS = /^image\/(png|jpeg|webp|tiff)$/;
const STILL_FILES = /\.(png|jpe?g|webp|tiff?)$/i;

/** The use of a file that is kept: a picture is for overlays, as logos are. */
export function guessKeptType(file: Pick<File, 'name' | 'type'>): Upload['type'] {
  const isStill = file.type === '' ? STILL_FILES.test(file.name) : STILLS.test(file.type);
  return isStill ? 'IMAGE' : guessFileType(file);
}

/** A link that failed by its server may be fetched again; one that is forbidden stays so. */
export const canRetry = ({ fromLink, error }: Pick<Upload, 'fromLink' | 'error'>): boolean =>
  fromLink && /^link_(?!forbidden$)/.test(error?.code ?? '');

/** `The server answered 503. Tried again at 12:05, given up at 12:30.` */
export const describeWait = ({ message, nextTryAt, until }: NonNullable<Upload['waiting']>): string =>
  `${message} Next attempt at ${formatClock(nextTryAt)}. The import is given up at ${formatClock(until)}.`;
