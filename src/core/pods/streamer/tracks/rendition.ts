/**
 * Describes a rendition as a track plays it: complete or still being prepared, of this release or an earlier one.
 * Pure: no I/O, no clock.
 */

import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import { FLV_HEADER_BYTES } from '../../rendition/flv.ts';
import { chunkKey } from '../../rendition/format.ts';
import { audioFramesFor } from '../../rendition/frame-times.ts';
import type { Chunk, ChunkEntry, RenditionIndex, RenditionIndexV1 } from '../../rendition/index.ts';
import { countTicks, frameTicks } from '../timeline/ticks.ts';
import { ItemError } from './item-error.ts';

export type TrackKind = 'video' | 'audio';

/** A chunk and the key of its object. Renditions of earlier releases may have no sound. */
export interface KeyedChunk extends Omit<Chunk, 'audio'> {
  key: string;
  audio?: Chunk['audio'] | undefined;
}

export interface Rendition {
  /** Ticks of a picture, which may be a fraction; undefined for sound alone. */
  frameTicks: number | undefined;
  /** Pictures, or AAC frames of sound alone: expected by the source until the rendition is complete. */
  frames: number;
  /** AAC frames; expected likewise. */
  audioFrames: number;
  /** The known chunks, each behind the one before: all of a complete rendition, otherwise those that were asked for. */
  chunks: readonly KeyedChunk[];
  complete: boolean;
}

/** H.264, A.3.1 and E.2.1: pictures are reordered by at most 16 frames. */
const MAX_DELAY_FRAMES = 16;

const invalid = (message: string) => new ItemError('item_invalid', message);

type FrameRate = { frameRateNum: number; frameRateDen: number };

/** Throws ItemError. */
function pictureTicks(rate: FrameRate | undefined): number | undefined {
  if (!rate) return undefined;
  const ticks = frameTicks(rate.frameRateNum, rate.frameRateDen);
  if (ticks === undefined) throw invalid('The frame rate does not fit the timeline.');
  return ticks;
}

const addKey = (renditionKey: string, version: number, chunk: Chunk): KeyedChunk => ({
  ...chunk,
  key: chunkKey(renditionKey, chunk, version),
});

/** Describes a complete rendition. Throws ItemError when its numbers do not fit each other. */
export function readIndex(renditionKey: string, index: RenditionIndex): Rendition {
  const { video, audio } = index;
  const rendition: Rendition = {
    frameTicks: pictureTicks(video),
    frames: video?.frames ?? audio.frames,
    audioFrames: audio.frames,
    chunks: index.chunks.map((chunk) => addKey(renditionKey, index.version, chunk)),
    complete: true,
  };
  checkSense(rendition);
  if (rendition.chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) !== index.sizeBytes)
    throw invalid('The size of the rendition differs from its chunks.');
  return rendition;
}

/** Describes a rendition of an earlier release: one chunk under its own key. Throws ItemError as readIndex does. */
export function readIndexV1(renditionKey: string, index: RenditionIndexV1, delayFrames: number): Rendition {
  const { video, audio, sizeBytes, sha256 } = index;
  const frames = video?.frames ?? audio?.frames;
  if (frames === undefined) throw invalid('The rendition has neither video nor audio.');
  const { header = '', keyframes = [] } = video ?? {};
  const rendition: Rendition = {
    frameTicks: pictureTicks(video),
    frames,
    audioFrames: audio?.frames ?? 0,
    chunks: [
      {
        key: renditionKey,
        firstFrame: 0,
        frames,
        sizeBytes,
        sha256,
        ...(video && { video: { header, delayFrames, keyframes } }),
        ...(audio && { audio: { header: audio.header } }),
      },
    ],
    complete: true,
  };
  checkSense(rendition);
  return rendition;
}

/** Describes a rendition that is still being prepared, by the entry of one chunk. Throws ItemError as readIndex does. */
export function readEntry(renditionKey: string, { version, video, expectedFrames, chunk }: ChunkEntry): Rendition {
  const ticks = pictureTicks(video);
  const rendition: Rendition = {
    frameTicks: ticks,
    frames: expectedFrames,
    audioFrames: ticks === undefined ? expectedFrames : audioFramesFor(expectedFrames, TICKS_PER_SECOND / ticks),
    chunks: [addKey(renditionKey, version, chunk)],
    complete: false,
  };
  checkSense(rendition);
  return rendition;
}

/** Checks rules that the schemas cannot express: the numbers must fit each other. */
function checkSense(rendition: Rendition): void {
  const { frames, audioFrames, chunks, complete } = rendition;
  const hasVideo = rendition.frameTicks !== undefined;
  for (const count of [countTicks(frames, rendition.frameTicks ?? 1), audioFrames * AUDIO_FRAME_TICKS])
    if (!Number.isSafeInteger(count)) throw invalid('The rendition is longer than the timeline.');
  let next = complete ? 0 : (chunks[0]?.firstFrame ?? 0);
  for (const chunk of chunks) {
    if (chunk.firstFrame !== next) throw invalid('The chunks do not follow each other.');
    next += chunk.frames;
    if (!Number.isSafeInteger(next)) throw invalid('The rendition is longer than the timeline.');
    if (hasVideo !== (chunk.video !== undefined)) throw invalid('A chunk does not fit its rendition.');
    checkPictures(chunk);
  }
  if (complete && next !== frames) throw invalid('The chunks do not cover the rendition.');
}

function checkPictures({ video, firstFrame, frames, sizeBytes }: KeyedChunk): void {
  if (!video) return;
  if (video.delayFrames > MAX_DELAY_FRAMES) throw invalid('The pictures are reordered further than H.264 allows.');
  let before = { frame: firstFrame - 1, offset: firstFrame === 0 ? FLV_HEADER_BYTES - 1 : -1 };
  for (const keyframe of video.keyframes) {
    if (keyframe.frame <= before.frame || keyframe.offset <= before.offset || keyframe.offset >= sizeBytes)
      throw invalid('The keyframes are not in order.');
    before = keyframe;
  }
  if (video.keyframes[0]?.frame !== firstFrame || before.frame >= firstFrame + frames)
    throw invalid('The keyframes do not cover the video frames.');
}

/** Ticks of a frame by which chunks are counted: a picture, or an AAC frame of sound alone. */
export const chunkFrameTicks = ({ frameTicks: ticks }: Pick<Rendition, 'frameTicks'>): number =>
  ticks ?? AUDIO_FRAME_TICKS;

export const holdsFrame = ({ firstFrame, frames }: Pick<Chunk, 'firstFrame' | 'frames'>, frame: number): boolean =>
  firstFrame <= frame && frame < firstFrame + frames;

/**
 * Returns the ticks that an item plays: by its pictures on a video track, by its sound on an audio track. 0 when it cannot play
 * there.
 */
export function itemTicks(
  rendition: Pick<Rendition, 'frameTicks' | 'frames' | 'audioFrames'>,
  kind: TrackKind,
): number {
  if (kind === 'audio') return rendition.audioFrames * AUDIO_FRAME_TICKS;
  return countTicks(rendition.frames, rendition.frameTicks ?? 0);
}

/** Returns the largest known delay between decoding and showing a picture, in ticks. */
export const delayTicks = ({ chunks, frameTicks: ticks = 0 }: Rendition): number =>
  Math.max(0, ...chunks.map(({ video }) => countTicks(video?.delayFrames ?? 0, ticks)));
