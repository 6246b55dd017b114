/**
 * Decides how a source becomes a rendition: the copied tracks, the encoded ones, and ffmpeg's arguments. ffmpeg writes
 * FLV to its stdout with every timestamp moved up by ORIGIN_MS; rewriter.ts makes the exact file of it. Pure: no I/O,
 * no clock.
 */

import {
  AUDIO_KBPS,
  bitrateKbps,
  DIMENSIONS,
  type Framerate,
  type Quality,
} from '../../../resources/stream/profile.ts';
import { audioFramesFor, isProfileRate, toNtsc } from '../../rendition/frame-times.ts';
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/index.ts';
import { computeExtent } from '../inspect/extent.ts';
import type { Shift } from '../inspect/join-clocks.ts';
import { PADDING_SECONDS } from '../inspect/padding.ts';
import type { AudioStream, MediaType, Scan, Source, StreamScan, VideoStream } from '../inspect/source.ts';
import { pictureFilters } from '../inspect/stills.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { mixFilters } from './mix.ts';
import { type Overlay, overlayGraph, overlayInputs } from './overlay.ts';

/** The FLV format has no negative times, and the AAC encoder's first frame lies before zero. */
export const ORIGIN_MS = 1000;
/** Surplus of sound over the pictures by their timestamps; the rewriter cuts it exactly. */
const AUDIO_MARGIN_SECONDS = 2;
const GOP_SECONDS = 2;
const MAX_AUDIO_KBPS = (2 * 6144 * AUDIO_SAMPLE_RATE) / SAMPLES_PER_FRAME / 1000;

/** Surplus of a copied source over the table: beyond it destinations would stall. */
const COPY_BITRATE_FACTOR = 1.25;

/** Size of a preview: a second of it is made in a tenth of one. */
const PREVIEW_SHAPE = { width: 640, height: 360, kbps: 800 };

type Shape = Pick<PlanInput, 'quality' | 'framerate' | 'previewSeconds'>;

/** Returns width and height in pixels, and kbit/s. */
const chooseShape = ({ quality, framerate, previewSeconds }: Shape) =>
  previewSeconds === undefined ? { ...DIMENSIONS[quality], kbps: bitrateKbps(quality, framerate) } : PREVIEW_SHAPE;

/**
 * Returns the most bytes that a rendition of this many seconds may take. Encoders keep to their rate within a second or
 * two, and a copy has at most COPY_BITRATE_FACTOR of it; sound is copied at any rate of AAC-LC (ISO/IEC 14496-3: 6144
 * bits a frame and channel).
 */
export function maxBytes(input: PlanInput, seconds: number): number {
  const kbps =
    (input.type === 'video' && !input.alone ? chooseShape(input).kbps * COPY_BITRATE_FACTOR : 0) + MAX_AUDIO_KBPS;
  return 2 ** 24 + Math.ceil((1.25 * seconds * kbps * 1000) / 8);
}

export const gopFrames = (framerate: Framerate): number => GOP_SECONDS * framerate;

export interface PlanInput {
  path: string;
  /** True while the source still arrives: ffmpeg reads it from its stdin, in the order of the file. */
  isArriving?: boolean;
  source: Source;
  scan: Scan;
  type: MediaType;
  quality: Quality;
  framerate: Framerate;
  /** Only the first seconds, and small: a preview is watched here, and not sent. */
  previewSeconds?: number;
  /** Larger pictures are not decoded, whatever the header said. */
  maxPixels: number;
  /** True where this ffmpeg can map HDR to SDR (filters zscale and tonemap). */
  canTonemap: boolean;
  /** False after a copy turned out not to keep the rendition's promises. */
  allowCopy: boolean;
  /** True where every streamer that may play it takes any frame rate. */
  ownRates?: boolean;
  /** The sound alone is made, of the time that it has with the pictures. */
  alone?: SoundAlone;
  /**
   * True where the filters stay as they are while the size of the pictures changes: those of a part count its pictures. Each of them must
   * take pictures of any size, so that none makes fields into frames.
   */
  keepsFilters?: boolean;
  /** Drawn layers over the pictures, which are encoded then. */
  overlays?: readonly Overlay[];
}

