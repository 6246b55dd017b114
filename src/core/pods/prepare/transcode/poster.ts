/**
 * Makes the poster of a source: one small picture of it, as JPEG. Takes the keyframes at some places of the source in turn, and the first
 * of them that shows something; many films begin in black.
 */
import { isPoster, MAX_POSTER_BYTES } from '../../../resources/upload/poster.ts';
import type { MediaTools } from '../inspect/ffprobe.ts';
import type { Source, VideoStream } from '../inspect/source.ts';
import { pictureFilters } from '../inspect/stills.ts';
import { takePicture } from '../tools/take-picture.ts';
import { openInput } from '../tools/untrusted-input.ts';
import { chooseMatrix, isHdr, TONEMAP, turnArgs } from './plan.ts';

/** Length of the longer side, in pixels: a card of a list on a dense screen. */
const LONGER_SIDE = 480;
/** Parts of the length at which pictures are taken; 0 is the beginning, which needs no search. */
const PLACES = [0.1, 0.35, 0.6, 0.85, 0];
/** ffmpeg's scale of JPEG, from 2 (best) to 31: good, and what noise needs to be small. */
const QUALITIES = [5, 12, 31];
/** Of 255: the mean of a picture, and the distance between its dark and its light tenth, from which on it shows something. */
const LEAST_LIGHT = 20;
const LEAST_CONTRAST = 24;

export interface PosterOptions {
  tools: MediaTools;
  signal: AbortSignal;
  /** Larger pictures are not decoded, whatever the header said. */
  maxPixels: number;
  /** True where this ffmpeg can map HDR to SDR. */
  canTonemap: boolean;
}

interface Candidate {
  bytes: Buffer;
  light: number;
  contrast: number;
}

const rate = ({ light, contrast }: Candidate): number => contrast + Math.min(light, LEAST_LIGHT);
const showsSomething = ({ light, contrast }: Candidate): boolean => light >= LEAST_LIGHT && contrast >= LEAST_CONTRAST;

/**
 * Resolves with the poster; undefined where the source has no picture that can be decoded, or none that is small enough. Rejects with the
 * signal's reason, or with ToolError where ffmpeg did not run.
 */
export async function makePoster(path: string, source: Source, options: PosterOptions): Promise<Buffer | undefined> {
  let best: { candidate: Candidate; seconds: number } | undefined;
  for (const seconds of listPlaces(source)) {
    // A picture that was found before the time is up is better than none.
    if (best && options.signal.aborted) break;
    const candidate = await takeCandidate(path, source, seconds, QUALITIES[0], options).catch((error: unknown) => {
      if (best && options.signal.aborted) return undefined;
      throw error;
    });
    if (candidate && (!best || rate(candidate) > rate(best.candidate))) best = { candidate, seconds };
    if (candidate && showsSomething(candidate)) break;
  }
  if (!best) return undefined;
  if (best.candidate.bytes.length <= MAX_POSTER_BYTES) return best.candidate.bytes;
  for (const quality of QUALITIES.slice(1)) {
    const smaller = await takeCandidate(path, source, best.seconds, quality, options);
    if (smaller && isPoster(smaller.bytes)) return smaller.bytes;
  }
  return undefined;
}

/** Lists the places in seconds. Cover art and still pictures have one. */
function listPlaces({ video, format, declaredEndSeconds, startSeconds }: Source): number[] {
  const seconds = (video?.declaredEndSeconds ?? declaredEndSeconds ?? 0) - Math.max(0, startSeconds);
  if (!video || format.endsWith('_pipe') || !(seconds > 0)) return [0];
  return PLACES.map((part) => part * seconds);
}

/** Takes the keyframe at or before a time, or the next one. Undefined where there is none that can be decoded. */
async function takeCandidate(
  path: string,
  { video, patches, ...source }: Source,
  seconds: number,
  quality = 2,
  { tools, signal, maxPixels, canTonemap }: PosterOptions,
): Promise<Candidate | undefined> {
  const args = [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-threads', '1', '-max_pixels', String(maxPixels)],
    ...(seconds > 0 ? ['-noaccurate_seek', '-ss', seconds.toFixed(3)] : []),
    ...turnArgs({ ...source, video }),
    ...openInput(path, patches),
    // Of a source without video, the pictures are its cover art.
    ...['-map', video ? `0:${video.index}` : '0:v:0', '-frames:v', '1', '-vf', pictureArgs(video, canTonemap)],
    // The encoder and muxer are in the image's own ffmpeg (scripts/build-ffmpeg): as it is, a packet is a file.
    ...['-c:v', 'mjpeg', '-q:v', String(quality), '-threads', '1', '-f', 'rawvideo', 'pipe:1'],
  ];
  const taken = await takePicture(tools.ffmpeg, args, { signal, maxBytes: MOST_BYTES });
  if (!taken) return undefined;
  const { bytes, said } = taken;
  return { bytes, light: measure(said, 'YAVG'), contrast: measure(said, 'YHIGH') - measure(said, 'YLOW') };
}

/** No JPEG of this size in pixels is larger. */
const MOST_BYTES = 3 * LONGER_SIDE ** 2;

/** A value that the filter signalstats has written to stderr. */
function measure(words: string, name: string): number {
  const [, behind = ''] = words.split(`lavfi.signalstats.${name}=`, 2);
  return Number.parseFloat(behind) || 0;
}

/** Returns the filters: upright, in the shape in which it is shown, small, and measured. */
function pictureArgs(video: VideoStream | undefined, canTonemap: boolean): string {
  const isMapped = video !== undefined && isHdr(video) && canTonemap;
  const matrix = isMapped || !video ? 'auto' : chooseMatrix(video);
  // A picture is not enlarged, and each side has a pixel at least.
  const scale = (own: string) => `max(2,2*round(${own}*min(1,${LONGER_SIDE}/max(iw*sar,ih))/2))`;
  return [
    ...(video ? pictureFilters(video) : []),
    ...(isMapped ? [TONEMAP] : []),
    `scale=w='${scale('iw*sar')}':h='${scale('ih')}':flags=area:in_color_matrix=${matrix}:out_color_matrix=bt601:out_range=pc`,
    'setsar=1',
    'format=yuvj420p',
    'signalstats',
    "metadata=print:file='pipe\\:2'",
  ].join(',');
}
