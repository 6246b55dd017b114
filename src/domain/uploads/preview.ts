/**
 * Opens the preview of an upload: the beginning of a rendition. Previews have no rendition until a client asks for one. The
 * operator then prepares the first minute in a Job, and the sweep deletes it like all renditions that no stream uses.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '../../lib/errors.ts';
import { parseAs } from '../../lib/parse.ts';
import { indexKey, RenditionIndex } from '../../media/rendition/index.ts';
import { type Storage, StorageError } from '../../media/storage/storage.ts';
import { getPreviewState } from '../../resources/upload/requested.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { findRendition, PREVIEW_PROFILE, PREVIEW_SECONDS } from '../../resources/upload/spec.ts';

/** `1080p30` → 1080; 0 for the preview rendition, which is the smallest. */
const lines = (profile: string): number => Number.parseInt(profile, 10) || 0;

/** Returns the key of the smallest playable rendition. */
function findKey(upload: Upload): string | undefined {
  const ready = (upload.status?.renditions ?? [])
    .map(({ profile }) => findRendition(upload, profile))
    .filter((rendition) => rendition?.state === 'ready' && rendition.key !== undefined);
  return ready.sort((a, b) => lines(a?.profile ?? '') - lines(b?.profile ?? ''))[0]?.key;
}

/** Explains why an upload has no preview. */
function whyNot(upload: Upload): string {
  if (!upload.status?.media)
    return 'The file of the upload has not been read yet; `state` shows whether the import continues or failed.';
  if (getPreviewState(upload) !== 'failed')
    return 'The preview of the upload is being prepared; `preview` shows when it is ready.';
  return `The preview of the upload could not be prepared: ${findRendition(upload, PREVIEW_PROFILE)?.error?.message ?? ''}`.trimEnd();
}

/**
 * Returns the length of the preview. It ends in front of a keyframe, so that no picture is cut in two. Sound alone is cut anywhere.
 * Pure.
 */
export function previewBytes({ sizeBytes, durationSeconds, video }: RenditionIndex): number {
  if (durationSeconds <= PREVIEW_SECONDS) return sizeBytes;
  if (!video) return Math.ceil((sizeBytes * PREVIEW_SECONDS) / durationSeconds);
  const last = (PREVIEW_SECONDS * video.frameRateNum) / video.frameRateDen;
  return video.keyframes.find(({ frame }) => frame >= last)?.offset ?? sizeBytes;
}

/** Returns finite FLV. Throws `upload_not_prepared` if there is nothing to show yet, and `upstream_unavailable`. */
export async function openPreview(storage: Storage | undefined, upload: Upload): Promise<Readable> {
  const key = findKey(upload);
  if (!storage || key === undefined) throw new AppError('upload_not_prepared', whyNot(upload));
  try {
    const index = parseAs(RenditionIndex, await text(await storage.read(indexKey(key))));
    if (index) return await storage.read(key, { start: 0, end: previewBytes(index) });
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
