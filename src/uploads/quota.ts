/** How much an account may keep: uploads and their bytes. */
import type { Owned } from '../account/owned.ts';
import { AppError } from '../errors.ts';
import type { Upload as Resource } from '../kube/resources.ts';

export interface UploadQuota {
  count: number;
  bytes: number;
}

/** Bytes that an upload counts for: those it has, or is going to have. One that came to nothing has none. */
function countedBytes({ spec, status }: Resource): number {
  if (status?.media) return status.media.sizeBytes;
  return status?.error ? 0 : (spec.source.sent?.sizeBytes ?? 0);
}

/** How many bytes the account may add. Throws `upload_quota_exceeded` when that is less than `wanted`. */
function bytesLeft(uploads: readonly Resource[], { count, bytes }: UploadQuota, wanted: number): number {
  const advice = 'delete uploads that are no longer needed.';
  if (uploads.length >= count)
    throw new AppError(
      'upload_quota_exceeded',
      `This account may keep ${count} uploads and has ${uploads.length}: ${advice}`,
    );
  const left = bytes - uploads.reduce((sum, upload) => sum + countedBytes(upload), 0);
  if (left >= wanted) return left;
  const detail = `This account may keep ${bytes} bytes of uploads and has room for ${Math.max(0, left)} more: ${advice}`;
  throw new AppError('upload_quota_exceeded', detail);
}

/**
 * Answers a function that makes an upload of so many bytes if the account may have it. One after the other for each account,
 * so that many requests at once cannot all take the last place; another server's are seen a moment later. The size of a link's
 * file is not known beforehand (`wanted` is 1): `make` is told how large it may be.
 */
export function createQuota(uploads: Pick<Owned<Resource>, 'list'>, quota: UploadQuota) {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(accountId: string, wanted: number, make: (left: number) => Promise<T>): Promise<T> => {
    const before = last.get(accountId) ?? Promise.resolve();
    const mine = before.catch(() => undefined).then(() => make(bytesLeft(uploads.list(accountId), quota, wanted)));
    last.set(accountId, mine);
    try {
      return await mine;
    } finally {
      if (last.get(accountId) === mine) last.delete(accountId);
    }
  };
}

export type Within = ReturnType<typeof createQuota>;
