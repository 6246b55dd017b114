/** How long a source plays: the tracks that are chosen decide, and of these the one that ends last. Pure: no I/O, no clock. */
import type { Scan } from './source.ts';

/**
 * Sound that is longer or earlier by less is padding of its codec, or what cameras and editors leave over: the pictures decide, and
 * may be copied.
 */
const PADDING_SECONDS = 0.15;

export interface Extent {
  /** The time, on the source's line, that becomes zero. */
  startSeconds: number;
  seconds: number;
  /** How long the first and the last picture stand beyond their time while there is sound. */
  heldBeforeSeconds: number;
  heldAfterSeconds: number;
}

const beyond = (seconds: number): number => (seconds > PADDING_SECONDS ? seconds : 0);

/** The extent of the tracks in `scan`; that of the sound alone where there are no pictures. */
export function computeExtent({ video, audio, decodedSeconds }: Scan): Extent {
  const one = video ?? audio;
  if (!one) return { startSeconds: 0, seconds: 0, heldBeforeSeconds: 0, heldAfterSeconds: 0 };
  const heldBeforeSeconds = video && audio ? beyond(video.startSeconds - audio.startSeconds) : 0;
  const heldAfterSeconds = video && audio ? beyond(audio.endSeconds - video.endSeconds) : 0;
  const startSeconds = one.startSeconds - heldBeforeSeconds;
  const shown = Math.max(0, one.endSeconds + heldAfterSeconds - startSeconds);
  return {
    startSeconds,
    seconds: video ? shown : (decodedSeconds ?? shown),
    heldBeforeSeconds,
    heldAfterSeconds,
  };
}
