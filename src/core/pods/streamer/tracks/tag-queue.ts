/**
 * Queues the tags of one track between reading and playing. They are kept as numbers in entries that are used again:
 * tags that wait for seconds as objects grow old, and the collector finds them late. Pure: no I/O, no clock.
 */
import type { Block } from '../../../lib/block-pool.ts';
import type { FlvTag, TagType } from '../../rendition/flv.ts';

const FIRST_ENTRIES = 64;

interface Entry<About> {
  type: TagType;
  timestampMs: number;
  offset: number;
  block: Block;
  /** Range of the body in the block. */
  from: number;
  to: number;
  about: About;
}

/** `About` is what is known of a tag besides. */
export class TagQueue<About> {
  /** A ring; its length is a power of two. Entries are undefined until they are used for the first time. */
  #ring: (Entry<About> | undefined)[] = new Array<undefined>(FIRST_ENTRIES).fill(undefined);
  #at = 0;
  #size = 0;
  /** Block of the tag that was taken last. */
  #taken: Block | undefined;
  /** Bytes of the bodies. */
  bytes = 0;

  /** Adds a tag whose body lies in the block, which is held until the tag behind it is taken. */
  push({ type, timestampMs, offset, body }: FlvTag, block: Block, about: About): void {
    if (this.#size === this.#ring.length) this.#grow();
    block.hold();
    const from = body.byteOffset - block.bytes.byteOffset;
    const entry = { type, timestampMs, offset, block, from, to: from + body.length, about };
    const at = this.#index(this.#size);
    const used = this.#ring[at];
    if (used) Object.assign(used, entry);
    else this.#ring[at] = entry;
    this.#size++;
    this.bytes += body.length;
  }

  /** Removes the first tag. Its body is valid until the next call, or until the queue is cleared. */
  take(): { tag: FlvTag; about: About } | undefined {
    this.#taken?.release();
    const entry = this.#entry(0);
    this.#taken = entry?.block;
    if (!entry) return undefined;
    this.#at = this.#index(1);
    this.#size--;
    this.bytes -= entry.to - entry.from;
    return { tag: readEntry(entry), about: entry.about };
  }

  /** Returns the first tag without removing it. */
  get first(): FlvTag | undefined {
    const entry = this.#entry(0);
    return entry && readEntry(entry);
  }

  /** Time of the first tag; 0 without one. */
  get firstMs(): number {
    return this.#entry(0)?.timestampMs ?? 0;
  }

  /** Milliseconds from the first tag to the last one. */
  get spanMs(): number {
    return (this.#entry(this.#size - 1)?.timestampMs ?? 0) - this.firstMs;
  }

  clear(): void {
    this.#taken?.release();
    this.#taken = undefined;
    for (let n = 0; n < this.#size; n++) this.#entry(n)?.block.release();
    this.#size = 0;
    this.bytes = 0;
  }

  #index(n: number): number {
    return (this.#at + n) & (this.#ring.length - 1);
  }

  #entry(n: number): Entry<About> | undefined {
    return n >= 0 && n < this.#size ? this.#ring[this.#index(n)] : undefined;
  }

  #grow(): void {
    const ordered = [...this.#ring.slice(this.#at), ...this.#ring.slice(0, this.#at)];
    this.#ring = [...ordered, ...new Array<undefined>(ordered.length).fill(undefined)];
    this.#at = 0;
  }
}

const readEntry = ({ type, timestampMs, offset, block, from, to }: Entry<unknown>): FlvTag => ({
  type,
  timestampMs,
  offset,
  body: block.bytes.subarray(from, to),
});
