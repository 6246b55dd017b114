/**
 * Decides whether a rendition can be encoded in parts, each by an ffmpeg of its own that begins in the middle of the source, and gives
 * ffmpeg's arguments for one. All parts place pictures and sound on the same line of time, so that they fit together, made by one Job or by several.
 * Pure: no I/O, no clock.
 */
import { AUDIO_FRAME_MS, audioFramesFor, audioSlotMs, videoSlotMs } from '../../rendition/frame-times.ts';
import { AUDIO_SAMPLE_RATE, CHUNK_SECONDS, SAMPLES_PER_FRAME } from '../../rendition/index.ts';
import { computeExtent } from '../inspect/extent.ts';
import { type AudioStream, SETTLED_PACKETS, type StreamScan } from '../inspect/source.ts';
import { pictureFilters } from '../inspect/stills.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { mixFilters } from './mix.ts';
import { overlayInputs } from './overlay.ts';
import {
  blackArgs,
  blackInput,
  isHdr,
  OUTPUT_ARGS,
  type Part,
  type Plan,
  type PlanInput,
  SOUND_ENCODER_ARGS,
  standsLong,
  turnArgs,
  videoArgs,
} from './plan.ts';

/** Containers in which ffmpeg finds a time exactly. */
const SEEKABLE = /\b(mov|matroska)\b/;
/** Each part decodes its source from the keyframe before it. */
const MAX_GOP_SECONDS = 12;
/** Reordered pictures and the clocks of tracks differ by less, so that the keyframe before is found. */
const SEEK_MARGIN_SECONDS = 1;
/** The encoder's state of a part of the sound is that of the whole after this many AAC frames, which are dropped. */
const RUN_UP_FRAMES = 96;
/** A decoder's first frames after a seek lack those before them. */
const DECODER_RUN_UP_SECONDS = 0.5;
const RESAMPLER_RUN_UP_SECONDS = 0.1;
/** The encoder looks ahead; the rewriter drops what is too much. */
const LOOK_AHEAD_FRAMES = 3;
/** Containers round times to milliseconds at worst. */
const MAX_ROUNDING_SECONDS = 0.0015;

/** Samples of a packet of sound, for codecs that have the same number in each. */
const PACKET_SAMPLES: Record<string, readonly number[]> = {
  aac: [1024],
  ac3: [1536],
  eac3: [1536],
  alac: [4096],
  mp3: [1152],
  opus: [960],
};

/** Returns the samples of each packet where the sound follows packet by packet without a gap, so that a packet's time tells its number. */
function findPacketSamples({ codec, profile, sampleRate }: AudioStream, scan: StreamScan): number | undefined {
  if (codec === 'aac' && profile !== 'LC') return undefined;
  const seconds = scan.endSeconds - (scan.settledSeconds ?? Number.NaN);
  // The last packet may be shorter, and a container may state its true end.
  const fits = (samples: number) => {
    const missing = (scan.packets - SETTLED_PACKETS) * samples - seconds * sampleRate;
    const rounding = MAX_ROUNDING_SECONDS * sampleRate;
    return missing > -rounding && missing < samples + rounding;
  };
  const isSteady = (samples: number) => scan.largestStepSeconds <= samples / sampleRate + MAX_ROUNDING_SECONDS;
  return PACKET_SAMPLES[codec]?.find((samples) => fits(samples) && isSteady(samples));
}

const isUnbroken = ({ shifts, breaks, pauseSeconds, isStill }: StreamScan): boolean =>
  !shifts && !breaks && !pauseSeconds && !isStill;

/** True where ffmpeg can begin in the middle of the source, exactly. */
export function canEncodeInParts(input: PlanInput, plan: Plan): boolean {
  const { source, scan, framerate } = input;
  const isLong = (plan.videoFrames ?? 0) > CHUNK_SECONDS * framerate;
  // The sides of a recording in two tracks are joined in one go.
  if (source.audio?.rightIndex !== undefined) return false;
  const isSteady = !source.audio || !scan.audio || findPacketSamples(source.audio, scan.audio) !== undefined;
  return plan.video === 'encode' && isLong && isSteady && canSeek(input);
}