interface SoundAlone {
  /** Filters behind all others. Sound that is copied goes through none. */
  filters: readonly string[];
  /** True where ffmpeg reports what the filters find, and writes no rendition. */
  isMeasured?: boolean;
}

export interface Plan {
  /** Frames per second of the output. */
  framerate: number;
  video: 'copy' | 'encode' | 'none';
  /** True where the copied pictures have their turns by counting, since their own times are only near them. */
  isCounted: boolean;
  audio: 'copy' | 'encode' | 'silence';
  /** Expected length, for progress. */
  durationSeconds: number;
  /** Number of pictures to take from the output. */
  videoFrames: number | undefined;
  /** Frames between decoding and showing the first picture. */
  delayFrames: number;
  args: string[];
}

export function planRendition(input: PlanInput): Plan {
  const { source, scan, type, framerate, path, alone } = input;
  const hasPictures = type === 'video';
  const wantsVideo = hasPictures && !alone;
  const copyRate = wantsVideo && input.allowCopy && !input.overlays?.length ? findCopyRate(input) : undefined;
  const video = !wantsVideo ? 'none' : copyRate === undefined ? 'encode' : 'copy';
  const audio = !source.audio ? 'silence' : input.allowCopy && fitsAudio(input) ? 'copy' : 'encode';
  const extent = computeExtent(hasPictures ? scan : { ...scan, video: undefined });
  const seconds = Math.min(extent.seconds, input.previewSeconds ?? Number.POSITIVE_INFINITY);
  const audioSeconds = hasPictures ? seconds + AUDIO_MARGIN_SECONDS : input.previewSeconds;
  // Each track is read by itself: none waits for packets of the other, wherever they stand in the file and whenever
  // they end. Input that still arrives can be read only once.
  const shares = input.isArriving === true && wantsVideo && audio !== 'silence';
  const file = input.isArriving ? 'pipe:0' : inputPath(path);
  const open = (more: string[]) => [
    ...[...UNTRUSTED_INPUT, ...more, '-itsoffset', (-extent.startSeconds).toFixed(6), '-i', file],
  ];
  const pictures = open([...(video === 'encode' ? ['-max_pixels', String(input.maxPixels)] : []), ...turnArgs(source)]);
  const silence = ['-t', String(audioSeconds), '-f', 'lavfi', '-i', `anullsrc=r=${AUDIO_SAMPLE_RATE}:cl=stereo`];
  const sound = audio === 'silence' ? silence : shares ? [] : open([]);
  const soundInput = wantsVideo && !shares ? 1 : 0;
  return {
    framerate: copyRate ?? framerate,
    video,
    isCounted: copyRate !== undefined && scan.video?.regular === false,
    audio,
    durationSeconds: Math.max(0.001, seconds),
    delayFrames: video === 'copy' ? (scan.video?.reorderedFrames ?? 0) : 0,
    videoFrames: video === 'encode' ? Math.max(1, Math.round(seconds * framerate)) : undefined,
    args: [
      // The filters make the line of time (inspect/join-clocks.ts), so ffmpeg must not make another one.
      ...['-v', alone?.isMeasured ? 'info' : 'error'],
      ...['-hide_banner', '-nostdin', '-copyts', ...(wantsVideo ? pictures : []), ...sound],
      ...(wantsVideo ? overlayInputs(input.overlays ?? []) : []),
      ...(video === 'none' ? ['-vn'] : videoArgs(input, video, seconds)),
      ...audioArgs(input, audio, soundInput, audioSeconds),
      ...(alone?.isMeasured ? MEASURE_ARGS : OUTPUT_ARGS),
    ],
  };
}

/** Returns the options of an input whose pictures pictureFilters() turns. */
export const turnArgs = ({ video }: Source): string[] => (video?.orientation === undefined ? [] : ['-noautorotate']);

