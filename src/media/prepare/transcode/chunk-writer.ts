/**
 * Writes a rendition into storage, chunk by chunk: a chunk, then its entry. Streams play what is there while the rest is being
 * made. A chunk that another Job has left stays as it is, since a stream may be playing it.
 */
import { text } from 'node:stream/consumers';
import { parseAs } from '../../../lib/parse.ts';
import { parseChunkKey, planKey, rankDeletion } from '../../rendition/format.ts';
import { type Chunk, ChunkEntry, chunkKey, entryKey, INDEX_VERSION } from '../../rendition/index.ts';
import { GrowingObject } from '../../storage/growing-object.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Cut } from './indexer.ts';

/** The part of an entry that is the same for all chunks. */
export type AboutRendition = Omit<ChunkEntry, 'version' | 'chunk'>;

export interface ChunkWriterOptions {
  storage: Storage;
  renditionKey: string;
  /** True where an earlier Job may have had another content: what it has left is kept only where the bytes are the same. */
  keepsSameOnly?: boolean | undefined;
  about: AboutRendition;
  /** True where the chunks may turn out to be wrong: their entries wait for `approve`. */
  provisional: boolean;
  /** Called with the frames from the beginning on that can be played. */
  onPrepared?: ((frames: number) => void) | undefined;
}

export class ChunkWriter {
  readonly #options: ChunkWriterOptions;
  #object: GrowingObject | undefined;
  #nextFrame = 0;
  #appending: Promise<void> = Promise.resolve();
  #publishing: Promise<void> = Promise.resolve();
  readonly #chunks: Chunk[] = [];
  /** Chunks without an entry. */
  #unlisted: Chunk[] = [];
  #provisional: boolean;
  /** Frames from the beginning on that have an entry. */
  #prepared = 0;

  constructor(options: ChunkWriterOptions) {
    this.#options = options;
    this.#provisional = options.provisional;
  }

  /**
   * Takes the next bytes of the rendition with the ends of chunks in them. Resolves when the bytes before them are written; `bytes`
   * must stay as they are until the next call has resolved. Rejects with StorageError.
   */
  async write(bytes: Buffer, cuts: readonly Cut[]): Promise<void> {
    await this.#appending;
    this.#appending = this.#append(bytes, cuts);
    // It is awaited by the next call; until then nothing handles its failure.
    this.#appending.catch(() => undefined);
  }

  async #append(bytes: Buffer, cuts: readonly Cut[]): Promise<void> {
    let at = 0;
    for (const { offset, chunk } of cuts) {
      await this.#fill(bytes.subarray(at, offset));
      await this.#close(chunk);
      at = offset;
    }
    await this.#fill(bytes.subarray(at));
  }

  async #fill(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    const { storage, renditionKey } = this.#options;
    this.#object ??= await GrowingObject.begin(storage, chunkKey(renditionKey, this.#nextFrame));
    await this.#object.append(bytes);
  }

  /** Publishes a chunk while the next one is being filled. */
  async #close(chunk: Chunk): Promise<void> {
    const object = this.#object;
    if (!object) throw new Error('a chunk without bytes');
    this.#object = undefined;
    this.#nextFrame = chunk.firstFrame + chunk.frames;
    await this.#publishing.catch(async (error: unknown) => {
      await object.discard();
      throw error;
    });
    this.#publishing = this.#publish(object, chunk);
    this.#publishing.catch(() => undefined);
  }

  async #publish(object: GrowingObject, chunk: Chunk): Promise<void> {
    const left = await this.#findLeft(chunk).catch(async (error: unknown) => {
      await object.discard();
      throw error;
    });
    if (left) {
      await object.discard();
    } else {
      await object.commit();
      this.#unlisted.push(chunk);
    }
    this.#chunks.push(left ?? chunk);
    if (!this.#provisional) await this.#writeEntries();
  }

  /** Returns the chunk that another Job has left in the place of `chunk`. A chunk that does not fit goes, with all that follow it. */
  async #findLeft(chunk: Chunk): Promise<Chunk | undefined> {
    const { storage, renditionKey, about, keepsSameOnly } = this.#options;
    const left = await readEntry(storage, renditionKey, chunk.firstFrame);
    if (left === 'none') return undefined;
    const isSame = left !== 'damaged' && (!keepsSameOnly || left.chunk.sha256 === chunk.sha256);
    if (isSame && fitsEntry(left, about, chunk)) return left.chunk;
    await deleteChunks(storage, renditionKey, chunk.firstFrame);
    return undefined;
  }

  async #writeEntries(): Promise<void> {
    const { storage, renditionKey, about, onPrepared } = this.#options;
    for (const chunk of this.#unlisted.splice(0)) await writeEntry(storage, renditionKey, about, chunk);
    const last = this.#chunks.at(-1);
    const prepared = last ? last.firstFrame + last.frames : 0;
    if (prepared > this.#prepared) onPrepared?.(prepared);
    this.#prepared = prepared;
  }

  /** Publishes the last chunk, and resolves with all of them. Rejects with StorageError. */
  async end(last: Chunk): Promise<Chunk[]> {
    await this.#appending;
    await this.#close(last);
    await this.#publishing;
    return this.#chunks;
  }

  /** Lets provisional chunks be played: those that are there, and those to come. Rejects with StorageError. */
  async approve(): Promise<void> {
    this.#provisional = false;
    const entries = this.#publishing.then(() => this.#writeEntries());
    // The next chunk comes after them, and an error of theirs ends the work.
    this.#publishing = entries;
    await entries;
  }

  /** Drops the chunk that is being written. The chunks before it stay: a later Job, or a stream, may use them. */
  async stop(): Promise<void> {
    await this.#appending.catch(() => undefined);
    await this.#publishing.catch(() => undefined);
    await this.#object?.discard();
    this.#object = undefined;
  }
}

