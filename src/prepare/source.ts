/** What ffprobe says about a source, in our words, and what follows from it. Pure: no I/O, no clock. */
import type { UPLOAD_TYPES } from '../uploads/spec.ts';
import { PrepareError } from './failure.ts';

export type MediaType = (typeof UPLOAD_TYPES)[number];

/** Numerator and denominator. */
export type Ratio = readonly [number, number];

export interface VideoStream {
  index: number;
  codec: string;
  profile: string;
  pixelFormat: string;
  /** As stored, before rotation and pixel aspect. */
  width: number;
  height: number;
  sampleAspect: Ratio;
  /** Degrees, a multiple of 90. */
  rotation: number;
  framerate: Ratio;
  interlaced: boolean;
  bFrames: boolean;
  colorSpace: string;
  colorTransfer: string;
  /** When the container says that this stream begins and ends, in seconds; undefined where it does not say. */
  declaredStartSeconds: number | undefined;
  declaredEndSeconds: number | undefined;
  /** How many frames the container says it holds, shown or not. */
  frames: number | undefined;
}

export interface AudioStream {
  index: number;
  codec: string;
  profile: string;
  sampleRate: number;
  channels: number;
  declaredStartSeconds: number | undefined;
  declaredEndSeconds: number | undefined;
}

export interface Source {
  /** ffprobe's name of the container. */
  format: string;
  /** First timestamp of all streams; ffmpeg counts from here. */
  startSeconds: number;
  /** Duration of the file as its header has it. */
  declaredEndSeconds: number | undefined;
  sizeBytes: number;
  /** Streams of any kind, also those that are not used. */
  tracks: number;
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
}

/** What was found by reading every packet of one stream. Times in seconds, as stored. */
export interface StreamScan {
  packets: number;
  /** How many of the packets are decoded and not shown: an edit list or the encoder's delay says so. */
  hidden: number;
  startSeconds: number;
  endSeconds: number;
  largestStepSeconds: number;
  bytes: number;
  /** Every packet comes exactly when a rendition of the asked profile has one, and keyframes begin its GOPs. */
  regular: boolean;
}

export interface Scan {
  video: StreamScan | undefined;
  audio: StreamScan | undefined;
}

type Json = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined =>
  value === undefined || value === null || Number.isNaN(Number(value)) ? undefined : Number(value);
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(object) : []);

/** `num/den` or `num:den`; `fallback` where it is missing, zero or infinite. */
function ratio(value: unknown, fallback: Ratio): Ratio {
  const [num = 0, den = 0] = text(value).split(/[/:]/).map(Number);
  return num > 0 && den > 0 ? [num, den] : fallback;
}

function endOf(stream: Json): number | undefined {
  const duration = number(stream.duration);
  return duration === undefined ? undefined : (number(stream.start_time) ?? 0) + duration;
}

function rotationOf(stream: Json): number {
  const matrix = list(stream.side_data_list).find((data) => data.rotation !== undefined);
  const degrees = number(matrix?.rotation) ?? number(object(stream.tags).rotate) ?? 0;
  return (((Math.round(degrees / 90) * 90) % 360) + 360) % 360;
}

function videoStream(stream: Json): VideoStream {
  const framerate = ratio(stream.avg_frame_rate, ratio(stream.r_frame_rate, [25, 1]));
  return {
    index: number(stream.index) ?? 0,
    codec: text(stream.codec_name),
    profile: text(stream.profile),
    pixelFormat: text(stream.pix_fmt),
    width: number(stream.width) ?? 0,
    height: number(stream.height) ?? 0,
    sampleAspect: ratio(stream.sample_aspect_ratio, [1, 1]),
    rotation: rotationOf(stream),
    framerate,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(text(stream.field_order)),
    bFrames: (number(stream.has_b_frames) ?? 0) > 0,
    colorSpace: text(stream.color_space),
    colorTransfer: text(stream.color_transfer),
    declaredStartSeconds: number(stream.start_time),
    declaredEndSeconds: endOf(stream),
    frames: number(stream.nb_frames),
  };
}