/** Makes ffmpeg write what rewriter.ts reads. */
export const OUTPUT_ARGS = [
  ...['-sn', '-dn', '-map_metadata', '-1', '-map_chapters', '-1', '-max_muxing_queue_size', '4096'],
  ...['-avoid_negative_ts', 'disabled', '-output_ts_offset', String(ORIGIN_MS / 1000)],
  // A write for each packet would take longer than everything else of a copy.
  ...['-flush_packets', '0', '-f', 'flv', '-flvflags', 'no_duration_filesize', 'pipe:1'],
];

/** Makes ffmpeg write no media, but its progress to stdout: without a byte it would be given up. */
export const MEASURE_ARGS = ['-nostats', '-progress', 'pipe:1', '-f', 'null', '-'];

/**
 * Assumes the result of reading every packet, by a header that tells the whole truth; undefined where the header does
 * not say enough. MP4 alone counts its frames: more frames than shown ones mean that an edit list hides some.
 */
export function assumedScan({ format, video, audio, sizeBytes }: Source, framerate: number): Scan | undefined {
  if (!/\bmov\b/.test(format) || !video || !audio) return undefined;
  const stream = (declared: VideoStream | AudioStream, packets: number): StreamScan => ({
    packets,
    hidden: 0,
    startSeconds: declared.declaredStartSeconds ?? Number.NaN,
    endSeconds: declared.declaredEndSeconds ?? Number.NaN,
    largestStepSeconds: 0,
    // The pictures alone have less, so the limit holds.
    bytes: sizeBytes,
    regular: true,
  });
  const { reorderedFrames } = video;
  const scan = { video: { ...stream(video, video.frames ?? 0), reorderedFrames }, audio: stream(audio, 0) };
  const shown = (scan.video.endSeconds - scan.video.startSeconds) * framerate;
  return Math.abs(shown - scan.video.packets) < 0.5 && !Number.isNaN(scan.audio.endSeconds) ? scan : undefined;
}

/**
 * Returns ffmpeg's arguments for a source whose pictures and sound are copied; ffmpeg then writes the rendition itself.
 * Sound before the first picture (the encoder's run-up) and behind the last one is left out.
 */
export function remuxArgs({ path, source, scan, framerate }: PlanInput): string[] {
  const soundFrames = audioFramesFor(scan.video?.packets ?? 0, matchFramerate(source, framerate));
  // A moment before the first surplus AAC frame, which is after the last picture in every frame rate.
  const seconds = (soundFrames * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE - 0.001;
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', ...UNTRUSTED_INPUT, '-i', inputPath(path)],
    ...['-map', `0:${source.video?.index}`, '-map', `0:${source.audio?.index}`, '-c', 'copy', '-sn', '-dn'],
    ...['-bsf:a', 'noise=drop=lt(pts\\,0)', '-t', String(seconds)],
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-avoid_negative_ts', 'disabled'],
    // Without it, ffmpeg makes a system call for each frame, and its reader another one.
    ...['-flush_packets', '0', '-f', 'flv', '-flvflags', 'no_duration_filesize+no_sequence_end', 'pipe:1'],
  ];
}

/** Containers whose times are exact enough. Others, such as AVI, know no time at which a picture is shown. */
const COPY_FORMATS = /\b(mov|matroska|flv|mpegts)\b/;
/** Containers whose clock can be mended for a copy (mend.ts). */
const MENDED_FORMATS = /\b(flv|live_flv|mpegts)\b/;
/** Surplus of the last picture's duration over a frame: a cut in decoding order leaves less. */
const MAX_LAST_SECONDS = 0.3;

/** Surplus of 30 over 29.97 is 0.1 %; containers round less than this. */
const MAX_RATE_ERROR = 0.0003;

/**
 * Returns the frame rate in which a source is copied into a profile: the profile's, or the NTSC rate beside it. Each item of
 * a stream keeps its own rate, and destinations take both.
 */
