/**
 * Keeps pieces of objects in files of a local directory, within a size; the least recently used piece goes first. Each
 * read checks the piece's CRC, and a damaged, truncated or missing piece counts as absent. A piece that cannot be
 * written is not kept. The directory belongs to one process at a time.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { fill } from './fill.ts';

/** Header of a file: a mark with the version of this format, then the CRC-32 of the bytes. */
const MARK = Buffer.from('LSC1');
const HEADER_BYTES = 8;
const NAME = /^[0-9a-f]{40}$/;
/** File systems allocate blocks, so a small file takes a whole one. */
const BLOCK_BYTES = 4096;
/** A disk that took nothing is left alone for this long. */
const PAUSE_MS = 30_000;

/** Returns the bytes of memory that reading a piece of this size takes. */
export const pieceMemoryBytes = (bytes: number): number => bytes + HEADER_BYTES;

const room = (bytes: number): number => Math.ceil((bytes + HEADER_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;

export interface PieceStoreOptions {
  dir: string;
  maxBytes: number;
  clock: Clock;
  log: Logger;
}

export class PieceStore {
  /** Entries by name, 40 hexadecimal digits (e.g. a SHA-1), least recently used first. */
  readonly #files = new Map<string, number>();
  readonly #options: PieceStoreOptions;
  #bytes = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #evictions = 0;
  #complained = false;

  private constructor(options: PieceStoreOptions) {
    this.#options = options;
  }

  /** Takes over the directory's files. Never rejects: an unusable directory keeps nothing. */
  static async open(options: PieceStoreOptions): Promise<PieceStore> {
    const store = new PieceStore(options);
    try {
      await mkdir(options.dir, { recursive: true, mode: 0o700 });
      await store.#takeOver();
    } catch (error) {
      store.#pause(error);
    }
    return store;
  }

  get bytes(): number {
    return this.#bytes;
  }
  get evictions(): number {
    return this.#evictions;
  }
  /** False while the disk takes nothing. */
  get writable(): boolean {
    return this.#options.clock.monotonicMs() >= this.#pausedUntilMs;
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  /** Counts as a use; false when the piece is not there. */
  touch(name: string): boolean {
    const size = this.#files.get(name);
    if (size === undefined) return false;
    this.#files.delete(name);
    this.#files.set(name, size);
    return true;
  }

  /**
   * Reads a piece, which counts as a use; undefined when it is not there. The piece is read into `memory`, if that is given and has
   * pieceMemoryBytes() for it.
   */
  async get(name: string, memory?: Buffer): Promise<Buffer | undefined> {
    if (!this.touch(name)) return undefined;
    const path = this.#path(name);
    const file = await (memory ? readInto(path, memory) : readFile(path)).catch(() => undefined);
    if (file && isWhole(file)) return file.subarray(HEADER_BYTES);
    await this.#remove(name);
    return undefined;
  }

  /** Resolves when the piece is kept, or when it cannot be. */
  async put(name: string, data: Buffer): Promise<void> {
    const size = room(data.length);
    if (!this.writable || this.#files.has(name) || size > this.#options.maxBytes) return;
    // The room is reserved before the file exists, so that two writers together stay within it.
    this.#bytes += size;
    const temp = join(this.#options.dir, `${randomUUID()}.tmp`);
    try {
      await this.#evict();
      await write(temp, data);
      await rename(temp, this.#path(name));
      if (this.#files.has(name)) this.#bytes -= size;
      this.#files.set(name, size);
      this.#complained = false;
    } catch (error) {
      this.#bytes -= size;
      await rm(temp, { force: true }).catch(() => undefined);
      this.#pause(error);
    }
  }

  async delete(name: string): Promise<void> {
    if (this.#files.has(name)) await this.#remove(name);
  }

  #path(name: string): string {
    return join(this.#options.dir, name);
  }

  async #evict(): Promise<void> {
    for (const name of this.#files.keys()) {
      if (this.#bytes <= this.#options.maxBytes) return;
      this.#evictions++;
      await this.#remove(name);
    }
  }

  async #remove(name: string): Promise<void> {
    this.#bytes -= this.#files.get(name) ?? 0;
    this.#files.delete(name);
    await rm(this.#path(name), { force: true }).catch(() => undefined);
  }

  async #takeOver(): Promise<void> {
    const found: { name: string; size: number; writtenAt: number }[] = [];
    for (const name of await readdir(this.#options.dir)) {
      const path = this.#path(name);
      const stats = await stat(path).catch(() => undefined);
      if (stats?.isFile() && NAME.test(name))
        found.push({ name, size: room(stats.size - HEADER_BYTES), writtenAt: stats.mtimeMs });
      else if (name.endsWith('.tmp')) await rm(path, { force: true });
    }
    for (const { name, size } of found.sort((a, b) => a.writtenAt - b.writtenAt)) {
      this.#files.set(name, size);
      this.#bytes += size;
    }
    await this.#evict();
  }

  #pause(error: unknown): void {
    this.#pausedUntilMs = this.#options.clock.monotonicMs() + PAUSE_MS;
    if (!this.#complained) this.#options.log.warn({ err: error }, 'the cache cannot be written; reading without it');
    this.#complained = true;
  }
}

async function readInto(path: string, memory: Buffer): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    return await fill(file, memory, 0);
  } finally {
    await file.close();
  }
}

/** Writes without a sync: the CRC finds the damage of a power cut. */
async function write(path: string, data: Buffer): Promise<void> {
  const header = Buffer.alloc(HEADER_BYTES);
  MARK.copy(header);
  header.writeUInt32BE(crc32(data), MARK.length);
  const file = await open(path, 'wx', 0o600);
  try {
    // A short write, as on a disk that fills up, is continued.
    await file.writeFile(header);
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

const isWhole = (file: Buffer): boolean =>
  file.length >= HEADER_BYTES &&
  file.subarray(0, MARK.length).equals(MARK) &&
  file.readUInt32BE(MARK.length) === crc32(file.subarray(HEADER_BYTES));
