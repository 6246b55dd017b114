/**
 * Computes the time of each frame of a rendition: frame i of the video at i / framerate, AAC frame j at j * 1024 /
 * 48000 seconds, in milliseconds rounded to the nearest. The rewriter puts frames there, the indexer proves it. Pure.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/index.ts';

export const AUDIO_FRAME_MS = (SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE;

export const videoSlotMs = (frame: number, framerate: number): number => Math.round((frame * 1000) / framerate);
export const audioSlotMs = (frame: number): number =>
  Math.round((frame * SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE);

/** Returns the number of AAC frames as long as this many frames of video, to half an AAC frame. */
export const audioFramesFor = (videoFrames: number, framerate: number): number =>
  Math.max(1, Math.round((videoFrames * AUDIO_SAMPLE_RATE) / (framerate * SAMPLES_PER_FRAME)));

/** The result breaks a promise of the rendition format; the message names it. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError';
}