export function matchFramerate({ video }: Source, framerate: Framerate): number {
  const ntsc = toNtsc(framerate);
  const own = video ? video.framerate[0] / video.framerate[1] : framerate;
  return Math.abs(own - ntsc) < ntsc * MAX_RATE_ERROR ? ntsc : framerate;
}

/** Distance of an own rate from the profile's: 29.4 to 30.6 for 30. Destinations take it, and no other profile is nearer. */
const MAX_OWN_RATE_ERROR = 0.02;

/**
 * Returns the frame rate in which the source's pictures can be copied; undefined where they must be encoded. The rewriter proves
 * it, frame by frame.
 */
function findCopyRate(input: PlanInput): number | undefined {
  const { source, scan, framerate, ownRates = false } = input;
  const { regular, steadyRate } = scan.video ?? {};
  const rate = regular ? matchFramerate(source, framerate) : steadyRate;
  if (rate === undefined || Math.abs(rate - framerate) > framerate * MAX_OWN_RATE_ERROR) return undefined;
  return (ownRates || isProfileRate(rate)) && fitsVideo(input, rate) ? rate : undefined;
}

/** True where the source's pictures can be copied at this rate. */
function fitsVideo({ source, scan, quality, framerate }: PlanInput, rate: number): boolean {
  const { video } = source;
  const measured = scan.video;
  if (!video || !measured || !COPY_FORMATS.test(source.format)) return false;
  const seconds = measured.endSeconds - measured.startSeconds;
  const { width, height } = DIMENSIONS[quality];
  const { heldBeforeSeconds, heldAfterSeconds } = computeExtent(scan);
  // The parts of a source whose clock breaks must follow each other without a hole.
  const isWhole = !measured.breaks && !measured.pauseSeconds;
  return (
    video.codec === 'h264' &&
    ['High', 'Main', 'Baseline', 'Constrained Baseline'].includes(video.profile) &&
    video.pixelFormat === 'yuv420p' &&
    video.width === width &&
    video.height === height &&
    video.sampleAspect[0] === video.sampleAspect[1] &&
    video.rotation === 0 &&
    !video.isTransformed &&
    !video.interlaced &&
    !isHdr(video) &&
    (!measured.breaks || MENDED_FORMATS.test(source.format)) &&
    measured.hidden === 0 &&
    heldBeforeSeconds + heldAfterSeconds === 0 &&
    Math.abs(seconds - measured.packets / rate) < (isWhole ? MAX_LAST_SECONDS : 0.5 / rate) &&
    (measured.bytes * 8) / seconds / 1000 <= bitrateKbps(quality, framerate) * COPY_BITRATE_FACTOR
  );
}

/** True where the source's sound can be copied: it must begin and end with the pictures. Silence fills up padding. */
function fitsAudio({ source, scan, type }: PlanInput): boolean {
  const { audio } = source;
  const measured = scan.audio;
  if (!audio || !measured || !COPY_FORMATS.test(source.format)) return false;
  const pictures = type === 'video' ? scan.video : undefined;
  return (
    audio.codec === 'aac' &&
    audio.profile === 'LC' &&
    audio.sampleRate === AUDIO_SAMPLE_RATE &&
    audio.channels === 2 &&
    measured.regular &&
    !measured.breaks &&
    (!pictures ||
      (measured.startSeconds - pictures.startSeconds < PADDING_SECONDS &&
        pictures.endSeconds - measured.endSeconds < PADDING_SECONDS))
  );
}

export const isHdr = (video: VideoStream): boolean => ['smpte2084', 'arib-std-b67'].includes(video.colorTransfer);

/** Frames of a rendition that are encoded by themselves, by their numbers in the whole; the ends are not part of it. */
export interface Part {
  firstFrame: number;
  endFrame: number;
  /** AAC frames that lie with these pictures in the file. */
  firstSound: number;
  endSound: number;
}

/** With several threads, x264's rate control depends on their timing, and a part must be the same each time. */
const PART_THREADS = 1;
/** The buffer of the part before may be empty or full at its end: half leaves a part the same room on both sides. */
const PART_ENCODER_ARGS = ['-x264-params', 'vbv-init=0.5', '-threads', String(PART_THREADS)];

