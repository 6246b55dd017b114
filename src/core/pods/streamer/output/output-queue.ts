/**
 * Queues segments for one output or preview, within bounds. A slow receiver loses whole GOPs and goes on at a keyframe, so
 * that it never holds up the others and memory does not grow. A GOP that was begun is sent to its end: the stream stays
 * decodable and ends where a GOP ends.
 */
import type { Writable } from 'node:stream';
import { FillerMeter, fillSegment } from '../timeline/filler.ts';
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

interface Queued {
  segment: Segment;
  /** Its bytes as this receiver gets them. */
  parts: readonly Buffer[];
  /** Headers that a decoder needs before it. */
  lead: Buffer | undefined;
  /** Bytes of both. */
  sizeBytes: number;
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
  #leastKbps = 0;
  #filler: FillerMeter | undefined;
  /** GOPs that were dropped. */
  dropped = 0;
  /** Bytes written to the sink. */
  bytes = 0;
  /** Milliseconds of the timeline of the segment that was written last; undefined before. */
  writtenMs: number | undefined;

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

  /** Sets the least bitrate of the pictures from the next segment on, in kbit/s; 0 for none. */
  setLeastKbps(leastKbps: number): void {
    if (leastKbps === this.#leastKbps) return;
    this.#leastKbps = leastKbps;
    this.#filler = leastKbps > 0 ? new FillerMeter(leastKbps) : undefined;
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
    for (const { segment } of this.#queue.splice(0)) segment.release();
    this.#queuedBytes = 0;
    this.#options.sink.off('drain', this.#drained);
  }

  /** Returns the index of the first GOP that was not begun; the queue's length when there is none. */
  #firstWhole(): number {
    const index = this.#queue.findIndex(({ segment }) => segment.keyframe);
    return index < 0 ? this.#queue.length : index;
  }

  /** The rest of a GOP that was begun long ago takes no room from the next ones, unless it does not end. */
  #full({ startMs, sizeBytes, keyframe }: Segment): boolean {
    const oldest = this.#queue[this.#firstWhole()] ?? (keyframe ? undefined : this.#queue[0]);
    const tooLong = oldest !== undefined && startMs - oldest.segment.startMs > MAX_QUEUED_MS;
    return tooLong || (this.#queue.length > 0 && this.#queuedBytes + sizeBytes > MAX_QUEUED_BYTES);
  }

  /** Makes room by dropping every GOP that was not begun; where there is none, the rest of the begun one. */
  #drop({ keyframe }: Segment): void {
    this.#waiting = true;
    const whole = this.#firstWhole();
    if (whole === this.#queue.length && keyframe) return;
    const gone = this.#queue.splice(whole < this.#queue.length ? whole : 0);
    this.dropped += Math.max(1, gone.filter(({ segment }) => segment.keyframe).length);
    for (const { segment, sizeBytes } of gone) {
      this.#queuedBytes -= sizeBytes;
      segment.release();
    }
  }

  #push(segment: Segment): void {
    const resumed = this.#waiting && this.#started;
    this.#waiting = false;
    // The headers that a decoder needs are dropped or sent with the keyframe.
    const lead = this.#started
      ? resumed
        ? decoderHeaders(segment)
        : undefined
      : preamble(this.#options.profile, segment);
    this.#started = true;
    const leadBytes = lead?.length ?? 0;
    const filled = this.#filler ? fillSegment(segment, this.#filler) : segment;
    const sizeBytes = leadBytes + filled.sizeBytes;
    segment.hold();
    this.#queue.push({ segment, parts: filled.parts, lead, sizeBytes, leastBytes: leadBytes + filled.firstTagBytes });
    this.#queuedBytes += sizeBytes;
  }

  readonly #drained = (): void => {
    this.#blocked = false;
    this.#flush();
  };

  #flush(): void {
    const { sink } = this.#options;
    while (!this.#blocked && !this.#closed && sink.writable) {
      const queued = this.#queue.shift();
      if (!queued) return;
      this.#queuedBytes -= queued.sizeBytes;
      this.#options.onHanded?.(this.bytes + queued.leastBytes);
      this.bytes += queued.sizeBytes;
      this.writtenMs = queued.segment.startMs;
      this.#blocked = !write(sink, queued);
    }
  }
}

/** Writes a segment, and releases it when the sink is done with its bytes. Returns false when the sink takes no more for now. */
function write(sink: Writable, { segment, parts, lead }: Queued): boolean {
  let left = parts.length;
  const done = () => {
    left--;
    if (left === 0) segment.release();
  };
  if (lead) sink.write(lead);
  let takesMore = true;
  // Filler makes many small parts: they take one system call.
  const isCut = parts !== segment.parts;
  if (isCut) sink.cork();
  for (const part of parts) takesMore = sink.write(part, done) && takesMore;
  if (isCut) sink.uncork();
  return takesMore;
}
