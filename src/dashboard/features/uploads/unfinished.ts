/**
 * Remembers the files that were not sent whole over reloads, so that the same file goes on where it broke off. Each account
 * has its own list: the next person at this computer sees no names of another one's files.
 */
import type { UrlStorage } from 'tus-js-client';

/** As tus-js-client keeps them. */
type Previous = Awaited<ReturnType<UrlStorage['findAllUploads']>>[number];

export interface Unfinished {
  /** By which it is forgotten. */
  key: string;
  objectID: string;
  name: string;
  sizeBytes: number;
}

const PREFIX = 'loopstream.sending';

/** These stay the same of a file when it is chosen again. */
export const computeFingerprint = ({
  name,
  size,
  lastModified,
}: Pick<File, 'name' | 'size' | 'lastModified'>): string => `${size}.${lastModified}.${encodeURIComponent(name)}`;

/** The last part of an upload's address is its id. */
export const parseObjectID = (uploadUrl: string): string => decodeURIComponent(uploadUrl.split('/').at(-1) ?? '');

/** Keeps them in `storage`, which may be full or forbidden: then nothing is remembered, and sending works all the same. */
export class UnfinishedUploads implements UrlStorage {
  readonly #storage: Storage | undefined;
  readonly #prefix: string;

  constructor(storage: Storage | undefined, accountId: string) {
    this.#storage = storage;
    this.#prefix = `${PREFIX}.${accountId}.`;
  }

  /** Newest first. */
  list(): Unfinished[] {
    return this.#read('')
      .map(({ urlStorageKey, uploadUrl, metadata, size, creationTime }) => ({
        creationTime,
        key: urlStorageKey,
        objectID: parseObjectID(uploadUrl ?? ''),
        name: metadata.filename ?? 'A file',
        sizeBytes: size ?? 0,
      }))
      .sort((a, b) => Date.parse(b.creationTime) - Date.parse(a.creationTime));
  }

  forget(key: string): void {
    this.#storage?.removeItem(key);
  }

  findAllUploads = async (): Promise<Previous[]> => this.#read('');
  findUploadsByFingerprint = async (fingerprint: string): Promise<Previous[]> => this.#read(`${fingerprint}.`);
  removeUpload = async (key: string): Promise<void> => this.forget(key);

  addUpload = async (fingerprint: string, upload: Previous): Promise<string> => {
    const key = `${this.#prefix}${fingerprint}.${parseObjectID(upload.uploadUrl ?? '')}`;
    try {
      this.#storage?.setItem(key, JSON.stringify(upload));
    } catch {
      // Full: it cannot go on after a reload.
    }
    return key;
  };

  #read(start: string): Previous[] {
    const storage = this.#storage;
    if (!storage) return [];
    const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '');
    return keys
      .filter((key) => key.startsWith(`${this.#prefix}${start}`))
      .flatMap((key) => {
        try {
          return [{ ...(JSON.parse(storage.getItem(key) ?? '') as Previous), urlStorageKey: key }];
        } catch {
          return [];
        }
      });
  }
}

/** The browser's, if it lets us have one. */
export function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