/** Inputs before those of overlays: the pictures and the sound. */
const MEDIA_INPUTS = 2;

/** Returns the arguments for the pictures of the first input: all of them, or those of one part. */
export function videoArgs(input: PlanInput, how: 'copy' | 'encode', seconds: number, part?: Part): string[] {
  const { source, scan, framerate, overlays = [] } = input;
  const map = ['-map', `0:${source.video?.index}`];
  if (how === 'copy' || !source.video) return [...map, '-c:v', 'copy'];
  const isTimed = part !== undefined || standsLong(input);
  const timing = isTimed ? ['-fps_mode', 'passthrough'] : ['-fps_mode', 'cfr', '-r', String(input.framerate)];
  const encoder = part ? [...encoderArgs(input), ...PART_ENCODER_ARGS] : encoderArgs(input);
  const filters = videoFilters(source.video, input, seconds, part);
  if (overlays.length === 0) return [...map, '-vf', filters, ...timing, ...encoder];
  const base = { input: `0:${source.video.index}`, filters, firstInput: MEDIA_INPUTS, framerate };
  const graph = overlayGraph(overlays, { ...base, seconds: computeExtent(scan).seconds });
  return ['-filter_complex', graph, '-map', '[shown]', ...timing, ...encoder];
}

/** Returns the arguments for black pictures in the place of a part. */
export function blackArgs(input: PlanInput, { firstFrame }: Part): string[] {
  const filters = `setpts=PTS+${(firstFrame / input.framerate).toFixed(6)}/TB,format=yuv420p`;
  return ['-vf', filters, '-fps_mode', 'passthrough', ...encoderArgs(input), ...PART_ENCODER_ARGS];
}

/** Returns the input of black pictures. */
export function blackInput(input: PlanInput, { firstFrame, endFrame }: Part): string[] {
  const { width, height } = chooseShape(input);
  const { framerate } = input;
  const source = `color=c=black:s=${width}x${height}:r=${framerate},trim=end_frame=${endFrame - firstFrame}`;
  return ['-f', 'lavfi', '-i', source];
}

