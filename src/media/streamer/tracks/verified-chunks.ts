/**
 * Remembers the chunks whose content was as their index says. A loop reads the same chunks for days, and a hash of each reading takes a tenth
 * of a stream's processor time. An object that is replaced has another version, and a cache checks by itself what its disk returns.
 * Pure: no I/O, no clock.
 */

/** Eight hours of chunks, in a tenth of a MiB. A longer list is verified in each round. */
const MAX_CHUNKS = 1024;

export class VerifiedChunks {
  /** The version of each object, by its key; the one that was added first is the first to go. */
  readonly #versions = new Map<string, string>();

  has(key: string, version: string): boolean {
    return this.#versions.get(key) === version;
  }

  add(key: string, version: string): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
    const [first] = this.#versions.keys();
    if (this.#versions.size > MAX_CHUNKS && first !== undefined) this.#versions.delete(first);
  }
}
