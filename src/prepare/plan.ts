/**
 * Decides how a source becomes a rendition: what is copied, what is encoded, and ffmpeg's arguments for it. ffmpeg writes
 * FLV to its stdout with every timestamp moved up by ORIGIN_MS; rewrite.ts makes the exact file of it. Pure: no I/O, no clock.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../rendition/index.ts';
import { DIMENSIONS, type Framerate, type Quality } from '../streams/profile.ts';
import { audioFramesFor } from './slots.ts';
import type { AudioStream, MediaType, Scan, Source, StreamScan, VideoStream } from './source.ts';
import { inputPath, UNTRUSTED_INPUT } from './untrusted.ts';

/** The FLV format has no negative times, and the AAC encoder's first frame lies before zero. */
export const ORIGIN_MS = 1000;
/** Sound is made for so much longer than the pictures by their timestamps; the rewriting cuts it exactly. */
const AUDIO_MARGIN_SECONDS = 2;
const GOP_SECONDS = 2;
const AUDIO_KBPS = 160;
const MAX_AUDIO_KBPS = (2 * 6144 * AUDIO_SAMPLE_RATE) / SAMPLES_PER_FRAME / 1000;

/**
 * Video bitrate in kbit/s, for up to 30 and for 60 frames per second. 720p, 1440p and 2160p: YouTube's recommendation for
 * H.264 (support.google.com/youtube/answer/2853702). 1080p stays at Twitch's ceiling of 6000
 * (help.twitch.tv, Broadcasting Guidelines), well inside what YouTube takes, because one rendition serves every destination.
 */
const BITRATES_KBPS: Record<Quality, readonly [number, number]> = {
  '720p': [4000, 6000],
  '1080p': [6000, 6000],
  '1440p': [15_000, 24_000],
  '2160p': [30_000, 35_000],
};
/** A source that is copied may have this much more than the table: beyond it destinations would stall. */
const COPY_BITRATE_FACTOR = 1.25;

export const bitrateKbps = (quality: Quality, framerate: Framerate): number =>
  BITRATES_KBPS[quality][framerate > 30 ? 1 : 0];
/** Of what is only looked at: a second of it is made in a tenth of one. */
const PREVIEW_SHAPE = { width: 640, height: 360, kbps: 800 };

/** Width and height in pixels, and kbit/s. */
const shapeOf = ({ quality, framerate, previewSeconds }: PlanInput) =>
  previewSeconds === undefined ? { ...DIMENSIONS[quality], kbps: bitrateKbps(quality, framerate) } : PREVIEW_SHAPE;

/**
 * The most bytes that a rendition of so many seconds may take. Encoders keep to their rate within a second or two, and what is
 * copied has at most COPY_BITRATE_FACTOR of it; sound is copied at whatever AAC-LC may have (ISO/IEC 14496-3: 6144 bits a
 * frame and channel).
 */
export function maxBytes(input: PlanInput, seconds: number): number {
  const kbps = (input.type === 'video' ? shapeOf(input).kbps * COPY_BITRATE_FACTOR : 0) + MAX_AUDIO_KBPS;
  return 2 ** 24 + Math.ceil((1.25 * seconds * kbps * 1000) / 8);
}

export const gopFrames = (framerate: Framerate): number => GOP_SECONDS * framerate;

export interface PlanInput {
  path: string;
  source: Source;
  scan: Scan;
  type: MediaType;
  quality: Quality;
  framerate: Framerate;
  /** Only the first so many seconds, and small: to be looked at, and not to be sent. */
  previewSeconds?: number;
  /** Larger pictures are not decoded, whatever the header said. */
  maxPixels: number;
  /** Whether this ffmpeg can map HDR to SDR (filters zscale and tonemap). */
  canTonemap: boolean;
  /** False after a copy turned out not to keep the rendition's promises. */
  allowCopy: boolean;
}

export interface Plan {
  video: 'copy' | 'encode' | 'none';
  audio: 'copy' | 'encode' | 'silence';
  /** Expected length, for progress. */
  durationSeconds: number;
  args: string[];
}

