/** Joins the uploaded pieces in storage into the source. */
import { arrivedBytes, joinedPieces } from '../../storage/pieces.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure.ts';
import type { Sink, Written } from '../link/fetch.ts';

/** Place of the pieces and their total bytes. */
export interface Sent {
  key: string;
  sizeBytes: number;
  /** Keys of an upload in parts, instead of `key`. */
  keys?: readonly string[];
}

export const listKeys = ({ key, keys = [key] }: Sent): readonly string[] => keys;

async function arrived(storage: Storage, keys: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const key of keys) bytes += await arrivedBytes(storage, key);
  return bytes;
}

async function* joined(storage: Storage, keys: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const key of keys) yield* joinedPieces(storage, key, signal);
}

/** Writes the uploaded bytes to `sink`. Rejects with PrepareError prepare_failed, StorageError, the sink's error or the signal's reason. */
export async function joinInto(
  sink: Sink,
  storage: Storage,
  sourceKey: string,
  sent: Sent,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: ((fraction: number) => void) | undefined },
): Promise<Written> {
  const { sizeBytes } = sent;
  const keys = listKeys(sent);
  // An earlier attempt may have stored the source and deleted the pieces: a source is written whole or not at all.
  const isThere = await hasSource(storage, sourceKey, sizeBytes);
  if (!isThere && (await arrived(storage, keys)) !== sizeBytes) {
    throw new PrepareError(
      'prepare_failed',
      'The bytes of the upload are no longer in the media storage. Upload the file again.',
    );
  }
  const bytes = isThere ? await storage.read(sourceKey, {}, signal) : joined(storage, keys, signal);
  return sink(
    counted(bytes, (done) => onProgress?.(done / sizeBytes)),
    signal,
  );
}

async function* counted(bytes: AsyncIterable<Buffer>, onBytes: (done: number) => void): AsyncGenerator<Buffer> {
  let done = 0;
  for await (const chunk of bytes) {
    done += chunk.length;
    onBytes(done);
    yield chunk;
  }
}

/** True when the upload has become the source already. */
export const hasSource = async (storage: Storage, sourceKey: string, sizeBytes: number): Promise<boolean> =>
  (await storage.head(sourceKey))?.sizeBytes === sizeBytes;
