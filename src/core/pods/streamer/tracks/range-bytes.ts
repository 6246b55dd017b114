/** Chooses how many bytes of an item are read at once. Pure: no I/O, no clock. */
import { TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import { chunkFrameTicks, type Rendition } from './rendition.ts';

const MIN_RANGE_BYTES = 256 * 1024;
/** Three seconds of sound alone, of which an item may need one more track. */
const SOUND_RANGE_BYTES = MIN_RANGE_BYTES / 4;
/** Half a second of the largest profile. A track of it holds 6 MiB then. */
const MAX_RANGE_BYTES = 8 * MIN_RANGE_BYTES;
/** The least part of a second in a read, which takes four turns of another thread. */
const MIN_SECONDS = 0.8;

/**
 * Returns about a second of what is known of a rendition, within limits. A block of memory has this size, and a track holds three of
 * them, so a quiet picture takes less memory than its profile allows for.
 */
export function chooseRangeBytes(rendition: Pick<Rendition, 'frameTicks' | 'chunks'>): number {
  const { chunks } = rendition;
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
  const frames = chunks.reduce((sum, chunk) => sum + chunk.frames, 0);
  const wanted = (MIN_SECONDS * TICKS_PER_SECOND * sizeBytes) / (frames * chunkFrameTicks(rendition));
  let bytes = rendition.frameTicks === undefined ? SOUND_RANGE_BYTES : MIN_RANGE_BYTES;
  while (bytes < Math.min(wanted, MAX_RANGE_BYTES)) bytes *= 2;
  return bytes;
}