export function planRendition(input: PlanInput): Plan {
  const { source, scan, type } = input;
  const wantsVideo = type === 'video';
  const video = !wantsVideo ? 'none' : input.allowCopy && fitsVideo(input) ? 'copy' : 'encode';
  const audio = !source.audio ? 'silence' : input.allowCopy && fitsAudio(input) ? 'copy' : 'encode';
  const measured = wantsVideo ? scan.video : scan.audio;
  const durationSeconds = Math.max(0.001, (measured?.endSeconds ?? 0) - source.startSeconds);
  const audioSeconds = durationSeconds + AUDIO_MARGIN_SECONDS;
  return {
    video,
    audio,
    durationSeconds,
    args: [
      ...['-v', 'error', '-hide_banner', '-nostdin', ...UNTRUSTED_INPUT],
      ...(video === 'encode' ? ['-max_pixels', String(input.maxPixels)] : []),
      ...(input.previewSeconds === undefined ? [] : ['-t', String(input.previewSeconds)]),
      ...['-i', inputPath(input.path)],
      ...(audio === 'silence'
        ? ['-t', String(audioSeconds), '-f', 'lavfi', '-i', `anullsrc=r=${AUDIO_SAMPLE_RATE}:cl=stereo`]
        : []),
      ...(video === 'none' ? ['-vn'] : ['-map', `0:${source.video?.index}`, ...videoArgs(input, video)]),
      ...['-map', audio === 'silence' ? '1:0' : `0:${source.audio?.index}`],
      ...audioArgs(audio, wantsVideo ? audioSeconds : undefined),
      ...['-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
      ...['-avoid_negative_ts', 'disabled', '-output_ts_offset', String(ORIGIN_MS / 1000)],
      // A write for each packet would take longer than everything else of a copy.
      ...['-flush_packets', '0', '-f', 'flv', '-flvflags', 'no_duration_filesize', 'pipe:1'],
    ],
  };
}

/**
 * What reading every packet of a source would find if its header told the whole truth; undefined where the header does not
 * say enough. MP4 alone counts its frames: more than are shown means that an edit list hides some.
 */
export function assumedScan({ format, video, audio, sizeBytes }: Source, framerate: Framerate): Scan | undefined {
  if (!/\bmov\b/.test(format) || !video || !audio) return undefined;
  const stream = (of: VideoStream | AudioStream, packets: number): StreamScan => ({
    packets,
    hidden: 0,
    startSeconds: of.declaredStartSeconds ?? Number.NaN,
    endSeconds: of.declaredEndSeconds ?? Number.NaN,
    largestStepSeconds: 0,
    // More than the pictures alone have, so that the limit is kept.
    bytes: sizeBytes,
    regular: true,
  });
  const scan = { video: stream(video, video.frames ?? 0), audio: stream(audio, 0) };
  const shown = (scan.video.endSeconds - scan.video.startSeconds) * framerate;
  return Math.abs(shown - scan.video.packets) < 0.5 && !Number.isNaN(scan.audio.endSeconds) ? scan : undefined;
}

/** What a plan has to know of the first `seconds` of a source of which nothing is copied: how long they are. */
export function beginningOf({ startSeconds, declaredEndSeconds }: Source, seconds: number): Scan {
  const endSeconds = startSeconds + Math.min(seconds, declaredEndSeconds ?? seconds);
  const part = { packets: 0, hidden: 0, startSeconds, endSeconds, largestStepSeconds: 0, bytes: 0, regular: false };
  return { video: part, audio: part };
}

/**
 * ffmpeg's arguments to write a rendition to `file` itself, of a source whose pictures and sound are copied. Sound before
 * the first picture (the encoder's run-up) and behind the last one is left out.
 */
export function remuxArgs({ path, source, scan, framerate }: PlanInput): string[] {
  const soundFrames = audioFramesFor(scan.video?.packets ?? 0, framerate);
  // A moment before the first AAC frame that is too many, which is after the last picture in every frame rate.
  const seconds = (soundFrames * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE - 0.001;
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', ...UNTRUSTED_INPUT, '-i', inputPath(path)],
    ...['-map', `0:${source.video?.index}`, '-map', `0:${source.audio?.index}`, '-c', 'copy', '-sn', '-dn'],
    ...['-bsf:a', 'noise=drop=lt(pts\\,0)', '-t', String(seconds)],
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-avoid_negative_ts', 'disabled'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize+no_sequence_end', 'pipe:1'],
  ];
}

/** Containers that keep the codec's configuration in their header, as FLV wants it. */
const COPY_FORMATS = /\b(mov|matroska|flv)\b/;

/** Whether the source's pictures can go into the rendition as they are. The rewriting proves it, frame by frame. */
function fitsVideo({ source, scan, quality, framerate }: PlanInput): boolean {
  const { video } = source;
  const measured = scan.video;
  if (!video || !measured || !COPY_FORMATS.test(source.format)) return false;
  const seconds = measured.endSeconds - measured.startSeconds;
  const { width, height } = DIMENSIONS[quality];
  return (
    video.codec === 'h264' &&
    ['High', 'Main', 'Constrained Baseline'].includes(video.profile) &&
    video.pixelFormat === 'yuv420p' &&
    video.width === width &&
    video.height === height &&
    video.sampleAspect[0] === video.sampleAspect[1] &&
    video.rotation === 0 &&
    !video.interlaced &&
    !video.bFrames &&
    !isHdr(video) &&
    measured.regular &&
    measured.hidden === 0 &&
    measured.startSeconds === source.startSeconds &&
    (measured.bytes * 8) / seconds / 1000 <= bitrateKbps(quality, framerate) * COPY_BITRATE_FACTOR
  );
}

