/**
 * Lends blocks of memory that are used again and again. The collector finds dead buffers late: it sees little of their
 * size, so a stream that allocates its media holds several times what is alive. Pure: no I/O, no clock.
 */

/** Blocks that were free all along for this many takes are left to the collector. */
const TRIM_AFTER_TAKES = 64;

/** Memory with a count of its holders. When the last one releases it, others may overwrite it. */
export class Block {
  readonly bytes: Buffer;
  readonly #pool: BlockPool;
  #holders = 1;

  /** Has one holder: the caller. */
  constructor(bytes: Buffer, pool: BlockPool) {
    this.bytes = bytes;
    this.#pool = pool;
  }

  /** Adds a holder. Throws when the block has none: its memory may be someone else's. */
  hold(): void {
    if (this.#holders === 0) throw new Error('A released block cannot be held.');
    this.#holders++;
  }

  /** Removes a holder. Throws when the block has none. */
  release(): void {
    if (this.#holders === 0) throw new Error('A block was released once too often.');
    this.#holders--;
    if (this.#holders === 0) this.#pool.give(this.bytes);
  }
}

/** A block whose holders never release it is no leak: the collector gets it, and the pool makes another. */
export class BlockPool {
  readonly blockBytes: number;
  #free: Buffer[] = [];
  #takes = 0;
  /** The least number of free blocks since the last trim. */
  #leastFree = 0;

  constructor(blockBytes: number) {
    this.blockBytes = blockBytes;
  }

  /** Returns a block of the pool's size. One with `leastBytes` that is larger is made for this use alone. */
  take(leastBytes = 0): Block {
    if (leastBytes > this.blockBytes) return new Block(Buffer.allocUnsafeSlow(leastBytes), this);
    const bytes = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.blockBytes);
    this.#leastFree = Math.min(this.#leastFree, this.#free.length);
    if (++this.#takes === TRIM_AFTER_TAKES) this.#trim();
    return new Block(bytes, this);
  }

  /** Takes back the memory of a block that nobody holds. */
  give(bytes: Buffer): void {
    if (bytes.length === this.blockBytes) this.#free.push(bytes);
  }

  #trim(): void {
    // The blocks that rested longest lie at the front.
    this.#free.splice(0, this.#leastFree);
    this.#takes = 0;
    this.#leastFree = this.#free.length;
  }
}

/** Keeps the pool of the latest size. Blocks of another size return to a pool that is no longer used. */
export class BlockPools {
  #last: BlockPool | undefined;

  of(blockBytes: number): BlockPool {
    if (this.#last?.blockBytes !== blockBytes) this.#last = new BlockPool(blockBytes);
    return this.#last;
  }
}
