/** Syncs a growing file to the disk in steps, so that the last sync is short. */
import type { FileHandle } from 'node:fs/promises';

const STEP_BYTES = 64 * 2 ** 20;

export class EarlySync {
  readonly #file: FileHandle;
  #waiting = 0;
  #syncing = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Records new bytes in the file. The last sync, before publishing, reports any failure. */
  wrote(bytes: number): void {
    this.#waiting += bytes;
    if (this.#waiting < STEP_BYTES || this.#syncing) return;
    this.#waiting = 0;
    this.#syncing = true;
    const over = () => {
      this.#syncing = false;
    };
    this.#file.datasync().then(over, over);
  }
}
