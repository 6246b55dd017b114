/**
 * A feed: one receiver's bounded share of the stream. A receiver that is too slow loses whole GOPs and goes on at a
 * keyframe; it never holds up the others, and memory does not grow.
 */
import type { Writable } from 'node:stream';
import { decoderHeaders, preamble, type Segment } from './segment.ts';

/** Media that may wait for one receiver. Twice a GOP: a hiccup of the network costs nothing. */
const MAX_QUEUED_MS = 4000;
const MAX_QUEUED_BYTES = 32 * 2 ** 20;

export interface FeedOptions {
  profile: string;
  sink: Writable;
  /** Called instead of leaving media out: the receiver is to be let go. */
  onOverflow?: () => void;
}

export class Feed {
  readonly #options: FeedOptions;
  #queue: Segment[] = [];
  #queuedBytes = 0;
  #blocked = false;
  /** Nothing is sent until a keyframe: at the beginning, and after media was left out. */
  #waiting = true;
  #started = false;
  #closed = false;
  /** GOPs that were left out, in whole or from somewhere on. */
  dropped = 0;
  /** Bytes handed to the sink. */
  bytes = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    options.sink.on('drain', this.#drained);
  }

  /** Media that was offered and not yet taken; since when is the caller's to watch. */
  get blocked(): boolean {
    return this.#blocked;
  }

  offer(segment: Segment): void {
    if (this.#closed) return;
    if (this.#waiting && !segment.keyframe) return;
    const first = this.#queue[0];
    const full =
      first !== undefined &&
      (segment.startMs - first.startMs > MAX_QUEUED_MS || this.#queuedBytes + segment.bytes.length > MAX_QUEUED_BYTES);
    if (full) {
      if (this.#options.onOverflow) {
        this.close();
        this.#options.onOverflow();
        return;
      }
      this.#leaveOut();
      if (!segment.keyframe) return;
    }
    const resumed = this.#waiting && this.#started;
    this.#waiting = false;
    // What a receiver needs before it can decode goes with the keyframe as one piece.
    const lead = this.#started
      ? resumed
        ? decoderHeaders(segment)
        : undefined
      : preamble(this.#options.profile, segment);
    this.#started = true;
    this.#queue.push(lead ? { ...segment, bytes: Buffer.concat([lead, segment.bytes]) } : segment);
    this.#queuedBytes += this.#queue.at(-1)?.bytes.length ?? 0;
    this.#flush();
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#options.sink.off('drain', this.#drained);
  }

  #leaveOut(): void {
    this.dropped += Math.max(1, this.#queue.filter((s) => s.keyframe).length);
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#waiting = true;
  }

  readonly #drained = (): void => {
    this.#blocked = false;
    this.#flush();
  };

  #flush(): void {
    const { sink } = this.#options;
    while (!this.#blocked && !this.#closed && sink.writable) {
      const segment = this.#queue.shift();
      if (!segment) return;
      this.#queuedBytes -= segment.bytes.length;
      this.bytes += segment.bytes.length;
      this.#blocked = !sink.write(segment.bytes);
    }
  }
}
