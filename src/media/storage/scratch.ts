/** Files on a local disk for as long as they are worked on. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from './storage.ts';

/** Readable by the group: the decoder of a Job has another user. */
const DIRECTORY_MODE = 0o750;

/**
 * Runs `use` with a path at which nothing is yet, in a directory of its own below `directory`. Nothing stays behind. Rejects with
 * StorageError `unavailable` where there can be no directory, or `full` where `use` found no room.
 */
export async function withScratchFile<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(directory, 'loopstream-')).catch((error: unknown) => {
    throw new StorageError('unavailable', 'The scratch directory cannot be used.', error);
  });
  try {
    await chmod(own, DIRECTORY_MODE);
    return await use(join(own, 'object'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    throw new StorageError('full', 'There is no room left in the scratch directory.', error);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
