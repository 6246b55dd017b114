/**
 * Puts a cache on the local disk in front of a storage, for readers that read the same objects again and again. Objects
 * are cached in pieces, so that a small cache serves large objects, and running reads are fetched ahead, also into the
 * objects that follow. A piece belongs to one version of its object, and a read stays with one version to its end. While the storage is away, all
 * cached pieces can be read.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Block, BlockPool } from '../../lib/block-pool.ts';
import { type Clock, sleep, systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { Heads, within } from './heads.ts';
import { StorageHealth } from './health.ts';
import { keySegments } from './key.ts';
import { PieceStore, pieceMemoryBytes } from './piece-store.ts';
import { ReadAhead, type ReadObject, type WantedHead, type WantedPiece } from './read-ahead.ts';
import { type ReadRange, type Storage, StorageError, type StoredObject } from './storage.ts';

/** 3 s of 2.5 Mbit/s; at 50 Mbit/s six requests a second. */
const PIECE_BYTES = 2 ** 20;
/** A smaller read looks something up in the object. It is cached as it is, and nothing is fetched ahead. */
const PEEK_BYTES = 64 * 1024;
/** 256 MiB ahead with the default of 2 GiB; two items of two tracks then take half of the cache. */
const READ_AHEAD_PART = 8;
const FETCHERS = 2;
const FRESH_MS = 30_000;
const PATIENCE_MS = 3000;
/** Retries of the client against a dead server take longer than a stream has to come up. */
const HEAD_TIMEOUT_MS = 5000;
const RETRY_MS = { first: 500, longest: 15_000 };

export interface CacheOptions {
  dir: string;
  maxBytes: number;
  log: Logger;
  clock?: Clock;
  readAheadBytes?: number;
  /** Time in which an object is not checked for changes. Later readers do not wait for the check. */
  freshMs?: number;
  /** Limit for the storage to describe an object that only the disk knows; after it the disk is believed. */
  patienceMs?: number;
}

export interface CacheStats {
  /** Pieces found in the cache, and pieces not found. */
  hits: number;
  misses: number;
  /** Bytes taken on the disk, and their limit. */
  bytes: number;
  maxBytes: number;
  evictions: number;
  /** Bytes read from the storage. */
  fetchedBytes: number;
  /** False while the disk takes nothing. */
  writable: boolean;
  /** Failed requests to the storage, by StorageError's code; a missing object is no error. */
  errors: Record<string, number>;
  /** Message of the last failure; undefined when the last request succeeded. */
  failure: string | undefined;
}

/** At most a piece of one version. */
type Range = Required<Pick<ReadRange, 'start' | 'end'>> & { version: string };
type Part = Range & { followedBy: readonly string[]; into: Buffer | undefined };

/** A piece in pooled memory. */
interface Taken {
  data: Buffer;
  block: Block;
}

/** A piece that is being fetched into pooled memory. */
interface Flight {
  data: Promise<Buffer>;
  block: Block;
}

const hashName = (...parts: (string | number)[]): string => createHash('sha1').update(parts.join('\0')).digest('hex');
const countPieces = ({ sizeBytes }: StoredObject): number => Math.ceil(sizeBytes / PIECE_BYTES);
const pieceName = ({ key, version, piece }: WantedPiece) => hashName('chunk', key, version, piece);

export class CachedStorage implements Storage {
  readonly #storage: Storage;
  readonly #store: PieceStore;
  readonly #maxBytes: number;
  readonly #ahead: ReadAhead;
  readonly #heads: Heads;
  readonly #health: StorageHealth;
  readonly #flights = new Map<string, Flight>();
  readonly #fetchers = new Set<Promise<void>>();
  /** Pieces that their readers have, and that are still being written to the disk. */
  readonly #keeping = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #pool = new BlockPool(pieceMemoryBytes(PIECE_BYTES));
  /** The piece that was last read into pooled memory: its next range comes soon. */
  #recent: (Taken & { name: string }) | undefined;
  #hits = 0;
  #misses = 0;
  #fetchedBytes = 0;

  private constructor(storage: Storage, store: PieceStore, options: CacheOptions) {
    const { maxBytes, readAheadBytes = maxBytes / READ_AHEAD_PART, log, clock = systemClock } = options;
    this.#storage = storage;
    this.#store = store;
    this.#maxBytes = maxBytes;
    this.#ahead = new ReadAhead(Math.floor(readAheadBytes / PIECE_BYTES));
    this.#health = new StorageHealth(log);
    const ask = (key: string) => this.#health.ask(key, () => answerWithin(HEAD_TIMEOUT_MS, storage.head(key)));
    const { freshMs = FRESH_MS, patienceMs = PATIENCE_MS } = options;
    this.#heads = new Heads({ store, clock, ask, freshMs, patienceMs });
  }