/** Whether the source's sound can go into the rendition as it is: it must begin with the pictures and last as long. */
function fitsAudio({ source, scan, type }: PlanInput): boolean {
  const { audio } = source;
  const measured = scan.audio;
  if (!audio || !measured || !COPY_FORMATS.test(source.format)) return false;
  const frameSeconds = SAMPLES_PER_FRAME / AUDIO_SAMPLE_RATE;
  const pictures = type === 'video' ? scan.video : undefined;
  return (
    audio.codec === 'aac' &&
    audio.profile === 'LC' &&
    audio.sampleRate === AUDIO_SAMPLE_RATE &&
    audio.channels === 2 &&
    measured.regular &&
    (!pictures ||
      (measured.startSeconds - pictures.startSeconds < frameSeconds / 2 &&
        pictures.endSeconds - measured.endSeconds < frameSeconds / 2))
  );
}

export const isHdr = (video: VideoStream): boolean => ['smpte2084', 'arib-std-b67'].includes(video.colorTransfer);

function videoArgs(input: PlanInput, how: 'copy' | 'encode'): string[] {
  if (how === 'copy' || !input.source.video) return ['-c:v', 'copy'];
  const { kbps } = shapeOf(input);
  const gop = String(gopFrames(input.framerate));
  return [
    ...['-vf', videoFilters(input.source.video, input), '-fps_mode', 'passthrough'],
    // The fastest preset that Twitch's guidelines start from; slower ones would take a small machine too long.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
    // Without B-frames decoding order is showing order, so a splice needs no reordering delay.
    ...['-bf', '0', '-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-flags', '+cgop'],
    ...['-b:v', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${2 * kbps}k`],
    ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
  ];
}

function videoFilters(video: VideoStream, input: PlanInput): string {
  const { framerate, canTonemap } = input;
  const { width, height } = shapeOf(input);
  const picture = fitPicture(video, width, height);
  const sourceFps = video.framerate[0] / video.framerate[1];
  const fps = `fps=${framerate}:start_time=0`;
  // Fields become frames where the profile has room for them: 25 interlaced frames show 50 moments.
  const fields = framerate >= 1.9 * sourceFps ? 'send_field' : 'send_frame';
  const tonemap = isHdr(video) && canTonemap;
  return [
    ...(video.interlaced ? [`yadif=mode=${fields}`] : []),
    // Frames are dropped before the work on them, and doubled after it.
    ...(sourceFps > framerate ? [fps] : []),
    ...(tonemap ? [TONEMAP] : []),
    `scale=${picture.width}:${picture.height}:flags=bicubic:${tonemap ? 'in_color_matrix=bt709' : matrixOf(video)}` +
      ':out_color_matrix=bt709:out_range=tv',
    `pad=${width}:${height}:${(width - picture.width) / 2}:${(height - picture.height) / 2}:black`,
    'setsar=1',
    ...(sourceFps > framerate ? [] : [fps]),
    'format=yuv420p',
  ].join(',');
}

/** Linear light, BT.709 primaries, Hable's curve: the usual way from PQ or HLG to SDR. */
const TONEMAP =
  'zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709,tonemap=tonemap=hable:desat=0,' +
  'zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p';

/** ffmpeg takes BT.601 for whatever does not say; by long custom HD that does not say is BT.709. */
function matrixOf(video: VideoStream): string {
  const named: Record<string, string> = { bt709: 'bt709', smpte170m: 'bt601', bt470bg: 'bt601', bt2020nc: 'bt2020' };
  return `in_color_matrix=${named[video.colorSpace] ?? (Math.min(video.width, video.height) >= 720 ? 'bt709' : 'bt601')}`;
}

/** The largest size with the source's shape (square pixels, upright) inside the frame; sides and borders are even. */
export function fitPicture(video: VideoStream, width: number, height: number): { width: number; height: number } {
  const stored = (video.width * video.sampleAspect[0]) / (video.height * video.sampleAspect[1]);
  const aspect = video.rotation % 180 === 0 ? stored : 1 / stored;
  // Chroma has half the resolution, and the border on each side must be even too.
  const even = (value: number, max: number) => Math.min(max, Math.max(4, max - 4 * Math.round((max - value) / 4)));
  return aspect >= width / height
    ? { width, height: even(width / aspect, height) }
    : { width: even(height * aspect, width), height };
}

function audioArgs(how: Plan['audio'], seconds: number | undefined): string[] {
  if (how === 'copy') return ['-c:a', 'copy'];
  // Gaps and a late start are filled with silence, so that a sample's place is its time.
  const filters = [`aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`, 'aformat=channel_layouts=stereo'];
  if (seconds !== undefined) filters.push(`apad=whole_dur=${seconds}`, `atrim=end=${seconds}`);
  return ['-af', filters.join(','), '-c:a', 'aac', '-profile:a', 'aac_low', '-b:a', `${AUDIO_KBPS}k`];
}
