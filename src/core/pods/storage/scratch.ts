/** Creates files on a local disk that exist only while they are in use. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from './storage.ts';

/** The group may read: the decoder of a Job has another user. */
const DIRECTORY_MODE = 0o750;

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
const full = (error: unknown) => new StorageError('full', 'The scratch directory is full.', error);

/**
 * Runs `use` with an unused path in a new directory below `directory`, and removes both afterwards. Rejects with
 * StorageError `unavailable` if the directory cannot be made, or `full` if it or `use` finds no room.
 */
export async function withScratchFile<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(directory, 'loopstream-')).catch((error: unknown) => {
    if (isFull(error)) throw full(error);
    throw new StorageError(
      'unavailable',
      'The scratch directory cannot be read or written. Check its volume and its permissions.',
      error,
    );
  });
  try {
    await chmod(own, DIRECTORY_MODE);
    return await use(join(own, 'object'));
  } catch (error) {
    throw isFull(error) ? full(error) : error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
