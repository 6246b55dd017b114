/** Reads the source of a rendition from storage, and notices when it is not the one that was imported. */
import { type Storage, StorageError } from '../../storage/storage.ts';
import { PrepareError } from '../failure/failure.ts';

interface Imported {
  sourceKey: string;
  /** Size of the file that was imported, where it is known. */
  sizeBytes?: number | undefined;
}

/**
 * Runs `use` with the path of a local file that holds the source. Rejects with what `use` throws, or with PrepareError where the source
 * has lost bytes. Rejects with StorageError `not_found` or `changed` where it is deleted or replaced meanwhile, whatever `use` made of that.
 */
export async function withSource<T>(
  storage: Storage,
  { sourceKey, sizeBytes }: Imported,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const before = await storage.head(sourceKey);
  if (before && sizeBytes !== undefined && before.sizeBytes !== sizeBytes) {
    const detail = `Its source in the media storage has ${before.sizeBytes} of ${sizeBytes} bytes.`;
    throw new PrepareError('prepare_failed', detail);
  }
  const check = async () => {
    const after = await storage.head(sourceKey);
    if (!after) throw new StorageError('not_found', `Object ${sourceKey} does not exist.`);
    if (after.version !== before?.version)
      throw new StorageError('changed', 'The source was replaced while it was read.');
  };
  const [made] = await Promise.allSettled([storage.withLocalFile(sourceKey, use)]);
  if (made.status === 'fulfilled' || !(made.reason instanceof StorageError)) await check();
  if (made.status === 'rejected') throw made.reason;
  return made.value;
}