/** Reads the entry of a chunk that is there. `damaged`: the entry cannot be read, or its chunk is missing. Rejects with StorageError. */
export async function readEntry(
  storage: Pick<Storage, 'head' | 'read'>,
  renditionKey: string,
  firstFrame: number,
): Promise<ChunkEntry | 'none' | 'damaged'> {
  const key = entryKey(renditionKey, firstFrame);
  if (!(await storage.head(key))) return 'none';
  const entry = parseAs(ChunkEntry, await text(await storage.read(key)));
  const object = await storage.head(chunkKey(renditionKey, firstFrame));
  return entry && object?.sizeBytes === entry.chunk.sizeBytes ? entry : 'damaged';
}

/** True where an entry has these frames of this rendition. */
export const fitsEntry = (
  { chunk, profile, video }: ChunkEntry,
  about: AboutRendition,
  { firstFrame, frames }: Pick<Chunk, 'firstFrame' | 'frames'>,
): boolean =>
  profile === about.profile &&
  video?.frameRateNum === about.video?.frameRateNum &&
  video?.frameRateDen === about.video?.frameRateDen &&
  chunk.firstFrame === firstFrame &&
  chunk.frames === frames;

/** Makes a chunk that is in storage known. Rejects with StorageError. */
export async function writeEntry(
  storage: Pick<Storage, 'write'>,
  renditionKey: string,
  about: AboutRendition,
  chunk: Chunk,
): Promise<void> {
  const entry: ChunkEntry = { version: INDEX_VERSION, ...about, chunk };
  await storage.write(entryKey(renditionKey, chunk.firstFrame), Buffer.from(JSON.stringify(entry)));
}

/** Lists the chunks of a rendition that is complete or not, and their entries. */
export async function* listChunks(storage: Pick<Storage, 'list'>, renditionKey: string) {
  for await (const key of storage.list(`${renditionKey}.`)) {
    const chunk = parseChunkKey(key);
    if (chunk?.renditionKey === renditionKey) yield { key, ...chunk };
  }
}

/**
 * Deletes the chunks that begin with the frames from `fromFrame` to before `endFrame`, first the entries, without which nobody begins to
 * read a chunk. Rejects with StorageError.
 */
export async function deleteChunks(
  storage: Pick<Storage, 'list' | 'delete'>,
  renditionKey: string,
  fromFrame = 0,
  endFrame = Number.POSITIVE_INFINITY,
): Promise<void> {
  const keys: string[] = [];
  for await (const { key, firstFrame } of listChunks(storage, renditionKey))
    if (firstFrame >= fromFrame && firstFrame < endFrame) keys.push(key);
  // A plan leads others to the chunks.
  if (fromFrame === 0 && endFrame === Number.POSITIVE_INFINITY) await storage.delete(planKey(renditionKey));
  for (const key of keys.sort((a, b) => rankDeletion(a) - rankDeletion(b))) await storage.delete(key);
}
