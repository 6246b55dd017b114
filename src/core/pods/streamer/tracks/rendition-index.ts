/**
 * Reads and checks what the storage says about a rendition: its index, or the entries of its chunks while it is being
 * prepared. An item plays only after that was found valid.
 */

import { TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import type { ProgramItem } from '../../../resources/stream/playing.ts';
import { compositionTimeMs, type FlvTag, isKeyframe, TAG_HEADER_BYTES, TAG_VIDEO } from '../../rendition/flv.ts';
import { entryKey, indexKey, parseChunkKey } from '../../rendition/format.ts';
import type { RenditionIndexV1 } from '../../rendition/index.ts';
import { isStorageKey } from '../../storage/key.ts';
import { type ReadRange, type Storage, StorageError } from '../../storage/storage.ts';
import { frameAt, frameTicks } from '../timeline/ticks.ts';
import { isChunkEntry, isRenditionIndex, isRenditionIndexV1 } from './document-shape.ts';
import { ItemError, itemError } from './item-error.ts';
import {
  chunkFrameTicks,
  holdsFrame,
  itemTicks,
  type Rendition,
  readEntry,
  readIndex,
  readIndexV1,
  type TrackKind,
} from './rendition.ts';

/** Ten hours of keyframes are 3 MB of JSON. */
const MAX_INDEX_BYTES = 16 * 2 ** 20;
/** A minute of keyframes is 6 kB of JSON. */
const MAX_ENTRY_BYTES = 2 ** 20;
/** Chunks that a listing may lack: half an hour of them. */
const MAX_UNLISTED = 64;

async function readAll(storage: Storage, key: string, range: ReadRange, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await storage.read(key, range, signal)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export interface LoadOptions {
  /** Position in the item that is wanted first. */
  offsetTicks?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a rendition. Of one that is still being prepared, it returns the chunk that holds the wanted position, or the first one
 * while that part is not prepared. Rejects with ItemError.
 */
export async function loadRendition(
  storage: Storage,
  { rendition: key }: ProgramItem,
  kind: TrackKind,
  { offsetTicks = 0, signal }: LoadOptions = {},
): Promise<Rendition> {
  try {
    if (!isStorageKey(key)) throw new ItemError('item_invalid', 'The item has no valid storage key.');
    const rendition = await findRendition(storage, key, offsetTicks, signal);
    if (!rendition) throw new ItemError('item_missing', 'The rendition has no index in the storage.');
    if (itemTicks(rendition, kind) <= 0) throw new ItemError('item_invalid', `The rendition has no ${kind}.`);
    return rendition;
  } catch (error) {
    throw itemError(error);
  }
}

async function findRendition(storage: Storage, key: string, offsetTicks: number, signal?: AbortSignal) {
  const unanswered = (error: unknown) => {
    if (itemError(error).code !== 'storage_unavailable') throw error;
    return error as Error;
  };
  const complete = await findIndex(storage, key, signal).catch(unanswered);
  if (complete && !(complete instanceof Error)) return complete;
  // Only an answer can say that there is no index. Without one, a cache may still have the entries.
  const growing = await findGrowing(storage, key, offsetTicks, signal).catch((error: unknown) => {
    throw complete ?? error;
  });
  if (!growing && complete) throw complete;
  return growing;
}

/** Reads the index of a complete rendition; undefined without one. Rejects with ItemError and StorageError. */
export async function findIndex(storage: Storage, key: string, signal?: AbortSignal): Promise<Rendition | undefined> {
  const head = await storage.head(indexKey(key));
  if (!head) return undefined;
  if (head.sizeBytes > MAX_INDEX_BYTES) throw new ItemError('item_invalid', 'The index is too large.');
  const index = await readJson(storage, indexKey(key), {}, signal);
  if (isRenditionIndex(index)) return readIndex(key, index);
  if (!isRenditionIndexV1(index)) {
    await storage.discard?.(indexKey(key));
    throw new ItemError('item_invalid', 'The index has an unexpected structure.');
  }
  const rendition = readIndexV1(key, index, await readDelay(storage, key, index, signal));
  const media = await storage.head(key);
  if (!media) throw new ItemError('item_missing', 'The rendition is not in the storage.');
  if (media.sizeBytes !== index.sizeBytes)
    throw new ItemError('item_invalid', 'The size of the rendition differs from its index.');
  return rendition;
}

/**
 * Reads the entry of the chunk that begins with a frame; undefined without one, or while its chunk is not there: a storage may show the
 * entry before it. Rejects as findIndex does.
 */
export async function findEntry(
  storage: Storage,
  key: string,
  firstFrame: number,
  signal?: AbortSignal,
): Promise<Rendition | undefined> {
  const name = entryKey(key, firstFrame);
  let entry: unknown;
  try {
    entry = await readJson(storage, name, { end: MAX_ENTRY_BYTES }, signal);
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not_found') return undefined;
    throw error;
  }
  if (isChunkEntry(entry) && entry.chunk.firstFrame === firstFrame) {
    const rendition = readEntry(key, entry);
    const [chunk] = rendition.chunks;
    return chunk && (await storage.head(chunk.key)) ? rendition : undefined;
  }
  await storage.discard?.(name);
  throw new ItemError('item_invalid', 'The entry of a chunk has an unexpected structure.');
}

/** Reads the chunk of a growing rendition that holds the wanted position, otherwise the first one. */
async function findGrowing(storage: Storage, key: string, offsetTicks: number, signal?: AbortSignal) {
  const first = await findEntry(storage, key, 0, signal);
  if (!first) return undefined;
  const wanted = frameAt(offsetTicks, chunkFrameTicks(first));
  const holds = ({ chunks }: Rendition) => chunks.some((chunk) => holdsFrame(chunk, wanted));
  if (holds(first)) return first;
  // Without a listing (a cache has none while the storage is away), the entries are followed from the first one on.
  const nearest = await findListed(storage, key, wanted).catch(() => 0);
  // A listing may be old. The chunks that it lacks follow each other.
  for (let at = nearest, step = 0; step < MAX_UNLISTED; step++) {
    const entry = await findEntry(storage, key, at, signal);
    const chunk = entry?.chunks[0];
    if (!entry || !chunk) return first;
    if (holds(entry)) return entry;
    at = chunk.firstFrame + chunk.frames;
  }
  return first;
}

/** Returns the first frame of the last listed chunk that begins at or before a frame. */
async function findListed(storage: Storage, key: string, frame: number): Promise<number> {
  let nearest = 0;
  for await (const name of storage.list(`${key}.`)) {
    const found = parseChunkKey(name);
    if (found?.renditionKey === key && found.isEntry && found.firstFrame <= frame)
      nearest = Math.max(nearest, found.firstFrame);
  }
  return nearest;
}

async function readJson(storage: Storage, key: string, range: ReadRange, signal?: AbortSignal): Promise<unknown> {
  const bytes = await readAll(storage, key, range, signal);
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    await storage.discard?.(key);
    throw new ItemError('item_invalid', 'The index is not JSON.', error);
  }
}

/** Reads the delay of the pictures from the first of them: indexes of earlier releases do not say it. */
async function readDelay(
  storage: Storage,
  key: string,
  { video }: RenditionIndexV1,
  signal?: AbortSignal,
): Promise<number> {
  const start = video?.keyframes[0]?.offset;
  if (start === undefined || !video) return 0;
  const bytes = await readAll(storage, key, { start, end: start + TAG_HEADER_BYTES + 6 }, signal);
  const tag: Pick<FlvTag, 'type' | 'body'> = { type: TAG_VIDEO, body: bytes.subarray(TAG_HEADER_BYTES) };
  if (bytes[0] !== TAG_VIDEO || !isKeyframe(tag))
    throw new ItemError('item_invalid', 'The rendition has no keyframe at the position in its index.');
  const ticks = frameTicks(video.frameRateNum, video.frameRateDen) ?? 1;
  return Math.max(0, Math.round((compositionTimeMs(tag) * TICKS_PER_SECOND) / 1000 / ticks));
}
