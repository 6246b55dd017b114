/**
 * Writes a rendition into storage, chunk by chunk: a chunk, then its entry. Streams play what is there while the rest is being
 * made. A chunk that an interrupted Job has left stays as it is, since a stream may be playing it.
 */
import { text } from 'node:stream/consumers';
import { parseAs } from '../../../lib/parse.ts';
import { parseChunkKey } from '../../rendition/format.ts';
import { type Chunk, ChunkEntry, chunkKey, entryKey, INDEX_VERSION } from '../../rendition/index.ts';
import { GrowingObject } from '../../storage/growing-object.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Cut } from './indexer.ts';

export interface ChunkWriterOptions {
  storage: Storage;
  renditionKey: string;
  /** True where an earlier Job may have had another content: what it has left is kept only where the bytes are the same. */
  keepsSameOnly?: boolean | undefined;
  /** The part of an entry that is the same for all chunks. */
  about: Omit<ChunkEntry, 'version' | 'chunk'>;
  /** True where the chunks may turn out to be wrong: their entries wait for `approve`. */
  provisional: boolean;
  /** Called with the frames from the beginning on that can be played. */
  onPrepared?: ((frames: number) => void) | undefined;
}

export class ChunkWriter {
  readonly #options: ChunkWriterOptions;
  /** First frames of the chunks that an earlier Job has left with an entry. */
  readonly #left: ReadonlySet<number>;
  #object: GrowingObject | undefined;
  #nextFrame = 0;
  #appending: Promise<void> = Promise.resolve();
  #publishing: Promise<void> = Promise.resolve();
  readonly #chunks: Chunk[] = [];
  /** Chunks without an entry. */
  #unlisted: Chunk[] = [];
  #provisional: boolean;

  private constructor(options: ChunkWriterOptions, left: ReadonlySet<number>) {
    this.#options = options;
    this.#left = left;
    this.#provisional = options.provisional;
  }

  /** Rejects with StorageError. */
  static async open(options: ChunkWriterOptions): Promise<ChunkWriter> {
    const left = new Set<number>();
    for await (const { firstFrame, isEntry } of listChunks(options.storage, options.renditionKey))
      if (isEntry) left.add(firstFrame);
    return new ChunkWriter(options, left);
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
    const { storage, renditionKey } = this.#options;
    const isLeft = this.#left.has(chunk.firstFrame);
    const left = isLeft ? await this.#readLeft(chunk) : undefined;
    if (left) {
      await object.discard();
    } else {
      if (isLeft) await storage.delete(entryKey(renditionKey, chunk.firstFrame));
      await object.commit();
      this.#unlisted.push(chunk);
    }
    this.#chunks.push(left ?? chunk);
    if (!this.#provisional) await this.#writeEntries();
  }

  /** Returns what an earlier Job has left in the place of `chunk`, if it takes that place exactly. */
  async #readLeft({ firstFrame, frames, sha256 }: Chunk): Promise<Chunk | undefined> {
    const { storage, renditionKey, keepsSameOnly, about } = this.#options;
    const entry = parseAs(ChunkEntry, await text(await storage.read(entryKey(renditionKey, firstFrame))));
    if (entry?.chunk.firstFrame !== firstFrame || entry.chunk.frames !== frames) return undefined;
    if (keepsSameOnly && entry.chunk.sha256 !== sha256) return undefined;
    const { frameRateNum, frameRateDen } = entry.video ?? {};
    if (frameRateNum !== about.video?.frameRateNum || frameRateDen !== about.video?.frameRateDen) return undefined;
    const object = await storage.head(chunkKey(renditionKey, firstFrame));
    return object?.sizeBytes === entry.chunk.sizeBytes ? entry.chunk : undefined;
  }

  async #writeEntries(): Promise<void> {
    const { storage, renditionKey, about, onPrepared } = this.#options;
    for (const chunk of this.#unlisted.splice(0)) {
      const entry: ChunkEntry = { version: INDEX_VERSION, ...about, chunk };
      await storage.write(entryKey(renditionKey, chunk.firstFrame), Buffer.from(JSON.stringify(entry)));
    }
    const last = this.#chunks.at(-1);
    if (last) onPrepared?.(last.firstFrame + last.frames);
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

/** Lists the chunks of a rendition that is complete or not, and their entries. */
export async function* listChunks(storage: Pick<Storage, 'list'>, renditionKey: string) {
  for await (const key of storage.list(`${renditionKey}.`)) {
    const chunk = parseChunkKey(key);
    if (chunk?.renditionKey === renditionKey) yield { key, ...chunk };
  }
}

/** Deletes all chunks of a rendition, first the entries, without which nobody begins to read them. Rejects with StorageError. */
export async function deleteChunks(storage: Pick<Storage, 'list' | 'delete'>, renditionKey: string): Promise<void> {
  const chunks: { key: string; isEntry: boolean }[] = [];
  for await (const chunk of listChunks(storage, renditionKey)) chunks.push(chunk);
  for (const { key } of chunks.sort((a, b) => Number(b.isEntry) - Number(a.isEntry))) await storage.delete(key);
}
