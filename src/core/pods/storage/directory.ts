/**
 * Stores objects in a directory: an object is a file, its key the path below the root. A write goes to a temporary file
 * in the same tree, is synced to disk and renamed, so that readers never see a part of it, however the writer ends.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { settlesWithin } from '../../lib/settle-within.ts';
import { fill } from './fill.ts';
import { keySegments } from './key.ts';
import { type ReadRange, type Storage, StorageError, type StoredObject } from './storage.ts';

/**
 * Temporary files lie below the first segment of the key: a rename is atomic only within one mount, and a pod may mount
 * only that segment. No key can name this directory.
 */
const TEMP_DIRECTORY = '.tmp';
/** First segments of keys. They are never removed: pods mount them, and would keep the removed directory. */
const TOP_DIRECTORIES = ['incoming', 'sources', 'renditions'];
/** A running writer touches its file all the time; a file without a touch for this long has no writer. */
const LEFTOVER_AGE_MS = 6 * 3_600_000;

const SYNC_MS = 1000;

/** A part of an object is read in pieces of this size, not of Node's 64 KiB. */
const PART_READ_BYTES = 512 * 1024;

const CODES: Record<string, StorageError['code']> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EIO: 'unavailable',
  EROFS: 'unavailable',
  ESTALE: 'unavailable',
  EACCES: 'unavailable',
  EPERM: 'unavailable',
};

/** Codes for a file on another file system or mount, or on one without links. */
const UNLINKABLE = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

const MESSAGES: Record<StorageError['code'], string> = {
  not_found: 'The object does not exist.',
  changed: 'The object was replaced while it was read.',
  full: 'The storage directory is full.',
  unavailable: 'The storage directory cannot be read or written. Check its volume and its permissions.',
};

const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Turns an error of the file system into a StorageError; other errors (of the body, an abort) stay. */
function storageError(error: unknown): unknown {
  const code = CODES[systemCode(error) ?? ''];
  return code && !(error instanceof StorageError) ? new StorageError(code, MESSAGES[code], error) : error;
}

const notFound = (key: string, cause?: unknown) =>
  new StorageError('not_found', `Object ${key} does not exist.`, cause);

/**
 * Puts a growing file on the disk from time to time, until the promise settles: the kernel would keep gigabytes for the sync at the end.
 * Rejects with an error of the file system.
 */
