/**
 * Computes the time of each frame of a rendition: frame i of the video at i / framerate, AAC frame j at j * 1024 /
 * 48000 seconds, in milliseconds rounded to the nearest. The rewriter puts frames there, the indexer proves it. Pure.
 */
import { AUDIO_SAMPLE_RATE, SAMPLES_PER_FRAME } from './format.ts';

export const AUDIO_FRAME_MS = (SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE;

/** Halves are rounded up, also where the division of an NTSC rate falls a little short of them. */
export const videoSlotMs = (frame: number, framerate: number): number =>
  Math.floor((frame * 1000) / framerate + 0.500001);

/** Returns the NTSC rate beside a whole one: 29.97 for 30. */
export const toNtsc = (framerate: number): number => (framerate * 1000) / 1001;

const NANOSECONDS = 1_000_000_000;

/**
 * Returns the frame rate whose frames take this long, rounded to a nanosecond: over ten hours of 60 frames a second, that
 * moves the last frame by a millisecond.
 */
export const fromFrameSeconds = (seconds: number): number => NANOSECONDS / Math.round(seconds * NANOSECONDS);

/** True for the rates of profiles: whole ones, and NTSC's beside them. */
export const isProfileRate = (framerate: number): boolean =>
  Number.isInteger(framerate) || framerate === toNtsc(Math.round(framerate * 1.001));

/** Returns a frame rate as an exact fraction: a whole one, NTSC's, or one of `fromFrameSeconds`. */
export function toFraction(framerate: number): [number, number] {
  if (Number.isInteger(framerate)) return [framerate, 1];
  if (isProfileRate(framerate)) return [Math.round(framerate * 1.001) * 1000, 1001];
  return [NANOSECONDS, Math.round(NANOSECONDS / framerate)];
}

export const audioSlotMs = (frame: number): number =>
  Math.round((frame * SAMPLES_PER_FRAME * 1000) / AUDIO_SAMPLE_RATE);

/** Returns the number of AAC frames as long as this many frames of video, to half an AAC frame. */
export const audioFramesFor = (videoFrames: number, framerate: number): number =>
  Math.max(1, Math.round((videoFrames * AUDIO_SAMPLE_RATE) / (framerate * SAMPLES_PER_FRAME)));

/** The result breaks a promise of the rendition format; the message names it. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError';
}

/** A track of the source has another format from some place on. */
export class FormatChangeError extends BrokenPromiseError {}
