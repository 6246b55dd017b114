/**
 * A source on its way to a local disk: it is written, and read from its beginning on while the rest arrives. The file is complete or not
 * at all what it says it is, so what readers made of it counts only once the import has succeeded.
 */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Storage } from '../../storage/storage.ts';

const BUFFER_BYTES = 2 ** 18;

export class Arrival implements Pick<Storage, 'write'> {
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

  /** Seconds until all is there, at the speed so far; NaN where the sender does not state the size. */
  get secondsLeft(): number {
    const elapsedSeconds = (performance.now() - this.#beganMs) / 1000;
    return (((this.totalBytes ?? Number.NaN) - this.#arrivedBytes) * elapsedSeconds) / this.#arrivedBytes;
  }

  /** Writes the file; the key has no meaning. Presents it as something to write to like storage. */
  async write(_key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void> {
    const isFirst = this.#state === 'new';
    if (isFirst) this.#state = 'arriving';
    const file = await open(this.path, 'w');
    try {
      const keep = async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          // It writes where the last call ended, and continues a short write.
          await file.writeFile(piece);
          if (isFirst) this.#move(piece.length);
        }
      };
      const source = Buffer.isBuffer(body) ? [body] : body;
      await pipeline(source, keep, { ...(signal && { signal }) });
      if (isFirst) this.#settle('complete');
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
