/** Picks the keyframes out of FLV: all that is kept of our own preview, and of what viewers get by HTTP-FLV and RTMP. Pure: no I/O, no clock. */
import {
  encodeHeader,
  encodeTag,
  type FlvTag,
  isAvcSequenceHeader,
  isKeyframe,
  TAG_VIDEO,
} from '../../pods/rendition/flv.ts';

/** Keyframes that wait to be decoded take no more than this; the oldest are dropped. */
const MAX_BYTES = 12 * 2 ** 20;
const MAX_COUNT = 24;
/** The configuration of a decoder has some hundred bytes. Each keyframe may have another one. */
const MAX_HEADER_BYTES = 2 ** 16;

export type MediaTag = Pick<FlvTag, 'type' | 'timestampMs' | 'body'>;

interface Keyframe {
  timestampMs: number;
  /** The decoder's configuration that it needs. */
  header: Buffer;
  body: Buffer;
}

export class Keyframes {
  #header: Buffer | undefined;
  #kept: Keyframe[] = [];
  /** The time of the newest picture, of whatever codec. */
  newestVideoMs: number | undefined;

  /** Returns whether the tag is a keyframe. Its bytes are copied. */
  push(tag: MediaTag): boolean {
    if (tag.type !== TAG_VIDEO) return false;
    this.newestVideoMs = tag.timestampMs;
    const isHeader = isAvcSequenceHeader(tag) && tag.body.length <= MAX_HEADER_BYTES;
    // Servers repeat it.
    if (isHeader && !this.#header?.equals(tag.body)) this.#header = Buffer.from(tag.body);
    const header = this.#header;
    if (!header || !isKeyframe(tag)) return false;
    this.#kept.push({ timestampMs: tag.timestampMs, header, body: Buffer.from(tag.body) });
    let { bytes } = this;
    while (this.#kept.length > 1 && (bytes > MAX_BYTES || this.#kept.length > MAX_COUNT))
      bytes -= this.#kept.shift()?.body.length ?? 0;
    return true;
  }

  get newest(): { timestampMs: number; body: Buffer } | undefined {
    return this.#kept.at(-1);
  }

  get count(): number {
    return this.#kept.length;
  }

  /** Bytes of the keyframes that are kept. */
  get bytes(): number {
    return this.#kept.reduce((sum, { body }) => sum + body.length, 0);
  }

  keepNewest(): void {
    this.#kept = this.#kept.slice(-1);
  }

  /** Takes all keyframes out, as an FLV file; empty where there are none. */
  take(): Buffer[] {
    const kept = this.#kept;
    this.#kept = [];
    if (kept.length === 0) return [];
    const parts = [encodeHeader({ audio: false, video: true })];
    let header: Buffer | undefined;
    for (const keyframe of kept) {
      if (keyframe.header !== header) parts.push(encodeTag(TAG_VIDEO, keyframe.timestampMs, keyframe.header));
      header = keyframe.header;
      parts.push(encodeTag(TAG_VIDEO, keyframe.timestampMs, keyframe.body));
    }
    return parts;
  }
}