  /** Takes over the directory of an earlier process. Never rejects: without a usable directory nothing is cached. */
  static async open(storage: Storage, options: CacheOptions): Promise<CachedStorage> {
    const { dir, maxBytes, log, clock = systemClock } = options;
    return new CachedStorage(storage, await PieceStore.open({ dir, maxBytes, log, clock }), options);
  }

  /** Stops fetching; resolves when no fetch or write is left. */
  async close(): Promise<void> {
    this.#abort.abort(new Error('the cache is closed'));
    await Promise.allSettled([...this.#fetchers, ...this.#keeping, this.#heads.settled()]);
  }

  /** True when nothing is being fetched or written. */
  get idle(): boolean {
    return this.#fetchers.size === 0 && this.#flights.size === 0;
  }

  stats(): CacheStats {
    const { bytes, evictions, writable } = this.#store;
    return {
      hits: this.#hits,
      misses: this.#misses,
      bytes,
      maxBytes: this.#maxBytes,
      evictions,
      writable,
      fetchedBytes: this.#fetchedBytes,
      errors: { ...this.#health.errors },
      failure: this.#health.failure,
    };
  }

  head(key: string): Promise<StoredObject | undefined> {
    return this.#heads.get(key);
  }

  async read(key: string, range: ReadRange = {}, signal?: AbortSignal): Promise<Readable> {
    keySegments(key);
    const { start = 0, end = Number.POSITIVE_INFINITY, followedBy = [], into } = range;
    const version = range.version ?? (await this.head(key))?.version;
    if (version === undefined) throw new StorageError('not_found', `Object ${key} does not exist.`);
    if (end <= start) return Readable.from([]);
    const part = { start, end, version, followedBy, into };
    const body = end - start < PEEK_BYTES ? this.#peek(key, part, signal) : this.#pieces(key, part, signal);
    return Readable.from(body, { objectMode: false });
  }

  async *#peek(key: string, part: Part, signal: AbortSignal | undefined) {
    const { start, end, version, into } = part;
    const first = Math.floor(start / PIECE_BYTES);
    const whole = Math.floor((end - 1) / PIECE_BYTES) === first && this.#there({ key, version, piece: first });
    if (whole) return yield* this.#pieces(key, part, signal);
    const taken = await this.#take(hashName('part', key, version, start, end), key, { start, end, version }, signal);
    yield copyPart(taken, { start: 0, end: taken.data.length, into });
  }

  async *#pieces(key: string, { start, end, version, followedBy, into }: Part, signal: AbortSignal | undefined) {
    for (let offset = start; offset < end; ) {
      const piece = Math.floor(offset / PIECE_BYTES);
      const from = piece * PIECE_BYTES;
      const range = { start: from, end: from + PIECE_BYTES, version };
      const taken = await this.#take(pieceName({ key, version, piece }), key, range, signal);
      const part = copyPart(taken, { start: offset - from, end: end - from, into: into?.subarray(offset - start) });
      if (end - start >= PEEK_BYTES) this.#readOn({ key, version, piece }, followedBy);
      if (part.length > 0) yield part;
      if (taken.data.length < PIECE_BYTES) return;
      offset = from + PIECE_BYTES;
    }
  }

  #there(wanted: WantedPiece): boolean {
    const name = pieceName(wanted);
    return this.#store.has(name) || this.#flights.has(name);
  }