/**
 * Half a chunk of a copy. A stream begins with two parts, on which all processors of a small machine work, and a Job that is killed loses two:
 * no more than one chunk. Whole GOPs, so that keyframes lie evenly.
 */
export const PART_SECONDS = 16;

/** Cuts a rendition of so many pictures into parts, each of them one chunk. They follow the first `keptFrames`. */
export function cutParts(videoFrames: number, framerate: number, keptFrames = 0): Part[] {
  const parts: Part[] = [];
  for (let firstFrame = keptFrames; firstFrame < videoFrames; ) {
    const endFrame = Math.min(videoFrames, firstFrame + PART_SECONDS * framerate);
    const isLast = endFrame === videoFrames;
    const endSound = isLast ? audioFramesFor(videoFrames, framerate) : findSound(endFrame, framerate);
    parts.push({ firstFrame, endFrame, firstSound: findSound(firstFrame, framerate), endSound });
    firstFrame = endFrame;
  }
  return parts;
}

/** Returns the first AAC frame that is not before a picture. */
function findSound(videoFrame: number, framerate: number): number {
  const ms = videoSlotMs(videoFrame, framerate);
  let frame = Math.max(0, Math.floor(ms / AUDIO_FRAME_MS) - 1);
  while (audioSlotMs(frame) < ms) frame++;
  return frame;
}

function canSeek(input: PlanInput): boolean {
  const { source, scan } = input;
  const { heldBeforeSeconds, heldAfterSeconds } = computeExtent(scan);
  return (
    SEEKABLE.test(source.format) &&
    !input.isArriving &&
    input.previewSeconds === undefined &&
    scan.video !== undefined &&
    isUnbroken(scan.video) &&
    scan.video.packetsBeforeKey === undefined &&
    (!scan.audio || isUnbroken(scan.audio)) &&
    !standsLong(input) &&
    (scan.video.largestGopSeconds ?? Number.POSITIVE_INFINITY) <= MAX_GOP_SECONDS &&
    heldBeforeSeconds + heldAfterSeconds === 0
  );
}

/** Whether all filters of a source take pictures of any size: those that turn pictures or map HDR do not. */
const mayKeepFilters = ({ source: { video } }: PlanInput): boolean =>
  video !== undefined && pictureFilters(video).length === 0 && !video.interlaced && !isHdr(video);

/**
 * Returns the arguments of ffmpeg for each try to make a part. The last one is for pictures that change their size: the filters would be
 * made anew, and count from the first picture again.
 */
export function listPartTries(input: PlanInput, part: Part): string[][] {
  const args = planPart(input, part);
  return [args, args, ...(mayKeepFilters(input) ? [planPart({ ...input, keepsFilters: true }, part)] : [])];
}

/** Returns ffmpeg's arguments. It writes FLV to its stdout, with the times that the frames have in the whole, moved up by ORIGIN_MS. */
export function planPart(input: PlanInput, part: Part): string[] {
  const { source, scan, path, framerate } = input;
  const { startSeconds } = computeExtent(scan);
  const open = (seconds: number) => [
    ...UNTRUSTED_INPUT,
    ...(seconds > 0 ? ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', (seconds + startSeconds).toFixed(6)] : []),
    ...['-itsoffset', (-startSeconds).toFixed(6), '-i', inputPath(path)],
  ];
  const { inputArgs, index, filters } = planSound(input, part, startSeconds, open);
  const pictures = [
    '-max_pixels',
    String(input.maxPixels),
    ...turnArgs(source),
    ...(input.keepsFilters ? ['-reinit_filter', '0'] : []),
    ...open(part.firstFrame / framerate - SEEK_MARGIN_SECONDS),
  ];
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-copyts', ...pictures, ...inputArgs],
    ...overlayInputs(input.overlays ?? []),
    ...videoArgs(input, 'encode', 0, part),
    ...['-map', `1:${index}`, '-af', filters.join(','), ...SOUND_ENCODER_ARGS, ...OUTPUT_ARGS],
  ];
}

