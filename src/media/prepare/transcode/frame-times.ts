/**
 * Where each frame of a rendition stands: frame i of the video at i / framerate, AAC frame j at j * 1024 / 48000 seconds,
 * in milliseconds rounded to the nearest. The writer puts frames there, the index proves that they are there. Pure.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from '../../rendition/index.ts';

export const AUDIO_FRAME_MS = (SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE;

export const videoSlotMs = (frame: number, framerate: number): number => Math.round((frame * 1000) / framerate);
export const audioSlotMs = (frame: number): number =>
  Math.round((frame * SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE);

/** AAC frames that are as long as this many frames of video, to half an AAC frame. */
export const audioFramesFor = (videoFrames: number, framerate: number): number =>
  Math.max(1, Math.round((videoFrames * AUDIO_SAMPLE_RATE) / (framerate * SAMPLES_PER_FRAME)));

/** What was made does not keep a promise of the rendition format; the message says which. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError';
}
