/** Reads and checks the index of a rendition. An item plays only after its index was found valid. */

import type { ProgramItem } from '../../../resources/stream/program.ts';
import {
  compositionTimeMs,
  FLV_HEADER_BYTES,
  type FlvTag,
  isKeyframe,
  TAG_HEADER_BYTES,
  TAG_VIDEO,
} from '../../rendition/flv.ts';
import { indexKey } from '../../rendition/format.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import { isStorageKey } from '../../storage/key.ts';
import type { Storage } from '../../storage/storage.ts';
import { frameTicks, itemTicks, TICKS_PER_SECOND } from '../timeline/ticks.ts';
import { isRenditionIndex } from './document-shape.ts';

export type TrackKind = 'video' | 'audio';

/** The reason why an item cannot be played. */
export class ItemError extends Error {
  /**
   * `item_missing`: there is no rendition under this key. `item_invalid`: its index or its bytes are wrong.
   * `storage_unavailable`: the storage did not answer.
   */
  readonly code: 'item_missing' | 'item_invalid' | 'storage_unavailable';
  constructor(code: ItemError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ItemError';
    this.code = code;
  }
}

/** Ten hours of keyframes are 1 MB of JSON. */
const MAX_INDEX_BYTES = 16 * 2 ** 20;

async function readAll(storage: Storage, key: string, range: { start?: number; end?: number }, signal?: AbortSignal) {
  const chunks: Buffer[] = [];
  for await (const chunk of await storage.read(key, range, signal)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function itemError(error: unknown): ItemError {
  if (error instanceof ItemError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'not_found') return new ItemError('item_missing', 'The rendition is not in the storage.', error);
  if (code === 'changed') return new ItemError('item_invalid', 'The rendition was replaced while it was read.', error);
  return new ItemError('storage_unavailable', 'The storage did not return the rendition.', error);
}

function parse(json: string): RenditionIndex {
  let index: unknown;
  try {
    index = JSON.parse(json);
  } catch (error) {
    throw new ItemError('item_invalid', 'The index is not JSON.', error);
  }
  if (!isRenditionIndex(index)) throw new ItemError('item_invalid', 'The index has an unexpected structure.');
  return index;
}

/** Checks rules that the schema cannot express: the numbers must fit each other. */
function checkSense(index: RenditionIndex, kind: TrackKind): void {
  const invalid = (message: string) => new ItemError('item_invalid', message);
  if (!index[kind]) throw invalid(`The rendition has no ${kind}.`);
  if (itemTicks(index, kind) <= 0) throw invalid('The frame rate does not fit the timeline.');
  let before = { frame: -1, offset: FLV_HEADER_BYTES - 1 };
  for (const keyframe of index.video?.keyframes ?? []) {
    if (keyframe.frame <= before.frame || keyframe.offset <= before.offset || keyframe.offset >= index.sizeBytes)
      throw invalid('The keyframes are not in order.');
    before = keyframe;
  }
  if (index.video && (index.video.keyframes[0]?.frame !== 0 || before.frame >= index.video.frames))
    throw invalid('The keyframes do not cover the video frames.');
}

/** Rejects with ItemError. */
export const loadIndex = async (storage: Storage, item: ProgramItem, kind: TrackKind, signal?: AbortSignal) =>
  (await loadRendition(storage, item, kind, signal)).index;

/**
 * Returns the index and the version of the file that it describes; readers must read that version. Rejects with
 * ItemError.
 */
export async function loadRendition(
  storage: Storage,
  item: ProgramItem,
  kind: TrackKind,
  signal?: AbortSignal,
): Promise<{ index: RenditionIndex; version: string }> {
  try {
    if (!isStorageKey(item.rendition)) throw new ItemError('item_invalid', 'The item has no valid storage key.');
    const key = indexKey(item.rendition);
    const head = await storage.head(key);
    if (!head) throw new ItemError('item_missing', 'The rendition has no index in the storage.');
    if (head.sizeBytes > MAX_INDEX_BYTES) throw new ItemError('item_invalid', 'The index is too large.');
    const index = parse((await readAll(storage, key, {}, signal)).toString());
    checkSense(index, kind);
    const media = await storage.head(item.rendition);
    if (!media) throw new ItemError('item_missing', 'The rendition is not in the storage.');
    if (media.sizeBytes !== index.sizeBytes)
      throw new ItemError('item_invalid', 'The size of the rendition differs from its index.');
    return { index, version: media.version };
  } catch (error) {
    throw itemError(error);
  }
}

/**
 * Returns the frames between decoding and showing the first picture. Rejects with ItemError when the index names a
 * place without a keyframe.
 */
export async function loadDelay(
  storage: Storage,
  item: ProgramItem,
  index: RenditionIndex,
  signal?: AbortSignal,
): Promise<number> {
  const start = index.video?.keyframes[0]?.offset;
  if (start === undefined || !index.video) return 0;
  try {
    const bytes = await readAll(storage, item.rendition, { start, end: start + TAG_HEADER_BYTES + 6 }, signal);
    const tag: Pick<FlvTag, 'type' | 'body'> = { type: TAG_VIDEO, body: bytes.subarray(TAG_HEADER_BYTES) };
    if (bytes[0] !== TAG_VIDEO || !isKeyframe(tag))
      throw new ItemError('item_invalid', 'The rendition has no keyframe at the position in its index.');
    const ticks = frameTicks(index.video.frameRateNum, index.video.frameRateDen) ?? 1;
    return Math.max(0, Math.round((compositionTimeMs(tag) * TICKS_PER_SECOND) / 1000 / ticks));
  } catch (error) {
    throw itemError(error);
  }
}
