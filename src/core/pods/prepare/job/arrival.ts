/**
 * A source on its way to a local disk: it is written, and read from its beginning on while the rest arrives. The file is complete or not
 * at all what it says it is, so what readers made of it counts only once the import has succeeded.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Written } from '../link/fetch.ts';
import { gather } from '../link/gather.ts';

const BUFFER_BYTES = 2 ** 20;

export class Arrival {
  readonly path: string;
  /** Size of the whole, where the sender states it. */
  totalBytes: number | undefined;
  #arrivedBytes = 0;
  #beganMs = Number.NaN;
  /** An arrival that has failed may begin again, but not for those who have read it. */
  #state: 'new' | 'arriving' | 'complete' | 'failed' = 'new';
  #failure: unknown;
  #moved = Promise.withResolvers<void>();

  constructor(path: string) {
    this.path = path;
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  get hasFailed(): boolean {
    return this.#state === 'failed';
  }

  /** Seconds until all is there, at the speed so far; NaN where the sender does not state the size. */
  get secondsLeft(): number {
    const elapsedSeconds = (performance.now() - this.#beganMs) / 1000;
    return (((this.totalBytes ?? Number.NaN) - this.#arrivedBytes) * elapsedSeconds) / this.#arrivedBytes;
  }

  /** Writes the file, and hashes it on the way. Rejects with the error of `bytes`, of the disk, or the signal's reason. */
  async write(bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<Written> {
    const isFirst = this.#state === 'new';
    if (isFirst) this.#state = 'arriving';
    const file = await open(this.path, 'w');
    try {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      await pipeline(
        bytes,
        async (pieces: AsyncIterable<Buffer>) => {
          let written = Promise.resolve();
          // A batch is hashed while it is written, and the next one is gathered meanwhile.
          for await (const batch of gather(pieces)) {
            await written;
            // It writes where the last call ended, and continues a short write.
            written = file.writeFile(batch).then(() => (isFirst ? this.#move(batch.length) : undefined));
            written.catch(() => undefined);
            hash.update(batch);
            sizeBytes += batch.length;
          }
          await written;
        },
        { signal },
      );
      if (isFirst) this.#settle('complete');
      return { sha256: hash.digest('hex'), sizeBytes };
    } catch (error) {
      if (isFirst) this.#settle('failed', error);
      throw error;
    } finally {
      await file.close();
    }
  }

  #move(bytes: number): void {
    if (this.#arrivedBytes === 0) this.#beganMs = performance.now();
    this.#arrivedBytes += bytes;
    const moved = this.#moved;
    this.#moved = Promise.withResolvers();
    moved.resolve();
  }

  #settle(state: 'complete' | 'failed', failure?: unknown): void {
    this.#state = state;
    this.#failure = failure;
    this.#move(0);
  }

  /** Waits until there is something behind `at`, and resolves with the bytes from there on; 0 at the end. */
  async #wait(at: number, signal: AbortSignal): Promise<number> {
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    const stop = () => stopped.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        if (this.#state === 'failed') throw this.#failure;
        if (this.#arrivedBytes > at || this.#state === 'complete') return Math.max(0, this.#arrivedBytes - at);
        await Promise.race([this.#moved.promise, stopped.promise]);
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Yields the file from its beginning, as it arrives. Throws the error of the arrival, or the signal's reason. */
  async *follow(signal: AbortSignal): AsyncGenerator<Buffer> {
    await this.#wait(0, signal);
    const file = await open(this.path);
    try {
      for (let at = 0; ; ) {
        const there = await this.#wait(at, signal);
        if (there === 0) return;
        const size = Math.min(there, BUFFER_BYTES);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, at);
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  /** Reads a part, waiting for it; undefined where the file ends before it is whole. Rejects as `follow` throws. */
  async readPart(at: number, length: number, signal: AbortSignal): Promise<Buffer | undefined> {
    while (this.#arrivedBytes < at + length) {
      const before = this.#arrivedBytes;
      if ((await this.#wait(before, signal)) === 0) return undefined;
    }
    const file = await open(this.path);
    try {
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, at);
      return buffer;
    } finally {
      await file.close();
    }
  }

  /** Waits for the first `bytes`, or for the whole file if it is smaller. Rejects as `follow` throws. */
  async waitFor(bytes: number, signal: AbortSignal): Promise<void> {
    while (this.#arrivedBytes < bytes && (await this.#wait(this.#arrivedBytes, signal)) > 0);
  }
}