/** Returns ffmpeg's arguments for black and silence in the place of a part that cannot be encoded. */
export function planStandIn(input: PlanInput, part: Part): string[] {
  const silent = { ...input, source: { ...input.source, audio: undefined } };
  const { inputArgs, filters } = planSound(silent, part, 0, () => []);
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-copyts', ...blackInput(input, part), ...inputArgs],
    ...['-map', '0:0', ...blackArgs(input, part)],
    ...['-map', '1:0', '-af', filters.join(','), ...SOUND_ENCODER_ARGS, ...OUTPUT_ARGS],
  ];
}

function planSound(
  { source, scan }: PlanInput,
  { firstSound, endSound }: Part,
  startSeconds: number,
  open: (seconds: number) => string[],
): { inputArgs: string[]; index: number; filters: string[] } {
  const beginSeconds = (Math.max(0, firstSound - RUN_UP_FRAMES) * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE;
  const endSeconds = ((endSound + LOOK_AHEAD_FRAMES) * SAMPLES_PER_FRAME) / AUDIO_SAMPLE_RATE;
  const cut = ['apad', `atrim=start=${beginSeconds.toFixed(6)}:end=${endSeconds.toFixed(6)}`];
  const { audio } = source;
  const measured = scan.audio;
  if (!audio || !measured) {
    const inputArgs = ['-t', endSeconds.toFixed(6), '-f', 'lavfi', '-i', `anullsrc=r=${AUDIO_SAMPLE_RATE}:cl=stereo`];
    return { inputArgs, index: 0, filters: [`asetpts=PTS+${beginSeconds.toFixed(6)}/TB`, ...cut] };
  }
  const rate = audio.sampleRate;
  // Resampling makes the same of the same samples wherever it begins, if that is a whole number of samples in both rates. So the first
  // packet moves to such a time, by less than two milliseconds.
  const step = rate / greatestDivisor(rate, AUDIO_SAMPLE_RATE);
  const onStep = (seconds: number, round: (value: number) => number) => round((seconds * rate) / step) * step;
  const samples = findPacketSamples(audio, measured) ?? 1;
  const settledSeconds = (measured.settledSeconds ?? 0) - startSeconds;
  const told = Math.round(settledSeconds * rate) - SETTLED_PACKETS * samples;
  const first = onStep(told / rate, Math.round);
  // Containers round times. The decoder may leave out the beginning of the first packet, so the end of that counts.
  const snap = (time: string) => `(round((${time}-${told})/${samples})*${samples}+${first})`;
  const isCut = `lt(T*${rate},${told + samples})*lt(NB_SAMPLES,${samples})`;
  const snapped = `if(${isCut},${snap(`T*${rate}+NB_SAMPLES`)}-NB_SAMPLES,${snap(`T*${rate}`)})`;
  const middle = onStep(beginSeconds - RESAMPLER_RUN_UP_SECONDS, Math.floor);
  const isMiddle = middle > first + rate;
  const from = isMiddle ? middle : onStep(beginSeconds, Math.floor);
  // Silence stands in front of sound that begins later.
  const padding = isMiddle ? '' : `:first_pts=${Math.round(beginSeconds * AUDIO_SAMPLE_RATE)}:min_comp=0.00001`;
  return {
    inputArgs: open(isMiddle ? from / rate - DECODER_RUN_UP_SECONDS : 0),
    index: audio.index,
    filters: [
      ...[`asetpts='floor((${snapped})/${rate}/TB+0.5)'`, `atrim=start=${(from / rate).toFixed(6)}`],
      ...[...mixFilters(audio), `aresample=${AUDIO_SAMPLE_RATE}${padding}`, 'aformat=channel_layouts=stereo', ...cut],
    ],
  };
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
