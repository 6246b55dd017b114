/** Writes bytes one behind the other into pooled blocks, and cuts them into parts. Pure: no I/O, no clock. */
import type { Block, BlockPool } from '../../../lib/block-pool.ts';

export interface WrittenParts {
  parts: readonly Buffer[];
  /** Each is held once for the caller. */
  blocks: readonly Block[];
}

export class BlockWriter {
  readonly #pool: BlockPool;
  #block: Block | undefined;
  /** End of the bytes in the block, and their beginning behind the last cut. */
  #at = 0;
  #from = 0;
  #parts: Buffer[] = [];
  #blocks: Block[] = [];

  constructor(pool: BlockPool) {
    this.#pool = pool;
  }

  /** Copies the bytes [start, end). A caller that cut them out first would make an object for each tag. */
  write(bytes: Buffer, start = 0, end = bytes.length): void {
    for (let from = start; from < end; ) {
      const block = this.#block && this.#at < this.#block.bytes.length ? this.#block : this.#turn();
      const copied = bytes.copy(block.bytes, this.#at, from, end);
      this.#at += copied;
      from += copied;
    }
  }

  /** Returns all that was written since the last cut. */
  cut(): WrittenParts {
    this.#closePart();
    const written = { parts: this.#parts, blocks: this.#blocks };
    this.#parts = [];
    this.#blocks = [];
    return written;
  }

  #turn(): Block {
    this.#closePart();
    this.#block?.release();
    this.#block = this.#pool.take();
    this.#at = this.#from = 0;
    return this.#block;
  }

  #closePart(): void {
    if (!this.#block || this.#at === this.#from) return;
    this.#block.hold();
    this.#blocks.push(this.#block);
    this.#parts.push(this.#block.bytes.subarray(this.#from, this.#at));
    this.#from = this.#at;
  }
}
