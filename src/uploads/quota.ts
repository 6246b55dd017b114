/** How much an account may keep: uploads and their bytes. */
import type { Owned } from '../account/owned.ts';
import type { Leases } from '../db/leases.ts';
import { AppError } from '../errors.ts';
import type { Upload as Resource } from '../kube/resources.ts';

export interface UploadQuota {
  count: number;
  bytes: number;
}

/** Who waits longer for his turn than a few writes take is told so. */
const PATIENCE_MS = 15_000;
/** How long what another server has made may take to be seen here. */
const SEEN_MS = 1_000;

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

/** Each piece of work after the one before it that has the same name. */
function createQueues() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.catch(() => undefined).then(work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}

/**
 * Answers a function that makes an upload of so many bytes if the account may have it. One after the other for each account,
 * so that many requests at once cannot all take the last place: here by a queue, over all servers by a lease. Its note says
 * what was made last, so that the next one waits until he knows of it. The size of a link's file is not known beforehand
 * (`wanted` is 1): `make` is told how large it may be.
 */
export function createQuota(
  uploads: Pick<Owned<Resource>, 'list' | 'earlier' | 'caughtUp'>,
  quota: UploadQuota,
  leases: Leases,
) {
  const inTurn = createQueues();

  const takeTurn = async (accountId: string) => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      return await leases.take(`quota ${accountId}`, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new AppError('upstream_unavailable', 'Other uploads of this account are being begun; try again.');
    }
  };

  return (accountId: string, wanted: number, make: (left: number) => Promise<Resource>): Promise<Resource> =>
    inTurn(accountId, async () => {
      const lease = await takeTurn(accountId);
      let note = lease.note;
      try {
        const [name, resourceVersion] = note?.split(' ') ?? [];
        if (name && resourceVersion) await uploads.caughtUp({ name, resourceVersion }, SEEN_MS);
        // What an earlier try of this request has made is in its place already.
        const mine = uploads.earlier(accountId);
        const others = uploads.list(accountId).filter((upload) => upload !== mine);
        const made = await make(bytesLeft(others, quota, wanted));
        note = `${made.metadata.name} ${made.metadata.resourceVersion}`;
        return made;
      } finally {
        await lease.release(note);
      }
    });
}

export type Within = ReturnType<typeof createQuota>;
