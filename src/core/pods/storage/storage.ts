/** Defines where media bytes are stored: one small interface, implemented by a directory and by S3. */
import type { Readable } from 'node:stream';

export interface StoredObject {
  sizeBytes: number;
  modifiedAt: Date;
  /** Differs whenever the content differs; a read can require it. */
  version: string;
}

/** Bytes [start, end), all by default. With a `version`, only of that version. */
export interface ReadRange {
  start?: number;
  end?: number;
  version?: string | undefined;
  /** Largest chunk of the stream, where the storage chooses it: a reader that pauses holds some of them. */
  pieceBytes?: number | undefined;
  /** Keys of the objects that are read after this one, in order. A cache may fetch them ahead. */
  followedBy?: readonly string[] | undefined;
  /**
   * Memory for the bytes, at least `end - start` of them. A storage may read into it, from its beginning on: the chunks that it
   * returns are views of it then. It writes nothing there once the read has failed or ended.
   */
  into?: Buffer | undefined;
}

/** For S3; a directory needs none. */
export interface StorageCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Directory with the files accessKeyId and secretAccessKey, which are read again as long as they are needed. */
export interface CredentialFiles {
  directory: string;
}

export interface StorageOptions {
  /** Credentials for S3. Without them the SDK uses its defaults: the pod's identity, its own files. */
  credentials?: StorageCredentials | CredentialFiles | undefined;
  /** Local directory for files on their way to or from S3; the system's temporary one by default. */
  scratchDir?: string | undefined;
  /** Directory for local files of objects that another user of the same group may read; `scratchDir` by default. */
  inputDir?: string | undefined;
}

export class StorageError extends Error {
  /**
   * `not_found`: no such object. `changed`: the object was replaced, so the rest of the version being read is gone.
   * `full`: no room left. `unavailable`: the storage did not answer.
   */
  readonly code: 'not_found' | 'changed' | 'full' | 'unavailable';
  constructor(code: StorageError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

export interface Storage {
  /** Creates the directories that pods mount, so that they belong to the user that writes. */
  ensureLayout?(): Promise<void>;
  /** Returns size, time and version of an object; undefined when there is none. */
  head(key: string): Promise<StoredObject | undefined>;
  /**
   * Reads an object or a part of it. Rejects with StorageError `not_found`, or `changed` for a version that is gone.
   */
  read(key: string, range?: ReadRange, signal?: AbortSignal): Promise<Readable>;
  /** Drops an object that turned out to be damaged from a cache, so that the next reader gets it from the storage. */
  discard?(key: string): Promise<void>;
  /** Writes an object whole: readers see the old one or the new one, never a part. */
  write(key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void>;
  /**
   * Makes a local file the object without copying it, once it is `approved`. Resolves with false at once where that is not possible, and
   * does nothing then. The file may grow until it is approved. Rejects with StorageError or as `approved` does; nothing stays behind then.
   */
  adopt?(key: string, path: string, approved: Promise<unknown>): Promise<boolean>;
  /**
   * Runs `fill` with the path of an empty file on a local disk; its content becomes the object, atomically. Some
   * programs need a file to write to (ffmpeg). Nothing stays behind when `fill` throws. `complete` gives the object
   * another key of the same first segment, once its content is known.
   */
  publish(key: string, fill: (path: string) => Promise<void>, complete?: () => string): Promise<void>;
  /** Runs `use` with the path of a local file that holds the object (ffmpeg needs to seek). */
  withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T>;
  delete(key: string): Promise<void>;
  /** Lists the keys that begin with `prefix`. */
  list(prefix: string): AsyncIterable<string>;
}
