/** Reads the poster of an upload: a small picture that its import has put into storage. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type Storage, StorageError } from '../../../core/pods/storage/storage.ts';
import { findPoster, isPoster, MAX_POSTER_BYTES } from '../../../core/resources/upload/poster.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { AppError } from '../../lib/errors.ts';

export interface Poster {
  bytes: Buffer;
  /** Its entity tag (RFC 9110, section 8.8.3). */
  tag: string;
}

const VERSION_DIGITS = 12;

const hash = (of: string | Buffer): string => createHash('sha256').update(of).digest('hex').slice(0, VERSION_DIGITS);

/** Names what is under a storage key: the keys of two pictures differ. */
export const nameVersion = (key: string): string => hash(key);

/** Throws `upload_has_no_poster`, also where the object is no picture, and `upstream_unavailable`. */
export async function readPoster(storage: Storage | undefined, upload: Upload): Promise<Poster> {
  const key = findPoster(upload);
  const bytes = storage && key !== undefined && (await readBytes(storage, key));
  // The Job that wrote it opened a stranger's file, which may have taken it over.
  if (!bytes || !isPoster(bytes)) throw new AppError('upload_has_no_poster');
  return { bytes, tag: `"${hash(bytes)}"` };
}

async function readBytes(storage: Storage, key: string): Promise<Buffer | undefined> {
  try {
    const object = await storage.head(key);
    if (!object || object.sizeBytes > MAX_POSTER_BYTES) return undefined;
    return await buffer(await storage.read(key, { end: object.sizeBytes, version: object.version }));
  } catch (cause) {
    if (cause instanceof StorageError && (cause.code === 'not_found' || cause.code === 'changed')) return undefined;
    throw new AppError('upstream_unavailable', 'The media storage did not respond.', { cause });
  }
}
