/** Writes an object piece by piece, by a caller that learns only on the way where it ends and what its key is. */
import { type FileHandle, open } from 'node:fs/promises';
import type { Storage } from './storage.ts';

export class GrowingObject {
  readonly #file: FileHandle;
  readonly #filled: PromiseWithResolvers<string>;
  readonly #published: Promise<void>;

  private constructor(file: FileHandle, filled: PromiseWithResolvers<string>, published: Promise<void>) {
    this.#file = file;
    this.#filled = filled;
    this.#published = published;
  }

  /**
   * Begins an object, which is not visible before `commit`. `key` has the first segment of the object's key. Rejects with
   * StorageError.
   */
  static async begin(storage: Pick<Storage, 'publish'>, key: string): Promise<GrowingObject> {
    const begun = Promise.withResolvers<FileHandle>();
    const filled = Promise.withResolvers<string>();
    let name = key;
    const fill = async (path: string) => {
      begun.resolve(await open(path, 'w'));
      name = await filled.promise;
    };
    const published = storage.publish(key, fill, () => name);
    published.catch(begun.reject);
    return new GrowingObject(await begun.promise, filled, published);
  }

  /** Appends bytes. Rejects with StorageError; nothing stays behind then. */
  async append(bytes: Buffer): Promise<void> {
    try {
      // It writes where the last call ended, and continues a short write.
      await this.#file.writeFile(bytes);
    } catch (error) {
      // The storage knows what an error of its file means.
      await this.#end(() => this.#filled.reject(error));
    }
  }

  /** Makes the object visible under `key`, whole. Rejects with StorageError. */
  commit(key: string): Promise<void> {
    return this.#end(() => this.#filled.resolve(key));
  }

  /** Drops the object. */
  async discard(): Promise<void> {
    await this.#end(() => this.#filled.reject(new Error('the object is not wanted'))).catch(() => undefined);
  }

  async #end(settle: () => void): Promise<void> {
    await this.#file.close();
    settle();
    await this.#published;
  }
}
