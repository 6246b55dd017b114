/**
 * What an upload looks like: the beginning of what was prepared of it, as it would go on air. Nothing is made for it, so there
 * is something to see once a stream has asked for the upload to be prepared.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '../errors.ts';
import type { Upload } from '../kube/resources.ts';
import { parseAs } from '../parse.ts';
import { indexKey, RenditionIndex } from '../rendition/index.ts';
import { type Storage, StorageError } from '../storage/storage.ts';
import { renditionOf } from './spec.ts';

/** Enough to know it again, in seconds. */
const PREVIEW_SECONDS = 60;

/** `1080p30` → 1080. */
const lines = (profile: string): number => Number.parseInt(profile, 10) || 0;

/** Key of the smallest rendition that can be played. */
function keyOf(upload: Upload): string | undefined {
  const ready = (upload.status?.renditions ?? [])
    .map(({ profile }) => renditionOf(upload, profile))
    .filter((rendition) => rendition?.state === 'ready' && rendition.key !== undefined);
  return ready.sort((a, b) => lines(a?.profile ?? '') - lines(b?.profile ?? ''))[0]?.key;
}

/** Where the preview ends: in front of a keyframe, so that no picture is cut in two. Sound alone is cut anywhere. Pure. */
export function previewBytes({ sizeBytes, durationSeconds, video }: RenditionIndex): number {
  if (durationSeconds <= PREVIEW_SECONDS) return sizeBytes;
  if (!video) return Math.ceil((sizeBytes * PREVIEW_SECONDS) / durationSeconds);
  const last = (PREVIEW_SECONDS * video.frameRateNum) / video.frameRateDen;
  return video.keyframes.find(({ frame }) => frame >= last)?.offset ?? sizeBytes;
}

/** FLV that ends. Throws `upload_not_prepared` where there is nothing to see yet, and `upstream_unavailable`. */
export async function openPreview(storage: Storage | undefined, upload: Upload): Promise<Readable> {
  const key = keyOf(upload);
  if (!storage || key === undefined)
    throw new AppError('upload_not_prepared', 'Nothing of this upload has been prepared yet.');
  try {
    const index = parseAs(RenditionIndex, await text(await storage.read(indexKey(key))));
    if (index) return await storage.read(key, { start: 0, end: previewBytes(index) });
    throw new StorageError('not_found', 'The index of the rendition cannot be read.');
  } catch (cause) {
    // It was cleared away, because no stream asks for it any more.
    if (cause instanceof StorageError && (cause.code === 'not_found' || cause.code === 'changed'))
      throw new AppError('upload_not_prepared', 'What was prepared of this upload is gone.', { cause });
    throw new AppError('upstream_unavailable', 'The media storage did not answer.', { cause });
  }
}
