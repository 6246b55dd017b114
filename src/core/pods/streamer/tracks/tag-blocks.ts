/**
 * Cuts an item's bytes into tags. Ranges are read into pooled blocks, and tags are views of them. A tag that has no room left in
 * a block is moved to the beginning of the next one. Pure: no I/O, no clock.
 */
import type { Block, BlockPool } from '../../../lib/block-pool.ts';
import { FlvParser, type FlvTag } from '../../rendition/flv.ts';

/** With less room than this, a block ends: requests to a storage are not to be tiny. */
const LEAST_ROOM_BYTES = 64 * 1024;

export class TagBlocks {
  readonly #pool: BlockPool;
  readonly #parser: FlvParser;
  #block: Block | undefined;
  /** Bytes of the block that hold media, and those of them that are parsed. */
  #filled = 0;
  #parsed = 0;

  /** `offset` is that of the first byte in the file: its beginning or that of a tag. */
  constructor(pool: BlockPool, offset: number) {
    this.#pool = pool;
    this.#parser = new FlvParser(offset);
  }

  /** Returns memory for the next range, at most a block of the pool. The caller releases the block when the range is read. */
  begin(): { block: Block; room: Buffer } {
    const block = this.#findRoom();
    block.hold();
    return { block, room: block.bytes.subarray(this.#filled, this.#filled + this.#pool.blockBytes) };
  }

  /**
   * Takes bytes of the range, which may lie in its memory already. Calls `give` with each tag that is whole now; its body is valid while the
   * block is held. Returns the bytes in the block. Throws FlvError.
   */
  add(bytes: Buffer, give: (tag: FlvTag, block: Block) => void): Buffer {
    const block = this.#block;
    if (!block) throw new Error('A range must begin before its bytes.');
    const from = this.#filled;
    if (bytes.buffer === block.bytes.buffer) this.#filled += bytes.length;
    else this.#filled += bytes.copy(block.bytes, from);
    const added = block.bytes.subarray(from, this.#filled);
    this.#parsed += this.#parser.parse(block.bytes.subarray(this.#parsed, this.#filled), (tag) => give(tag, block));
    return added;
  }

  /** Ends a chunk; the next one begins in a block of its own. Throws FlvError `truncated` inside a tag. */
  end(): void {
    this.#parser.end();
    this.close();
  }

  /** Releases the block that is being filled. */
  close(): void {
    this.#block?.release();
    this.#block = undefined;
    this.#filled = this.#parsed = 0;
  }

  #findRoom(): Block {
    const before = this.#block;
    if (before && before.bytes.length - this.#filled >= LEAST_ROOM_BYTES) return before;
    const rest = before?.bytes.subarray(this.#parsed, this.#filled);
    const restBytes = rest?.length ?? 0;
    const block = this.#pool.take(Math.max(this.#parser.neededBytes, restBytes + LEAST_ROOM_BYTES));
    rest?.copy(block.bytes);
    before?.release();
    this.#block = block;
    this.#filled = restBytes;
    this.#parsed = 0;
    return block;
  }
}
