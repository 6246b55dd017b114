/**
 * Holds the numbers and names of the rendition format; index.ts describes the rest. They stand apart so that the pod that
 * plays a rendition does not load the schema library, which takes more memory than everything else in that process.
 * Pure: no I/O, no clock.
 */

/** Streamers of a release without OWN_RATE_VERSION read up to this one. */
export const INDEX_VERSION = 3;
/** The same at a frame rate of its own (frame-times.ts, `isProfileRate`). */
export const OWN_RATE_VERSION = 4;
export const AUDIO_SAMPLE_RATE = 48_000;
/** Samples in an AAC-LC frame (ISO/IEC 14496-3). */
export const SAMPLES_PER_FRAME = 1024;

/** Longest time between two keyframes: YouTube's limit (support.google.com/youtube/answer/2853702). */
export const MAX_GOP_SECONDS = 4;

/** A chunk of a copy ends in front of the first keyframe after this time, so that a stream can begin before the rest is prepared. */
export const CHUNK_SECONDS = 30;

/** Chunks that one Job makes of a rendition that several encode: about five minutes. */
export const RANGE_CHUNKS = 20;

/** A card: its pictures and their silence. A streamer keeps two in memory. */
export const MAX_CARD_BYTES = 1_000_000;

/** Digits that keep keys in the order of the frames: ten hours at 60 frames a second have seven. */
const DIGITS = 9;
/** Digits of a chunk's hash in its key. */
const HASH_DIGITS = 16;
/** Groups: the key of the rendition, the first frame of the chunk; behind them its hash, or `.json` for its entry. */
const CHUNK_KEY = /^(.+)\.(\d{9})(?:\.json|\.[0-9a-f]{16})?$/;

export const indexKey = (renditionKey: string): string => `${renditionKey}.json`;

/** Returns the key of the plan by which Jobs make parts of a rendition; it is there while they do. */
export const planKey = (renditionKey: string): string => `${renditionKey}${PLAN_SUFFIX}`;
const PLAN_SUFFIX = '.plan.json';

/** Returns the rendition of an index or a plan; any other key as it is. */
export const stripSuffix = (key: string): string =>
  key.endsWith(PLAN_SUFFIX) ? key.slice(0, -PLAN_SUFFIX.length) : key.replace(/\.json$/, '');

const frameKey = (renditionKey: string, firstFrame: number): string =>
  `${renditionKey}.${String(firstFrame).padStart(DIGITS, '0')}`;

/**
 * Returns the key of a chunk. It names the content, so an entry or an index never refers to another one. Until version 2 it had the
 * first frame alone.
 */
export function chunkKey(
  renditionKey: string,
  { firstFrame, sha256 }: { firstFrame: number; sha256: string },
  version: number = INDEX_VERSION,
): string {
  const key = frameKey(renditionKey, firstFrame);
  return version < 3 ? key : `${key}.${sha256.slice(0, HASH_DIGITS)}`;
}

/** Returns the key of the entry of the chunk that begins with frame `firstFrame`. */
export const entryKey = (renditionKey: string, firstFrame: number): string =>
  `${frameKey(renditionKey, firstFrame)}.json`;

/**
 * Ranks keys for deletion: an index says that a rendition is complete, a plan that it can be continued, and an entry that its chunk is
 * there, so what others rely on goes last.
 */
export function rankDeletion(key: string): number {
  const chunk = parseChunkKey(key);
  if (chunk) return chunk.isEntry ? 1 : 2;
  return key.endsWith('.json') ? 0 : 2;
}

/** Reads the key of a chunk or of its entry; undefined for any other key. */
export function parseChunkKey(key: string): { renditionKey: string; firstFrame: number; isEntry: boolean } | undefined {
  const [, renditionKey, digits] = CHUNK_KEY.exec(key) ?? [];
  if (renditionKey === undefined) return undefined;
  return { renditionKey, firstFrame: Number(digits), isEntry: key.endsWith('.json') };
}
