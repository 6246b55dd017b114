/** Computes how long a source plays: the chosen track that ends last decides. Pure: no I/O, no clock. */
import { beyondPadding } from './padding.ts';
import type { Scan } from './source.ts';

export interface Extent {
  /** The time on the source's line that becomes zero. */
  startSeconds: number;
  seconds: number;
  /** Seconds that the first and the last picture are held while there is sound. */
  heldBeforeSeconds: number;
  heldAfterSeconds: number;
}

/** Computes the extent of the tracks in `scan`, or of the sound alone without pictures. */
export function computeExtent({ video, audio, decodedSeconds }: Scan): Extent {
  const one = video ?? audio;
  if (!one) return { startSeconds: 0, seconds: 0, heldBeforeSeconds: 0, heldAfterSeconds: 0 };
  const heldBeforeSeconds = video && audio ? beyondPadding(video.startSeconds - audio.startSeconds) : 0;
  const heldAfterSeconds = video && audio ? beyondPadding(audio.endSeconds - video.endSeconds) : 0;
  const startSeconds = one.startSeconds - heldBeforeSeconds;
  const shown = Math.max(0, one.endSeconds + heldAfterSeconds - startSeconds);
  return {
    startSeconds,
    seconds: video ? shown : (decodedSeconds ?? shown),
    heldBeforeSeconds,
    heldAfterSeconds,
  };
}