  /** Reads a piece from the disk, or from the storage and then onto the disk. The caller releases its block. */
  async #take(name: string, key: string, range: Range, signal: AbortSignal | undefined): Promise<Taken> {
    signal?.throwIfAborted();
    const kept = this.#flights.has(name) ? undefined : await this.#recall(name);
    if (kept) {
      this.#hits++;
      return kept;
    }
    this.#misses++;
    const { data, block } = this.#fetch(name, key, range);
    block.hold();
    try {
      return { data: await untilAborted(data, signal), block };
    } catch (error) {
      block.release();
      throw error;
    }
  }

  /** Reads a piece from the disk, once for all ranges that a reader takes of it one after the other. */
  async #recall(name: string): Promise<Taken | undefined> {
    if (this.#recent?.name !== name || !this.#store.touch(name)) {
      const block = this.#pool.take();
      const data = await this.#store.get(name, block.bytes);
      if (!data) {
        block.release();
        return undefined;
      }
      this.#forgetRecent();
      this.#recent = { name, data, block };
    }
    this.#recent.block.hold();
    return this.#recent;
  }

  #forgetRecent(): void {
    this.#recent?.block.release();
    this.#recent = undefined;
  }

  /** Sends one request for each piece, however many readers wait for it; no reader can end it for the others. */
  #fetch(name: string, key: string, range: Range): Flight {
    const running = this.#flights.get(name);
    if (running) return running;
    const block = this.#pool.take();
    const data = this.#health.ask(key, () => this.#download(key, range, block.bytes));
    this.#flights.set(name, { data, block });
    const keep = async () => {
      const bytes = await data;
      this.#fetchedBytes += bytes.length;
      await this.#store.put(name, bytes);
    };
    // Readers get the bytes before the disk does; until then memory serves them.
    const kept = keep()
      .catch((error: unknown) => {
        // The known version of this object is outdated; the next reader asks the storage.
        const gone = error instanceof StorageError && (error.code === 'changed' || error.code === 'not_found');
        return gone ? this.#heads.forget(key) : undefined;
      })
      .finally(() => {
        this.#flights.delete(name);
        this.#keeping.delete(kept);
        block.release();
      });
    this.#keeping.add(kept);
    return { data, block };
  }

  /** Reads a range into memory that has room for it. */
  async #download(key: string, range: Range, memory: Buffer): Promise<Buffer> {
    const into = memory.subarray(0, range.end - range.start);
    let filled = 0;
    for await (const chunk of await this.#storage.read(key, { ...range, into }, this.#abort.signal)) {
      const bytes = chunk as Buffer;
      filled += bytes.buffer === memory.buffer ? bytes.length : bytes.copy(into, filled);
    }
    return into.subarray(0, filled);
  }

  #readOn({ key, version, piece }: WantedPiece, followedBy: readonly string[]): void {
    const objects = [key, ...followedBy].map((each) => this.#describe(each));
    // Without a size, or while another version is current, nothing more is known to be wanted.
    if (objects[0]?.known?.version !== version) return;
    this.#ahead.at(objects, piece);
    while (this.#fetchers.size < FETCHERS && !this.#abort.signal.aborted) {
      const wanted = this.#nextWanted();
      if (!wanted) return;
      const fetcher = this.#fetchAhead(wanted).finally(() => this.#fetchers.delete(fetcher));
      this.#fetchers.add(fetcher);
    }
  }

  #describe(key: string): ReadObject {
    const object = this.#heads.known(key);
    return { key, known: object && { version: object.version, pieces: countPieces(object) } };
  }

  /** Nothing is fetched ahead that could not be cached. */
  #nextWanted(): WantedPiece | WantedHead | undefined {
    return this.#store.writable ? this.#ahead.next((wanted) => this.#there(wanted)) : undefined;
  }

  async #fetchAhead(first: WantedPiece | WantedHead): Promise<void> {
    let retryMs = RETRY_MS.first;
    for (let wanted: WantedPiece | WantedHead | undefined = first; wanted; wanted = this.#nextWanted()) {
      try {
        await this.#fetchWanted(wanted);
        retryMs = RETRY_MS.first;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        if (error instanceof StorageError && error.code !== 'unavailable') {
          this.#ahead.end(wanted.key);
          continue;
        }
        this.#ahead.again(wanted);
        await sleep(retryMs, this.#abort.signal).catch(() => undefined);
        if (this.#abort.signal.aborted) return;
        retryMs = Math.min(retryMs * 2, RETRY_MS.longest);
      }
    }
  }

  async #fetchWanted(wanted: WantedPiece | WantedHead): Promise<void> {
    const { key, piece } = wanted;
    if (piece !== undefined) {
      const start = piece * PIECE_BYTES;
      await this.#fetch(pieceName(wanted), key, { start, end: start + PIECE_BYTES, version: wanted.version }).data;
      return;
    }
    const object = await this.#heads.get(key);
    if (object) this.#ahead.describe(key, { version: object.version, pieces: countPieces(object) });
    else this.#ahead.end(key);
  }

  async discard(key: string): Promise<void> {
    const object = this.#heads.known(key);
    this.#forgetRecent();
    await this.#heads.forget(key);
    if (!object) return;
    for (let piece = 0; piece < countPieces(object); piece++)
      await this.#store.delete(pieceName({ key, version: object.version, piece }));
  }

  async write(key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void> {
    await this.#storage.write(key, body, signal).finally(() => this.#heads.forget(key));
  }

  async publish(key: string, fill: (path: string) => Promise<void>, complete = () => key): Promise<void> {
    await this.#storage.publish(key, fill, complete).finally(() => this.#heads.forget(complete()));
  }

  async delete(key: string): Promise<void> {
    await this.#storage.delete(key).finally(() => this.#heads.forget(key));
  }

  withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T> {
    return this.#storage.withLocalFile(key, use);
  }

  list(prefix: string): AsyncIterable<string> {
    return this.#storage.list(prefix);
  }
}

/** Copies a part of a piece, into the memory that is given for it or into some of its own, and releases the piece. */
function copyPart(
  { data, block }: Taken,
  { start, end, into }: { start: number; end: number; into: Buffer | undefined },
) {
  const part = data.subarray(start, end);
  const copy = into ? into.subarray(0, part.copy(into)) : Buffer.from(part);
  block.release();
  return copy;
}

async function answerWithin<T>(ms: number, answer: Promise<T>): Promise<T> {
  const late = () => {
    throw new StorageError('unavailable', `The storage did not respond within ${ms / 1000} s.`);
  };
  answer.catch(() => undefined);
  return within(answer, ms, late);
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
