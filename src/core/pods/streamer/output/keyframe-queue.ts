/** Writes the keyframes of a stream, and nothing else, for one who compares pictures. */
import { encodeTag, FlvParser, isAvcSequenceHeader, isKeyframe } from '../../rendition/flv.ts';
import { preamble, type Segment } from '../timeline/segment.ts';
import type { OutputQueueOptions } from './output-queue.ts';

/** Some keyframes of the largest copy. A receiver that has taken none of them by the next one is gone. */
const MAX_WAITING_BYTES = 8 * 2 ** 20;

export class KeyframeQueue {
  readonly #options: OutputQueueOptions;
  #started = false;

  constructor(options: OutputQueueOptions) {
    this.#options = options;
  }

  offer(segment: Segment): void {
    const { profile, sink, onOverflow } = this.#options;
    if (!segment.keyframe || !sink.writable) return;
    if (sink.writableLength > MAX_WAITING_BYTES) {
      onOverflow?.();
      return;
    }
    if (!this.#started) sink.write(preamble(profile, segment));
    this.#started = true;
    // Any offset but 0 says that a tag begins here.
    for (const { type, timestampMs, body } of new FlvParser(1).push(Buffer.concat(segment.parts))) {
      const tag = { type, body };
      if (isAvcSequenceHeader(tag) || isKeyframe(tag)) sink.write(encodeTag(type, timestampMs, body));
    }
  }

  close(): void {
    this.#started = false;
  }
}
