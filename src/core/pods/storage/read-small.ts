/** Reads small objects that other programs of this service write. */
import { text } from 'node:stream/consumers';
import { type Storage, StorageError } from './storage.ts';

/** Such an object is far smaller; another object below its key is not read. */
const MAX_BYTES = 64 * 1024;

/** Returns the text of an object; undefined where there is none, or a large one. Rejects with StorageError. */
export async function readSmall(storage: Storage, key: string): Promise<string | undefined> {
  const object = await storage.head(key);
  if (!object || object.sizeBytes > MAX_BYTES) return undefined;
  try {
    return await text(await storage.read(key));
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not_found') return undefined;
    throw error;
  }
}
