/** Joins the uploaded pieces in storage into the source, and hashes it on the way. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { arrivedBytes, joinedPieces } from '../../storage/pieces.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure.ts';
import type { Fetched } from '../link/fetch.ts';

const BUFFER_BYTES = 2 ** 20;

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

/**
 * Writes the uploaded bytes to `sink`. Rejects with PrepareError prepare_failed, StorageError or the signal's reason;
 * nothing is written then.
 */
export async function joinInto(
  sink: Pick<Storage, 'write'>,
  storage: Storage,
  sourceKey: string,
  sent: Sent,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: ((fraction: number) => void) | undefined },
): Promise<Fetched> {
  const { sizeBytes } = sent;
  const keys = listKeys(sent);
  const hash = createHash('sha256');
  let done = 0;
  const hashed = async function* (bytes: AsyncIterable<Buffer>) {
    for await (const chunk of bytes) {
      hash.update(chunk);
      done += chunk.length;
      onProgress?.(done / sizeBytes);
      yield chunk;
    }
  };
  // An earlier attempt may have stored the source and deleted the pieces: a source is written whole or not at all.
  const isThere = await hasSource(storage, sourceKey, sizeBytes);
  if (!isThere && (await arrived(storage, keys)) !== sizeBytes) {
    throw new PrepareError(
      'prepare_failed',
      'The bytes of the upload are no longer in the media storage. Upload the file again.',
    );
  }
  const bytes = isThere ? await storage.read(sourceKey, {}, signal) : joined(storage, keys, signal);
  await sink.write(sourceKey, Readable.from(hashed(bytes), { objectMode: false, highWaterMark: BUFFER_BYTES }), signal);
  return { sha256: hash.digest('hex'), sizeBytes: done };
}

/** True when the upload has become the source already. */
export const hasSource = async (storage: Storage, sourceKey: string, sizeBytes: number): Promise<boolean> =>
  (await storage.head(sourceKey))?.sizeBytes === sizeBytes;
