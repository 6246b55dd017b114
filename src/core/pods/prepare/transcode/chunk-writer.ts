/**
 * Writes a rendition into storage, chunk by chunk: a chunk, then its entry. Streams play what is there while the rest is being
 * made. A chunk that another Job has left stays as it is, since a stream may be playing it. Where two Jobs write at once, each of
 * their entries and indexes refers to chunks that are there: which of them stays has no meaning.
 */
import { text } from 'node:stream/consumers';
import { parseAs } from '../../../lib/parse.ts';
import { parseChunkKey, planKey, rankDeletion } from '../../rendition/format.ts';
import { type Chunk, ChunkEntry, chooseVersion, chunkKey, entryKey } from '../../rendition/index.ts';
import { GrowingObject } from '../../storage/growing-object.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
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
  /** Called with the frames from the beginning on that can be played, and their bytes. */
  onPrepared?: ((frames: number, bytes: number) => void) | undefined;
}

export class ChunkWriter {
  readonly #options: ChunkWriterOptions;
  #object: GrowingObject | undefined;
  #appending: Promise<void> = Promise.resolve();
  #publishing: Promise<void> = Promise.resolve();
  readonly #chunks: Chunk[] = [];
  /** Chunks without an entry. */
  readonly #unlisted: Chunk[] = [];
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
    this.#object ??= await GrowingObject.begin(storage, renditionKey);
    await this.#object.append(bytes);
  }

  /** Publishes a chunk while the next one is being filled. */
  async #close(chunk: Chunk): Promise<void> {
    const object = this.#object;
    if (!object) throw new Error('a chunk without bytes');
    this.#object = undefined;
    await this.#publishing.catch(async (error: unknown) => {
      await object.discard();
      throw error;
    });
    this.#publishing = this.#publish(object, chunk);
    this.#publishing.catch(() => undefined);
  }

  async #publish(object: GrowingObject, chunk: Chunk): Promise<void> {
    let left: Chunk | undefined;
    try {
      left = await this.#findLeft(chunk);
      // The same bytes under the same key need not be written again, under the hands of a reader.
      if (left ?? (await this.#isThere(chunk))) {
        await object.discard();
      } else {
        await object.commit(chunkKey(this.#options.renditionKey, chunk));
      }
    } catch (error) {
      await object.discard();
      throw error;
    }
    if (!left) this.#unlisted.push(chunk);
    this.#chunks.push(left ?? chunk);
    if (!this.#provisional) await this.#writeEntries();
  }

  /**
   * Returns the chunk that another Job has left in the place of `chunk`. If it does not fit, its entry and all later
   * ones are deleted. Their chunks stay: a stream may be reading one, or another Job may soon refer to it.
   */
  async #findLeft(chunk: Chunk): Promise<Chunk | undefined> {
    const { storage, renditionKey } = this.#options;
    const entry = await readEntry(storage, renditionKey, chunk.firstFrame);
    if (entry === undefined) return undefined;
    if (entry === 'unreadable' || !this.#fits(entry, chunk)) {
      await deleteEntries(storage, renditionKey, chunk.firstFrame);
      return undefined;
    }
    // Black that stands in for a part gives way to its pictures.
    return !entry.chunk.standsIn && (await this.#isThere(entry.chunk)) ? entry.chunk : undefined;
  }

  #isThere(chunk: Chunk): Promise<boolean> {
    const { storage, renditionKey } = this.#options;
    return hasChunk(storage, renditionKey, chunk);
  }

  #fits(entry: ChunkEntry, chunk: Chunk): boolean {
    const { about, keepsSameOnly } = this.#options;
    const { firstFrame, frames, sha256, video } = chunk;
    const isSame = !keepsSameOnly || entry.chunk.sha256 === sha256;
    return isSame && fitsEntry(entry, about, { firstFrame, frames, delayFrames: video?.delayFrames });
  }

  async #writeEntries(): Promise<void> {
    const { storage, renditionKey, about, onPrepared } = this.#options;
    for (const chunk of this.#unlisted.splice(0)) await writeEntry(storage, renditionKey, about, chunk);
    const last = this.#chunks.at(-1);
    const prepared = last ? last.firstFrame + last.frames : 0;
    const bytes = this.#chunks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (prepared > this.#prepared) onPrepared?.(prepared, bytes);
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

  /** Deletes the chunks without an entry, which this Job has found to be wrong. Rejects with StorageError. */
  async dropUnlisted(): Promise<void> {
    const { storage, renditionKey } = this.#options;
    for (const chunk of this.#unlisted.splice(0)) await storage.delete(chunkKey(renditionKey, chunk));
  }
}

const versionFor = ({ video }: AboutRendition) => chooseVersion(video && video.frameRateNum / video.frameRateDen);

/** True where an entry has these frames of this rendition, and its pictures this delay of reordering. */
export const fitsEntry = (
  { version, chunk, profile, video }: ChunkEntry,
  about: AboutRendition,
  { firstFrame, frames, delayFrames }: Pick<Chunk, 'firstFrame' | 'frames'> & { delayFrames: number | undefined },
): boolean =>
  version === versionFor(about) &&
  profile === about.profile &&
  video?.frameRateNum === about.video?.frameRateNum &&
  video?.frameRateDen === about.video?.frameRateDen &&
  chunk.firstFrame === firstFrame &&
  chunk.frames === frames &&
  // The sound lies at the times of the pictures that are shown: with another delay, some of it would be lost or doubled at the border.
  chunk.video?.delayFrames === delayFrames;

/** Resolves with true where a chunk is there, whole. Rejects with StorageError. */
export const hasChunk = async (storage: Pick<Storage, 'head'>, renditionKey: string, chunk: Chunk): Promise<boolean> =>
  (await storage.head(chunkKey(renditionKey, chunk)))?.sizeBytes === chunk.sizeBytes;

/** Makes a chunk that is in storage known. Rejects with StorageError. */
export async function writeEntry(
  storage: Pick<Storage, 'write'>,
  renditionKey: string,
  about: AboutRendition,
  chunk: Chunk,
): Promise<void> {
  const entry: ChunkEntry = { version: versionFor(about), ...about, chunk };
  await storage.write(entryKey(renditionKey, chunk.firstFrame), Buffer.from(JSON.stringify(entry)));
}

/** Lists the chunks of a rendition that is complete or not, and their entries. */
export async function* listChunks(storage: Pick<Storage, 'list'>, renditionKey: string) {
  for await (const key of storage.list(`${renditionKey}.`)) {
    const chunk = parseChunkKey(key);
    if (chunk?.renditionKey === renditionKey) yield { key, ...chunk };
  }
}

/** Reads the entry of the chunk that begins with a frame; undefined without one. Rejects with StorageError. */
export async function readEntry(
  storage: Pick<Storage, 'read'>,
  renditionKey: string,
  firstFrame: number,
): Promise<ChunkEntry | 'unreadable' | undefined> {
  try {
    const json = await text(await storage.read(entryKey(renditionKey, firstFrame)));
    return parseAs(ChunkEntry, json) ?? 'unreadable';
  } catch (error) {
    if (error instanceof StorageError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Lists the keys of a rendition's chunks and entries from this frame on, those to delete first in front. Rejects with StorageError. */
async function listFrom(
  storage: Pick<Storage, 'list' | 'read'>,
  renditionKey: string,
  fromFrame: number,
): Promise<string[]> {
  const keys = new Set<string>();
  let next = fromFrame;
  for await (const { key, firstFrame, isEntry } of listChunks(storage, renditionKey)) {
    if (firstFrame < fromFrame) continue;
    keys.add(key);
    if (isEntry) next = Math.max(next, firstFrame);
  }
  // A listing may be old. The entries that it lacks follow the last one that it has.
  for (;;) {
    const entry = await readEntry(storage, renditionKey, next);
    if (entry === undefined) break;
    keys.add(entryKey(renditionKey, next));
    if (entry === 'unreadable') break;
    keys.add(chunkKey(renditionKey, entry.chunk, entry.version));
    next += entry.chunk.frames;
  }
  return [...keys].sort((a, b) => rankDeletion(a) - rankDeletion(b));
}

/** Deletes the entries of a rendition from this frame on. Rejects with StorageError. */
export async function deleteEntries(
  storage: Pick<Storage, 'list' | 'read' | 'delete'>,
  renditionKey: string,
  fromFrame: number,
): Promise<void> {
  for (const key of await listFrom(storage, renditionKey, fromFrame))
    if (parseChunkKey(key)?.isEntry) await storage.delete(key);
}

/**
 * Deletes the chunks of a rendition, first the entries, without which nobody begins to read a chunk. Rejects with StorageError.
 */
export async function deleteChunks(
  storage: Pick<Storage, 'list' | 'read' | 'delete'>,
  renditionKey: string,
): Promise<void> {
  const keys = await listFrom(storage, renditionKey, 0);
  // A plan leads others to the chunks.
  for (const key of [planKey(renditionKey), ...keys]) await storage.delete(key);
}
