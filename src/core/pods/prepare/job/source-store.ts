/**
 * Stores a source while it arrives: the storage takes the file over where it is on the same file system, and gets a copy elsewhere. The
 * object appears when the source has proved playable.
 */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Storage } from '../../storage/storage.ts';
import { StorageError } from '../../storage/storage.ts';
import type { JobContext } from '../steps/context.ts';
import type { Arrival } from './arrival.ts';

const BUFFER_BYTES = 2 ** 20;

type StoreContext = Pick<JobContext, 'storage' | 'signal' | 'log'>;

export class SourceStore {
  readonly #key: string;
  readonly #path: string;
  readonly #context: StoreContext;
  readonly #approved = Promise.withResolvers<void>();
  readonly #over = new AbortController();
  readonly #stored: Promise<void>;

  private constructor(key: string, arrival: Arrival, context: StoreContext) {
    this.#key = key;
    this.#path = arrival.path;
    this.#context = context;
    // `commit` and `end` handle them.
    this.#approved.promise.catch(() => undefined);
    this.#stored = this.#store(arrival);
    this.#stored.catch(() => undefined);
  }

  /** Begins with the file of the arrival, which it makes. */
  static async begin(key: string, arrival: Arrival, context: StoreContext): Promise<SourceStore> {
    await writeFile(arrival.path, '', { flag: 'wx' });
    return new SourceStore(key, arrival, context);
  }

  async #store(arrival: Arrival): Promise<void> {
    const { storage } = this.#context;
    const approved = this.#approved.promise;
    const signal = AbortSignal.any([this.#context.signal, this.#over.signal]);
    if (await storage.adopt?.(this.#key, this.#path, approved)) return;
    await writeTo(storage, this.#key, holdBack(arrival.follow(signal), approved), signal);
  }

  /** Makes the object visible. Rejects with StorageError or the signal's reason. */
  async commit(): Promise<void> {
    this.#approved.resolve();
    const { storage, signal, log } = this.#context;
    try {
      await this.#stored;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StorageError && error.code === 'full') throw error;
      // A storage that was away for a while, or an arrival that has begun again.
      log.info({ err: error }, 'the source could not be stored while it arrived, and is stored now');
      await writeTo(storage, this.#key, createReadStream(this.#path, { highWaterMark: BUFFER_BYTES }), signal);
    }
  }

  /** Drops what has not become visible. */
  async end(): Promise<void> {
    const unwanted = new Error('the source is not wanted');
    this.#approved.reject(unwanted);
    // An arrival that has not begun would be awaited for ever.
    this.#over.abort(unwanted);
    await Promise.allSettled([this.#stored]);
  }
}

const writeTo = (storage: Storage, key: string, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> =>
  storage.write(key, bytes instanceof Readable ? bytes : Readable.from(bytes, { objectMode: false }), signal);

/** Yields the bytes, the last piece only after `approved`: an object in storage is not visible before its body has ended. */
async function* holdBack(bytes: AsyncIterable<Buffer>, approved: Promise<unknown>): AsyncGenerator<Buffer> {
  let last: Buffer | undefined;
  for await (const piece of bytes) {
    if (last) yield last;
    last = piece;
  }
  await approved;
  if (last) yield last;
}
