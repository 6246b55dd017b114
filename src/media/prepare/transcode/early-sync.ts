/** Sends on to the disk what is written to a file, in steps, so that little is left to wait for at the end. */
import type { FileHandle } from 'node:fs/promises';

const STEP_BYTES = 64 * 2 ** 20;

export class EarlySync {
  readonly #file: FileHandle;
  #waiting = 0;
  #syncing = false;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** So many more bytes are in the file. Whoever publishes it syncs it in the end, and hears of what fails then. */
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
