/**
 * Queues segments for one output or preview, within bounds. A slow receiver loses whole GOPs and goes on at a keyframe, so
 * that it never holds up the others and memory does not grow. A GOP that was begun is sent to its end: the stream stays
 * decodable and ends where a GOP ends.
 */
import type { Writable } from 'node:stream';
import { tagLength } from '../../rendition/flv.ts';
import { decoderHeaders, preamble, type Segment } from '../timeline/segment.ts';

/** Limit of the whole GOPs that wait behind the one being sent. Two GOPs of an encoded rendition, or the
 * longest one of a copy, wait out a short stall. */
const MAX_QUEUED_MS = 4000;
const MAX_QUEUED_BYTES = 32 * 2 ** 20;

export interface OutputQueueOptions {
  profile: string;
  sink: Writable;
  /** Called instead of dropping media: the caller disconnects the receiver. */
  onOverflow?: () => void;
  /** Called when a segment was written to the sink. The receiver has some of it after `fromBytes` bytes in total. */
  onHanded?: (fromBytes: number) => void;
}

interface Queued extends Segment {
  /** Bytes up to the end of its first tag: a receiver with fewer has nothing of the segment. */
  leastBytes: number;
}

export class OutputQueue {
  readonly #options: OutputQueueOptions;
  #queue: Queued[] = [];
  #queuedBytes = 0;
  #blocked = false;
  /** Nothing is sent until a keyframe: at the beginning, and after a drop. */
  #waiting = true;
  #started = false;
  #closed = false;
  /** GOPs that were dropped. */
  dropped = 0;
  /** Bytes written to the sink. */
  bytes = 0;

  constructor(options: OutputQueueOptions) {
    this.#options = options;
    options.sink.on('drain', this.#drained);
  }

  /** True while the sink takes nothing. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** Bytes in the queue. One more segment may wait in the sink. */
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
      this.#drop(segment);
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

  /** Returns the index of the first GOP that was not begun; the queue's length when there is none. */
  #firstWhole(): number {
    const index = this.#queue.findIndex((segment) => segment.keyframe);
    return index < 0 ? this.#queue.length : index;
  }

  /** The rest of a GOP that was begun long ago takes no room from the next ones, unless it does not end. */
  #full({ startMs, bytes, keyframe }: Segment): boolean {
    const oldest = this.#queue[this.#firstWhole()] ?? (keyframe ? undefined : this.#queue[0]);
    const tooLong = oldest !== undefined && startMs - oldest.startMs > MAX_QUEUED_MS;
    return tooLong || (this.#queue.length > 0 && this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES);
  }

  /** Makes room by dropping every GOP that was not begun; where there is none, the rest of the begun one. */
  #drop({ keyframe }: Segment): void {
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
    // The headers that a decoder needs go with the keyframe as one piece.
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
