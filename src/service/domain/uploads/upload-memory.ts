/**
 * Allocates the buffers of upload bytes on their way to storage, from one budget for the server. No account holds more than a
 * share. Buffers are reused, so that the process does not grow with the number of uploads.
 */
import { type PieceMemory, SMALLEST_PIECE } from '../../../core/pods/storage/pieces.ts';

/** Largest share of an account. */
const SHARE = 1 / 4;

export class NoMemory extends Error {
  override readonly name = 'NoMemory';
}

interface Waiter {
  owner: string;
  serve: (buffer: Buffer) => void;
}

export class UploadMemory {
  readonly #budgetBytes: number;
  readonly #patienceMs: number;
  #usedBytes = 0;
  readonly #byOwner = new Map<string, number>();
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;
  #waiting: Waiter[] = [];

  /** `budgetBytes` limits all buffers together; `patienceMs` is the longest wait for one. */
  constructor(budgetBytes: number, patienceMs: number) {
    this.#budgetBytes = Math.max(budgetBytes, SMALLEST_PIECE);
    this.#patienceMs = patienceMs;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  forOwner(owner: string): PieceMemory {
    return {
      take: (bytes) => this.#take(owner, bytes),
      give: (buffer) => this.#give(owner, buffer),
    };
  }

  async #take(owner: string, bytes: number): Promise<Buffer> {
    // Waiting requests come first, so buffers do not grow meanwhile.
    if (this.#waiting.length === 0)
      for (let size = bytes; size >= SMALLEST_PIECE; size /= 2)
        if (this.#fits(owner, size)) return this.#make(owner, size);
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const waiter: Waiter = { owner, serve: resolve };
    this.#waiting.push(waiter);
    this.#serve();
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      reject(new NoMemory('There is no memory for more uploads.'));
    }, this.#patienceMs);
    return promise.finally(() => clearTimeout(timer));
  }

  #fits(owner: string, size: number): boolean {
    const own = this.#byOwner.get(owner) ?? 0;
    const share = Math.max(SMALLEST_PIECE, this.#budgetBytes * SHARE);
    return own + size <= share && this.#usedBytes + size <= this.#budgetBytes;
  }

  #make(owner: string, size: number): Buffer {
    this.#usedBytes += size;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) + size);
    const buffer = this.#free.get(size)?.pop();
    if (buffer) {
      this.#freeBytes -= size;
      return buffer;
    }
    // Free buffers count as well: they make room for other sizes.
    if (this.#usedBytes + this.#freeBytes > this.#budgetBytes) {
      this.#free.clear();
      this.#freeBytes = 0;
    }
    return Buffer.allocUnsafeSlow(size);
  }

  #give(owner: string, buffer: Buffer): void {
    const { length } = buffer;
    this.#usedBytes -= length;
    const left = (this.#byOwner.get(owner) ?? 0) - length;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
    const buffers = this.#free.get(length) ?? [];
    buffers.push(buffer);
    this.#free.set(length, buffers);
    this.#freeBytes += length;
    this.#serve();
  }

  /** Serves the owner with the smallest share first, then the longest waiting. */
  #serve(): void {
    const held = ({ owner }: Waiter): number => this.#byOwner.get(owner) ?? 0;
    for (;;) {
      const next = this.#waiting
        .filter(({ owner }) => this.#fits(owner, SMALLEST_PIECE))
        .reduce<Waiter | undefined>((best, one) => (best && held(best) <= held(one) ? best : one), undefined);
      if (!next) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      next.serve(this.#make(next.owner, SMALLEST_PIECE));
    }
  }
}
