/**
 * Notices that a file was replaced, without reading it. Polling a file's inode takes a few microseconds in this thread; reading it takes
 * four turns of another one.
 */
import { statSync } from 'node:fs';

export class ChangedFile {
  readonly #path: string;
  /** Version of the content that was taken. */
  #taken: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Calls `take` unless the file is the one that it took last. `take` resolves with false where it could not use the file, and is called
   * again by the next poll then. Rejects as `take` does.
   */
  async poll(take: () => Promise<boolean>): Promise<void> {
    // A file that is replaced while it is read has another version at the next poll.
    const version = findVersion(this.#path);
    if (version !== undefined && version === this.#taken) return;
    this.#taken = undefined;
    if (await take()) this.#taken = version;
  }
}

/** Kubernetes swaps a link to other files, and every other writer renames a new file or changes its time. Undefined without a file. */
function findVersion(path: string): string | undefined {
  try {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${dev}-${ino}-${size}-${mtimeNs}`;
  } catch {
    return undefined;
  }
}
