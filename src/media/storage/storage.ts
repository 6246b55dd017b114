/** Where media bytes are kept. One small interface, kept by a directory or by S3. */
import type { Readable } from 'node:stream';

export interface StoredObject {
  sizeBytes: number;
  modifiedAt: Date;
  /** Another one whenever the content is another; what a read can be held to. */
  version: string;
}

/** Bytes [start, end), all by default. With a `version`, of that version or not at all. */
export interface ReadRange {
  start?: number;
  end?: number;
  version?: string | undefined;
}

/** For S3; a directory needs none. */
export interface StorageCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A directory with the files accessKeyId and secretAccessKey, which are read again as long as they are needed. */
export interface CredentialFiles {
  directory: string;
}

export interface StorageOptions {
  /** For S3. Without them the SDK looks where it always does: the pod's identity, its own files. */
  credentials?: StorageCredentials | CredentialFiles | undefined;
  /** A local directory for files on their way to or from S3; the system's temporary one by default. */
  scratchDir?: string | undefined;
  /** A directory for local files of objects, which another user of the same group may read; `scratchDir` by default. */
  inputDir?: string | undefined;
}

export class StorageError extends Error {
  /**
   * `not_found`: no such object. `changed`: it was replaced, so the rest of the version that is being read is gone. `full`:
   * no room left. `unavailable`: the storage did not answer.
   */
  readonly code: 'not_found' | 'changed' | 'full' | 'unavailable';
  constructor(code: StorageError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

export interface Storage {
  /** Makes the directories of which pods mount parts, so that they belong to the user that writes. */
  ensureLayout?(): Promise<void>;
  /** Size, time and version of an object; undefined when there is none. */
  head(key: string): Promise<StoredObject | undefined>;
  /** Part of an object or all of it. Rejects with StorageError `not_found`, or `changed` for a version that is gone. */
  read(key: string, range?: ReadRange, signal?: AbortSignal): Promise<Readable>;
  /** Writes an object whole: readers see the old one or the new one, never a part. */
  write(key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void>;
  /**
   * Runs `fill` with the path of an empty file on a local disk; what it holds afterwards becomes the object, atomically.
   * For programs that need a file to write to (ffmpeg). Nothing is left behind when `fill` throws.
   */
  publish(key: string, fill: (path: string) => Promise<void>): Promise<void>;
  /** Runs `use` with the path of a local file that holds the object (ffmpeg needs to seek). */
  withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T>;
  delete(key: string): Promise<void>;
  /** Keys that begin with `prefix`. */
  list(prefix: string): AsyncIterable<string>;
}
