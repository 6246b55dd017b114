/**
 * A feed: one receiver's bounded share of the stream. A receiver that is too slow loses whole GOPs and goes on at a
 * keyframe; it never holds up the others, and memory does not grow. A GOP that has been begun is sent to its end, so that
 * what arrives is decodable and ends where a GOP ends.
 */
import type { Writable } from 'node:stream';
import { tagLength } from '../../rendition/flv.ts';
import { decoderHeaders, preamble, type Segment } from '../timeline/segment.ts';

/** Whole GOPs that may wait for one receiver, behind the rest of the one it is being sent. Twice a GOP: a hiccup costs nothing. */
const MAX_QUEUED_MS = 4000;
const MAX_QUEUED_BYTES = 32 * 2 ** 20;

export interface FeedOptions {
  profile: string;
  sink: Writable;
  /** Called instead of leaving media out: the receiver is to be let go. */
  onOverflow?: () => void;
  /** Called when media was handed to the sink: from so many bytes in all on, the receiver has some of it. */
  onHanded?: (fromBytes: number) => void;
}

interface Queued extends Segment {
  /** How many of its bytes a receiver needs to have anything of it: up to the end of its first tag. */
  leastBytes: number;
}

export class Feed {
  readonly #options: FeedOptions;
  #queue: Queued[] = [];
  #queuedBytes = 0;
  #blocked = false;
  /** Nothing is sent until a keyframe: at the beginning, and after media was left out. */
  #waiting = true;
  #started = false;
  #closed = false;
  /** GOPs that were left out. */
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

  /** Bytes that wait here; beyond them, one segment may wait in the sink. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  offer(segment: Segment): void {
    if (this.#closed) return;
    if (this.#waiting && !segment.keyframe) return;
    if (this.#full(segment)) {
      if (this.#options.onOverflow) {
        this.close();
        this.#options.onOverflow();
        return;
      }
      this.#leaveOut(segment);
      if (!segment.keyframe) return;
      if (this.#full(segment)) {
        this.dropped++;
        return;
      }
    }
    this.#push(segment);
    this.#flush();
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#options.sink.off('drain', this.#drained);
  }

  /** Where the first GOP begins that the receiver has been sent nothing of; the queue's length when there is none. */
  #firstWhole(): number {
    const index = this.#queue.findIndex((segment) => segment.keyframe);
    return index < 0 ? this.#queue.length : index;
  }

  /** What is left of a GOP that was begun long ago takes no room from the next ones, unless it does not end. */
  #full({ startMs, bytes, keyframe }: Segment): boolean {
    const oldest = this.#queue[this.#firstWhole()] ?? (keyframe ? undefined : this.#queue[0]);
    const tooLong = oldest !== undefined && startMs - oldest.startMs > MAX_QUEUED_MS;
    return tooLong || (this.#queue.length > 0 && this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES);
  }

  /** Makes room by leaving out every GOP that is not begun; where there is none, the rest of the one that goes on. */
  #leaveOut({ keyframe }: Segment): void {
    this.#waiting = true;
    const whole = this.#firstWhole();
    if (whole === this.#queue.length && keyframe) return;
    const gone = this.#queue.splice(whole < this.#queue.length ? whole : 0);
    this.dropped += Math.max(1, gone.filter((segment) => segment.keyframe).length);
    for (const { bytes } of gone) this.#queuedBytes -= bytes.length;
  }

  #push(segment: Segment): void {
    const resumed = this.#waiting && this.#started;
    this.#waiting = false;
    // What a receiver needs before it can decode goes with the keyframe as one piece.
    const lead = this.#started
      ? resumed
        ? decoderHeaders(segment)
        : undefined
      : preamble(this.#options.profile, segment);
    this.#started = true;
    const bytes = lead ? Buffer.concat([lead, segment.bytes]) : segment.bytes;
    const leastBytes = (lead?.length ?? 0) + tagLength(segment.bytes, 0, 0);
    this.#queue.push({ ...segment, bytes, leastBytes });
    this.#queuedBytes += bytes.length;
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
      this.#options.onHanded?.(this.bytes + segment.leastBytes);
      this.bytes += segment.bytes.length;
      this.#blocked = !sink.write(segment.bytes);
    }
  }
}
