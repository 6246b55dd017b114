/**
 * Opens the preview of an upload: the beginning of a rendition. Previews have no rendition until a client asks for one. The
 * operator then prepares the first minute in a Job, and the sweep deletes it like all renditions that no stream uses.
 */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  AUDIO_SAMPLE_RATE,
  type Chunk,
  chunkKey,
  indexKey,
  parseIndex,
  type RenditionIndex,
  type RenditionIndexV1,
  SAMPLES_PER_FRAME,
} from '../../../core/pods/rendition/index.ts';
import { type Storage, StorageError } from '../../../core/pods/storage/storage.ts';
import { getPreviewState } from '../../../core/resources/upload/requested.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { findRendition, isPlain, PREVIEW_PROFILE, PREVIEW_SECONDS } from '../../../core/resources/upload/spec.ts';
import { AppError } from '../../lib/errors.ts';
import { type OpenPreview, STALL_MS } from '../limits/preview-places.ts';

/** Bytes that one preview reads ahead; a client that does not read leaves them in memory. */
const PIECE_BYTES = 64 * 1024;

/** `1080p30` → 1080; 0 for the preview rendition, which is the smallest. */
const lines = (profile: string): number => Number.parseInt(profile, 10) || 0;

/** Returns the key of the smallest playable rendition. Neither a sound is one, which shows nothing, nor a look, which shows what one stream adds. */
function findKey(upload: Upload): string | undefined {
  const ready = (upload.status?.renditions ?? [])
    .filter(({ profile }) => isPlain(profile))
    .map(({ profile }) => findRendition(upload, profile))
    .filter((rendition) => rendition?.state === 'ready' && rendition.key !== undefined);
  return ready.sort((a, b) => lines(a?.profile ?? '') - lines(b?.profile ?? ''))[0]?.key;
}

/** Explains why an upload has no preview. */
function whyNot(upload: Upload): string {
  if (upload.spec.track === 'image') return 'An image has no preview; its poster shows it.';
  if (!upload.status?.media)
    return 'The file of the upload has not been read yet; `state` shows whether the import continues or failed.';
  if (getPreviewState(upload) !== 'failed')
    return 'The preview of the upload is being prepared; `preview` shows when it is ready.';
  return `The preview of the upload could not be prepared: ${findRendition(upload, PREVIEW_PROFILE)?.error?.message ?? ''}`.trimEnd();
}

/** The first `end` bytes of an object. */
interface Part {
  key: string;
  end: number;
}

/**
 * Returns the parts of a rendition that are its preview. It ends in front of a keyframe, so that no picture is cut in two. Sound
 * alone is cut anywhere. Pure.
 */
export function previewParts(key: string, index: RenditionIndex | RenditionIndexV1): Part[] {
  const { video } = index;
  const rate = video ? video.frameRateNum / video.frameRateDen : AUDIO_SAMPLE_RATE / SAMPLES_PER_FRAME;
  const last = PREVIEW_SECONDS * rate;
  return listChunks(key, index)
    .filter(({ firstFrame }) => firstFrame < last)
    .map(({ firstFrame, frames, sizeBytes, keyframes, ...chunk }) => {
      const part = Math.min((last - firstFrame) / frames, 1);
      const end = keyframes ? keyframes.find(({ frame }) => frame >= last)?.offset : Math.ceil(part * sizeBytes);
      return { key: chunk.key, end: end ?? sizeBytes };
    });
}

interface PreviewChunk extends Pick<Chunk, 'firstFrame' | 'frames' | 'sizeBytes'> {
  key: string;
  /** Undefined for sound alone. */
  keyframes: NonNullable<Chunk['video']>['keyframes'] | undefined;
}

/** Lists the chunks of a rendition. One of an earlier release is a single chunk under its own key. */
function listChunks(key: string, index: RenditionIndex | RenditionIndexV1): PreviewChunk[] {
  if (index.version === 1) {
    const { video, audio, sizeBytes } = index;
    return [{ key, firstFrame: 0, frames: (video ?? audio)?.frames ?? 1, sizeBytes, keyframes: video?.keyframes }];
  }
  return index.chunks.map((chunk) => {
    const { firstFrame, frames, sizeBytes, video } = chunk;
    return { key: chunkKey(key, chunk, index.version), firstFrame, frames, sizeBytes, keyframes: video?.keyframes };
  });
}

/** Reads parts one after the other; the first one is there when it resolves. Rejects with StorageError. */
async function readParts(storage: Storage, [first, ...rest]: Part[]): Promise<OpenPreview> {
  if (!first) throw new StorageError('not_found', 'The rendition has no chunks.');
  const open = ({ key, end }: Part) => storage.read(key, { start: 0, end, pieceBytes: PIECE_BYTES });
  const opened = await open(first);
  let isOver = false;
  let stalled: NodeJS.Timeout | undefined;
  const read = async function* () {
    for (let part: Readable | undefined = opened, next = 0; part; ) {
      for await (const piece of part) {
        stalled = setTimeout(() => media.destroy(), STALL_MS);
        yield piece;
        clearTimeout(stalled);
        if (isOver) return;
      }
      const following: Part | undefined = rest[next++];
      part = following && (await open(following));
    }
  };
  const media = Readable.from(read(), { objectMode: false, highWaterMark: PIECE_BYTES });
  media.once('close', () => {
    clearTimeout(stalled);
    // A client may leave before it reads, and then the generator never runs.
    opened.destroy();
  });
  const end = () => {
    isOver = true;
  };
  return { media, end };
}

/** Returns finite FLV. Throws `upload_not_prepared` if there is nothing to show yet, and `upstream_unavailable`. */
export async function openPreview(storage: Storage | undefined, upload: Upload): Promise<OpenPreview> {
  const key = findKey(upload);
  if (!storage || key === undefined) throw new AppError('upload_not_prepared', whyNot(upload));
  try {
    const index = parseIndex(await text(await storage.read(indexKey(key))));
    if (index) return await readParts(storage, previewParts(key, index));
    throw new StorageError('not_found', 'The index of the rendition cannot be read.');
  } catch (cause) {
    // The sweep deleted it, because no stream uses it any more.
    if (cause instanceof StorageError && (cause.code === 'not_found' || cause.code === 'changed'))
      throw new AppError(
        'upload_not_prepared',
        'The preview of the upload was removed. Send the request again to prepare it.',
        { cause },
      );
    throw new AppError('upstream_unavailable', 'The media storage did not respond.', { cause });
  }
}
