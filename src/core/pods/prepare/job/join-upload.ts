/** Joins the uploaded pieces in storage into the source, also while the client still sends them. */
import { sleep } from '../../../lib/clock.ts';
import { isSameJson } from '../../../lib/json-equal.ts';
import type { Sent } from '../../../protocol/task.ts';
import { readJoin } from '../../storage/joins.ts';
import { arrivedBytes, arrivingPieces, deletePieces, joinedPieces } from '../../storage/pieces.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure/failure.ts';
import type { Sink, Written } from '../link/fetch.ts';
import { ServerSpeed } from '../link/server-speed.ts';

interface JoinOptions {
  signal: AbortSignal;
  onProgress?: ((fraction: number) => void) | undefined;
  /** A client that sends less while the upload arrives is not waited for any more. */
  minBytesPerSecond: number;
  /** Tests make these short. */
  windowSeconds?: number | undefined;
}

/** How often the storage is asked for the next piece. */
const POLL_MS = 1_000;

/** Returns the keys below which the bytes of the upload are; undefined for parts that the API server has not joined to it. */
export async function findKeys(storage: Storage, { key, keys }: Sent): Promise<readonly string[] | undefined> {
  if (!keys) return [key];
  return isSameJson(await readJoin(storage, key), keys) ? keys : undefined;
}

export async function arrived(storage: Storage, keys: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const key of keys) bytes += await arrivedBytes(storage, key);
  return bytes;
}

async function* joined(storage: Storage, keys: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const key of keys) yield* joinedPieces(storage, key, signal);
}

/**
 * Writes the uploaded bytes to `sink`. Rejects with PrepareError prepare_failed, StorageError, the sink's error or the signal's reason.
 */
export async function joinInto(
  sink: Sink,
  storage: Storage,
  sourceKey: string,
  sent: Sent,
  options: JoinOptions,
): Promise<Written> {
  const { signal, onProgress } = options;
  const { sizeBytes, isArriving = false } = sent;
  // An earlier attempt may have stored the source and deleted the pieces: a source is written whole or not at all.
  const isThere = await hasSource(storage, sourceKey, sizeBytes);
  const keys = isThere ? [] : await findKeys(storage, sent);
  if (!keys) {
    throw new PrepareError(
      'prepare_failed',
      'The API server has not joined the parts that the upload names. Upload the file again.',
    );
  }
  if (!isThere && !isArriving && (await arrived(storage, keys)) !== sizeBytes) {
    throw new PrepareError(
      'prepare_failed',
      'The bytes of the upload are no longer in the media storage. Upload the file again.',
    );
  }
  const pieces = isArriving ? followed(storage, sent, options) : joined(storage, keys, signal);
  const bytes = isThere ? await storage.read(sourceKey, {}, signal) : pieces;
  return sink(
    counted(bytes, (done) => onProgress?.(done / sizeBytes)),
    signal,
  );
}

/**
 * Yields the bytes as they are sent. Rejects with PrepareError when the client pauses or is too slow: the Job would hold a place that
 * others need, and another one begins when more has come.
 */
async function* followed(
  storage: Storage,
  { key, sizeBytes }: Sent,
  { signal, minBytesPerSecond, windowSeconds }: JoinOptions,
): AsyncGenerator<Buffer> {
  const speed = new ServerSpeed(Math.max(1, minBytesPerSecond), windowSeconds);
  let bytes = 0;
  const wait = async () => {
    const since = performance.now();
    await sleep(POLL_MS, signal);
    const tooSlow = speed.add(bytes, performance.now() - since) !== undefined;
    bytes = 0;
    // Not final, so that the chunks that have been made stay for the next Job.
    if (tooSlow) throw new PrepareError('prepare_failed', 'The client has paused.', { retryAfterSeconds: 0 });
  };
  for await (const chunk of arrivingPieces(storage, key, sizeBytes, signal, wait)) {
    bytes += chunk.length;
    yield chunk;
  }
}

async function* counted(bytes: AsyncIterable<Buffer>, onBytes: (done: number) => void): AsyncGenerator<Buffer> {
  let done = 0;
  for await (const chunk of bytes) {
    done += chunk.length;
    onBytes(done);
    yield chunk;
  }
}

/** Deletes the pieces of an upload. The proof that parts are its own goes last, so that this can be done again. */
export async function deleteSent(storage: Storage, sent: Sent): Promise<void> {
  for (const key of (await findKeys(storage, sent)) ?? []) await deletePieces(storage, key);
  if (sent.keys) await deletePieces(storage, sent.key);
}

/** True when the upload has become the source already. */
export const hasSource = async (storage: Storage, sourceKey: string, sizeBytes: number): Promise<boolean> =>
  (await storage.head(sourceKey))?.sizeBytes === sizeBytes;