const audioStream = (stream: Json): AudioStream => ({
  index: number(stream.index) ?? 0,
  codec: text(stream.codec_name),
  profile: text(stream.profile),
  sampleRate: number(stream.sample_rate) ?? 0,
  channels: number(stream.channels) ?? 0,
  declaredStartSeconds: number(stream.start_time),
  declaredEndSeconds: endOf(stream),
});

/** The stream a player would choose: the one marked as default, else the first. */
const preferred = (streams: Json[]): Json | undefined =>
  streams.find((stream) => object(stream.disposition).default === 1) ?? streams[0];

/** From the JSON of `ffprobe -show_streams -show_format`. Cover art is no video. */
export function parseSource(json: unknown): Source {
  const { streams, format } = object(json);
  const known = list(streams).filter((stream) => text(stream.codec_name) !== '');
  const video = preferred(
    known.filter(
      ({ codec_type, disposition, width }) =>
        codec_type === 'video' && object(disposition).attached_pic !== 1 && (number(width) ?? 0) > 0,
    ),
  );
  const audio = preferred(
    known.filter(({ codec_type, channels }) => codec_type === 'audio' && (number(channels) ?? 0) > 0),
  );
  return {
    format: text(object(format).format_name),
    startSeconds: number(object(format).start_time) ?? 0,
    // Matroska counts its duration from zero, wherever the first timestamp is.
    declaredEndSeconds: number(object(format).duration),
    sizeBytes: number(object(format).size) ?? 0,
    tracks: list(streams).length,
    video: video && videoStream(video),
    audio: audio && audioStream(audio),
  };
}

/** Throws PrepareError media_has_no_video or media_has_no_audio when the source lacks what its type promises. */
export function checkType(source: Source, type: MediaType): void {
  if (type === 'video' && !source.video) throw new PrepareError('media_has_no_video');
  if (type === 'audio' && !source.audio) throw new PrepareError('media_has_no_audio');
}

/** Where a header states the duration as a fact. Elsewhere (MP3, MPEG-TS) it is an estimate and proves nothing. */
const DECLARES_DURATION = /\b(mov|matroska)\b/;

/**
 * Throws PrepareError media_unreadable when nothing can be read, or when the packets end well before the header says they
 * do: the file was cut off. A broken last frame, or a second of rounding in a long file, is no reason to refuse it.
 */
export function checkComplete(source: Source, scan: Scan): void {
  const scanned = [scan.video, scan.audio].filter((stream) => stream !== undefined);
  if (scanned.length === 0 || scanned.some((stream) => stream.packets === 0)) {
    throw new PrepareError('media_unreadable', 'It holds no pictures or sound that can be read.');
  }
  if (!DECLARES_DURATION.test(source.format)) return;
  const pairs = [
    [source.video?.declaredEndSeconds, scan.video],
    [source.audio?.declaredEndSeconds, scan.audio],
  ] as const;
  for (const [declared, stream] of pairs) {
    if (stream && declared !== undefined) checkEnd(declared, stream.endSeconds, stream);
  }
  // Matroska declares one end for the whole file, and only the longest stream reaches it.
  const longest = scanned.reduce((a, b) => (a.endSeconds > b.endSeconds ? a : b));
  if (source.format.includes('matroska') && source.declaredEndSeconds !== undefined) {
    checkEnd(source.declaredEndSeconds, longest.endSeconds, longest);
  }
}

function checkEnd(declared: number, found: number, { largestStepSeconds }: StreamScan): void {
  const tolerance = Math.max(0.5, 2 * largestStepSeconds, Math.min(5, declared / 100));
  if (declared - found <= tolerance) return;
  throw new PrepareError(
    'media_unreadable',
    `It is cut off: ${found.toFixed(1)} s of ${declared.toFixed(1)} s are there.`,
  );
}