async function syncUntil(path: string, settled: Promise<unknown>): Promise<void> {
  while (!(await settlesWithin(settled, SYNC_MS))) {
    const file = await open(path, 'r');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

export class DirectoryStorage implements Storage {
  readonly #root: string;
  #swept: Promise<void> | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  #path(key: string): string {
    return join(this.#root, ...keySegments(key));
  }

  async head(key: string): Promise<StoredObject | undefined> {
    try {
      const stats = await stat(this.#path(key), { bigint: true });
      if (!stats.isFile()) return undefined;
      return { sizeBytes: Number(stats.size), modifiedAt: stats.mtime, version: formatVersion(stats) };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw storageError(error);
    }
  }

  async read(
    key: string,
    { start = 0, end = Number.POSITIVE_INFINITY, version, pieceBytes = PART_READ_BYTES, into }: ReadRange = {},
    signal?: AbortSignal,
  ): Promise<Readable> {
    const file = await open(this.#path(key), 'r').catch((error: unknown) => {
      throw isMissing(error) ? notFound(key, error) : storageError(error);
    });
    try {
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) throw notFound(key);
      if (version !== undefined && version !== formatVersion(stats))
        throw new StorageError('changed', MESSAGES.changed);
      if (end > start && !into) {
        // A file stream's `end` is inclusive, the storage's is not.
        const highWaterMark = Number.isFinite(end) && { highWaterMark: Math.min(end - start, pieceBytes) };
        return file.createReadStream({ start, end: end - 1, ...highWaterMark, ...(signal && { signal }) });
      }
      const bytes = into && end > start ? await fill(file, into.subarray(0, end - start), start, signal) : undefined;
      await file.close();
      return Readable.from(bytes ? [bytes] : []);
    } catch (error) {
      await file.close();
      throw storageError(error);
    }
  }

  write(key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void> {
    return this.publish(key, async (path) => {
      const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body;
      const written = pipeline(source, createWriteStream(path), { ...(signal && { signal }) });
      const synced = syncUntil(path, written).catch((error: Error) => {
        source.destroy(error);
        throw error;
      });
      await Promise.all([written, synced]);
    });
  }

  async publish(key: string, fill: (path: string) => Promise<void>, complete = () => key): Promise<void> {
    await this.#place(key, async (temp) => {
      await writeFile(temp, '', { flag: 'wx' });
      await fill(temp);
      return complete();
    });
  }

  async adopt(key: string, path: string, approved: Promise<unknown>): Promise<boolean> {
    // It may be refused before it is awaited.
    approved.catch(() => undefined);
    const placed = await this.#place(key, async (temp) => {
      try {
        await link(path, temp);
      } catch (error) {
        if (UNLINKABLE.has(systemCode(error) ?? '')) return undefined;
        throw error;
      }
      await syncUntil(temp, approved);
      await approved;
      return key;
    });
    return placed !== undefined;
  }

  /**
   * Runs `make` with the path of a temporary file to make, near the place of `key`. Where that resolves with a key, the file becomes its
   * object; resolves with that key.
   */
  async #place(key: string, make: (temp: string) => Promise<string | undefined>): Promise<string | undefined> {
    const segments = keySegments(key);
    const directory = join(this.#root, ...segments.slice(0, Math.min(1, segments.length - 1)), TEMP_DIRECTORY);
    const temp = join(directory, randomUUID());
    try {
      await mkdir(directory, { recursive: true });
      this.#swept ??= this.#sweep();
      await this.#swept;
      const made = await make(temp);
      if (made !== undefined) await this.#commit(temp, this.#path(made));
      return made;
    } catch (error) {
      await rm(temp, { force: true });
      throw storageError(error);
    }
  }

  async #commit(temp: string, path: string): Promise<void> {
    const file = await open(temp, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await mkdir(dirname(path), { recursive: true });
    await rename(temp, path).catch(async (error: unknown) => {
      // Another process may have deleted the directory between the two calls.
      if (!isMissing(error)) throw error;
      await mkdir(dirname(path), { recursive: true });
      await rename(temp, path);
    });
    await syncDirectory(dirname(path));
  }

  async withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T> {
    if (!(await this.head(key))) throw notFound(key);
    return use(this.#path(key));
  }

  async delete(key: string): Promise<void> {
    const segments = keySegments(key);
    try {
      await rm(join(this.#root, ...segments), { force: true });
    } catch (error) {
      throw storageError(error);
    }
    // Directories exist only for their objects; rmdir refuses one that is not empty.
    for (let depth = segments.length - 1; depth > 1; depth--) {
      if (!(await tryRmdir(join(this.#root, ...segments.slice(0, depth))))) return;
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    const slash = prefix.lastIndexOf('/');
    const folder = slash < 0 ? [] : keySegments(prefix.slice(0, slash));
    for await (const key of this.#walk(folder)) if (key.startsWith(prefix)) yield key;
  }

  async *#walk(folder: string[]): AsyncIterable<string> {
    const entries = await readdir(join(this.#root, ...folder), { withFileTypes: true }).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw storageError(error);
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const path = [...folder, entry.name];
      if (entry.isDirectory()) yield* this.#walk(path);
      else if (entry.isFile()) yield path.join('/');
    }
  }

  /**
   * Removes the files of killed writers, once a process. Another process may do the same, so a missing file is no
   * error.
   */
  async #sweep(): Promise<void> {
    for (const above of ['', ...(await readdir(this.#root))]) {
      const directory = join(this.#root, above, TEMP_DIRECTORY);
      for (const name of await readdir(directory).catch(() => [])) {
        const path = join(directory, name);
        const stats = await stat(path).catch(() => undefined);
        if (stats && Date.now() - stats.mtimeMs > LEFTOVER_AGE_MS) await rm(path, { force: true });
      }
    }
  }

  async ensureLayout(): Promise<void> {
    try {
      for (const name of TOP_DIRECTORIES) await mkdir(join(this.#root, name), { recursive: true });
    } catch (error) {
      throw storageError(error);
    }
  }
}

/** A write makes a new file, so the inode number and the time identify the version. */
const formatVersion = (stats: { ino: bigint; size: bigint; mtimeNs: bigint }): string =>
  `${stats.ino}-${stats.size}-${stats.mtimeNs}`;

function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function tryRmdir(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch {
    return false;
  }
}