/** Returns the options of the encoder, which decide about the headers of the pictures. */
export function encoderArgs(input: Shape): string[] {
  const { kbps } = chooseShape(input);
  const gop = String(gopFrames(input.framerate));
  return [
    // The fastest preset in Twitch's guidelines; slower ones would take a small machine too long.
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
    // Without B-frames decoding order is showing order, so a splice needs no reordering delay.
    ...['-bf', '0', '-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-flags', '+cgop'],
    ...['-b:v', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${2 * kbps}k`],
    ...['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'],
  ];
}

/** ffmpeg repeats a picture in one go, while the sound waits; beyond this a filter repeats it on demand. */
const LONG_STEP_SECONDS = 60;
/** Layers that come and go do so at a picture. */
const TIMED_STEP_SECONDS = 0.2;
export function standsLong({ source: { video }, scan, overlays }: PlanInput): boolean {
  const frameSeconds = video ? video.framerate[1] / video.framerate[0] : 0;
  return (
    Math.max(frameSeconds, scan.video?.largestStepSeconds ?? 0) >
    (overlays?.some(({ show }) => show) ? TIMED_STEP_SECONDS : LONG_STEP_SECONDS)
  );
}

/**
 * ffmpeg makes all filters anew when the size or format of the pictures changes. So no filter counts from its first
 * picture (as `fps` does), and each takes sizes from its own picture: only the encoder knows what was sent.
 */
function videoFilters(video: VideoStream, input: PlanInput, seconds: number, part?: Part): string {
  const { framerate, canTonemap, scan } = input;
  const { width, height } = chooseShape(input);
  const sourceFps = video.framerate[0] / video.framerate[1];
  // Fields become frames where the profile has room for them: 25 interlaced frames show 50 moments.
  const fields = framerate >= 1.9 * sourceFps ? 'send_field' : 'send_frame';
  const tonemap = isHdr(video) && canTonemap;
  const long = standsLong(input);
  // The encoder's repetition of pictures rounds down from 0.6, and so shows each at the nearest time.
  const early = long ? 0 : 0.4 / framerate;
  const slot = (time: string) => `floor(${time}*${framerate}-0.15)`;
  // The last picture of a slow source lasts longer than one of the rendition's.
  const margin = 2 + 2 / sourceFps;
  return [
    `setpts='${joinTimes('PTS', scan.video?.shifts)}+${early.toFixed(6)}/TB'`,
    // Fields are rows of the picture as it is stored.
    ...(input.keepsFilters ? [] : deinterlaceFilters(video, fields)),
    ...pictureFilters(video),
    // Frames are dropped before the work on them, and doubled after it.
    ...(long ? [] : [`select='isnan(prev_selected_t)+gt(${slot('t')},${slot('prev_selected_t')})'`]),
    ...(tonemap ? [TONEMAP] : []),
    ...fitFilters(width, height, tonemap ? 'bt709' : chooseMatrix(video)),
    'format=yuv420p',
    'tpad=stop=-1:stop_mode=clone',
    ...(long ? [`fps=${framerate}:start_time=0`] : []),
    ...(part ? cutPart(part, framerate, slot('T')) : [`trim=end=${(seconds + margin).toFixed(3)}`]),
  ].join(',');
}

/** Codecs whose decoders report for each picture whether it has fields. Containers often omit or misstate it. */
const TELL_FIELDS = new Set([
  'h264',
  'mpeg2video',
  'mpeg4',
  'dvvideo',
  'vc1',
  'wmv3',
  'prores',
  'dnxhd',
  'mjpeg',
  'cavs',
]);
/** The filter takes no smaller picture. */
const LEAST_SIDE = 4;

function deinterlaceFilters({ codec, width, height, interlaced }: VideoStream, mode: string): string[] {
  const tells = TELL_FIELDS.has(codec) && Math.min(width, height) >= LEAST_SIDE;
  if (!tells && !interlaced) return [];
  return [`yadif=mode=${mode}${tells ? ':deint=interlaced' : ''}`];
}

/**
 * Returns filters that show each picture from its slot on, and of two for the same slot the last one. The first slot of a part shows the
 * last picture at or before it.
 */
const cutPart = ({ firstFrame, endFrame }: Part, framerate: number, slot: string): string[] => [
  // Inside the slot: clocks round.
  `setpts='(${slot}+0.25)/${framerate}/TB'`,
  `fps=${framerate}:start_time=${(firstFrame / framerate).toFixed(6)}`,
  `trim=end_frame=${endFrame - firstFrame}`,
];

/**
 * Returns an expression of setpts, asetpts or setts: the time `own` of a frame or packet on the joined line of its
 * source's clocks.
 */
export function joinTimes(own: 'PTS' | 'DTS', shifts: readonly Shift[] = []): string {
  if (shifts.length === 0) return own;
  // Only the first frame of a packet knows the packet's position in the file, and only the first packet of several in one.
  const byte = 'st(0,if(isnan(POS)+lt(POS,0),ld(0),POS))';
  const steps = shifts.map(({ fromByte, seconds }, at) => {
    const more = seconds - (shifts[at - 1]?.seconds ?? 0);
    return `gte(ld(0),${fromByte})*(${more.toFixed(6)})`;
  });
  return `${own}+0*${byte}+(${steps.join('+')})/TB`;
}

/**
 * Returns filters that scale a picture of any size and pixel aspect into the frame, in the middle, with even borders.
 */
export function fitFilters(width: number, height: number, inMatrix = 'auto'): string[] {
  // Chroma has half the resolution, and the border on each side must be even too.
  const even = (value: string, max: number) => `max(4,${max}-4*round((${max}-${value})/4))`;
  const wide = `gte(dar,${width}/${height})`;
  return [
    `scale=w='if(${wide},${width},${even(`${height}*dar`, width)})':h='if(${wide},${even(`${width}/dar`, height)},${height})'` +
      `:eval=frame:flags=bicubic:in_color_matrix=${inMatrix}:out_color_matrix=bt709:out_range=tv`,
    `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2:black:eval=frame`,
    'setsar=1',
  ];
}

/** Linear light, BT.709 primaries, Hable's curve: the usual way from PQ or HLG to SDR. */
export const TONEMAP =
  'zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709,tonemap=tonemap=hable:desat=0,' +
  'zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p';

/**
 * Chooses the colour matrix, where the pictures do not state theirs. ffmpeg assumes BT.601; by long custom, HD without
 * a statement is BT.709.
 */
export function chooseMatrix({ colorSpace, width, height }: VideoStream): string {
  if (['bt709', 'smpte170m', 'bt470bg', 'bt2020nc', 'bt2020c', 'smpte240m', 'fcc'].includes(colorSpace)) return 'auto';
  return Math.min(width, height) >= 720 ? 'bt709' : 'bt601';
}

/** Returns filters that bring sound of any rate and layout, which may change, onto one line of time. */
export const soundFilters = (
  scan: StreamScan | undefined,
  audio: AudioStream | undefined,
  { rate, layout, follows }: { rate: number; layout: 'mono' | 'stereo'; follows: boolean },
): string[] => [
  ...mixFilters(audio),
  ...(scan?.shifts ? [`asetpts='${joinTimes('PTS', scan.shifts)}'`] : []),
  // Parts overlap or lie apart by the padding of their sound, which would add up.
  `aresample=${rate}${follows ? ':async=1' : ''}${follows && scan?.shifts ? ':min_hard_comp=0.02' : ''}`,
  `aformat=channel_layouts=${layout}`,
];

/** Longer holes are filled with silent frames behind the encoder: a filter would make all of one in memory. */
const MAX_FILTERED_GAP_SECONDS = 10;

export const SOUND_ENCODER_ARGS = ['-c:a', 'aac', '-profile:a', 'aac_low', '-b:a', `${AUDIO_KBPS}k`];

/** Returns the arguments for the sound of the input with this number. */
function audioArgs(
  { source: { audio }, scan, type, alone }: PlanInput,
  how: Plan['audio'],
  inputNumber: number,
  seconds: number | undefined,
): string[] {
  const index = how === 'silence' ? 0 : (audio?.index ?? 0);
  const map = ['-map', `${inputNumber}:${index}`];
  if (how === 'copy') return [...map, '-c:a', 'copy'];
  // Sound with pictures keeps to their time. Without them every sample is played: the timestamps may promise less.
  const follows = type === 'video' && (scan.audio?.largestStepSeconds ?? 0) <= MAX_FILTERED_GAP_SECONDS;
  const timing = { rate: AUDIO_SAMPLE_RATE, follows };
  const rightIndex = how === 'silence' ? undefined : audio?.rightIndex;
  const own = soundFilters(scan.audio, audio, { ...timing, layout: rightIndex === undefined ? 'stereo' : 'mono' });
  const filters = [
    // Sound alone begins with its first sample: an encoder's run-up that is not played may precede it (Opus, WMA).
    ...(type === 'video' ? ['apad'] : ['asetpts=PTS-STARTPTS']),
    ...(seconds === undefined ? [] : [`atrim=end=${seconds.toFixed(3)}`]),
    ...(alone?.filters ?? []),
  ];
  const encoder = alone?.isMeasured ? [] : SOUND_ENCODER_ARGS;
  if (rightIndex === undefined) return [...map, '-af', [...own, ...filters].join(','), ...encoder];
  const side = (track: number, name: string) => `[${inputNumber}:${track}]${own.join(',')}[${name}]`;
  const whole = ['join=inputs=2:channel_layout=stereo', ...filters].join(',');
  const graph = `${side(index, 'left')};${side(rightIndex, 'right')};[left][right]${whole}[sound]`;
  return ['-filter_complex', graph, '-map', '[sound]', ...encoder];
}
