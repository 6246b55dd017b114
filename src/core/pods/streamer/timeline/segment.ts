/**
 * Encodes tags into segments, once for all receivers. A keyframe always begins a segment, so that a receiver can join
 * or lose media between two segments and never in the middle of a tag or a GOP.
 * Pure: no I/O, no clock.
 */

import { BlockPool } from '../../../lib/block-pool.ts';
import { DIMENSIONS, parseProfile } from '../../../resources/stream/profile.ts';
import {
  encodedTagBytes,
  encodeHeader,
  encodeMetaData,
  encodeTag,
  PICTURE_HEADER_BYTES,
  PREVIOUS_SIZE_BYTES,
  TAG_AUDIO,
  TAG_HEADER_BYTES,
  TAG_SCRIPT,
  TAG_VIDEO,
  writeCompositionTime,
  writeTagHeader,
} from '../../rendition/flv.ts';
import { AUDIO_SAMPLE_RATE } from '../../rendition/format.ts';
import { BlockWriter } from './block-writer.ts';
import type { OutTag } from './splicer.ts';

/** A second of 1 Mbit/s. Neighbours share a block, so little of it stays empty. */
const BLOCK_BYTES = 128 * 1024;

/** A picture in the bytes of a segment: its whole tag with the size behind it. */
export interface PlacedPicture {
  at: number;
  endAt: number;
  timestampMs: number;
}

export interface Segment {
  /** The bytes, in memory that other segments share. They are valid while the segment is held. */
  parts: readonly Buffer[];
  sizeBytes: number;
  /** Bytes of the first tag: a receiver with fewer has nothing of the segment. */
  firstTagBytes: number;
  /** True when the first picture is a keyframe and only media that a decoder can use comes before it. */
  keyframe: boolean;
  /** Timeline milliseconds of the first tag. */
  startMs: number;
  /** In their order. */
  pictures: readonly PlacedPicture[];
  /** Decoder headers in force before the segment, for a receiver that joins here. */
  videoHeader: Buffer | undefined;
  audioHeader: Buffer | undefined;
  /** Adds a holder; the first one is who got the segment from the Segmenter. */
  hold(): void;
  /** Removes a holder. Behind the last one, the memory is used again. */
  release(): void;
}

/** Collects tags into segments and remembers the decoder headers in force. */
export class Segmenter {
  readonly #writer: BlockWriter;
  /** The parts of a tag that are not copied from its body. They need a place of their own: a tag may cross from one block to the next. */
  readonly #head = Buffer.alloc(TAG_HEADER_BYTES + PICTURE_HEADER_BYTES);
  readonly #previousSize = Buffer.alloc(PREVIOUS_SIZE_BYTES);
  #open: (Pick<Segment, 'sizeBytes' | 'firstTagBytes' | 'startMs'> & { pictures: PlacedPicture[] }) | undefined;
  #startsWithKeyframe = false;
  /** Headers since the last frame. They belong to the segment of the next keyframe. */
  #headers: OutTag[] = [];
  #videoHeader: Buffer | undefined;
  #audioHeader: Buffer | undefined;

  constructor(pool = new BlockPool(BLOCK_BYTES)) {
    this.#writer = new BlockWriter(pool);
  }

  /** Copies the tag; the body of a header must not change afterwards. Returns the segment that a keyframe has just closed. */
  add(tag: OutTag): Segment | undefined {
    if (tag.kind === 'header') {
      this.#headers.push(tag);
      return undefined;
    }
    const closed = tag.keyframe ? this.#close() : undefined;
    if (tag.keyframe) this.#startsWithKeyframe = true;
    for (const header of this.#headers) {
      if (header.type === TAG_VIDEO) this.#videoHeader = header.body;
      if (header.type === TAG_AUDIO) this.#audioHeader = header.body;
      this.#write(header);
    }
    this.#headers = [];
    this.#write(tag);
    return closed;
  }

  /** Closes the open segment, if there is one. */
  flush(): Segment | undefined {
    return this.#close();
  }

  #write({ type, timestampMs, body, compositionMs, kind }: OutTag): void {
    const bytes = encodedTagBytes(body);
    this.#open ??= { sizeBytes: 0, firstTagBytes: bytes, startMs: timestampMs, pictures: [] };
    const at = this.#open.sizeBytes;
    this.#open.sizeBytes += bytes;
    if (kind === 'frame' && type === TAG_VIDEO) this.#open.pictures.push({ at, endAt: at + bytes, timestampMs });
    writeTagHeader(this.#head, 0, type, timestampMs, body.length);
    const replacedBytes = compositionMs === undefined ? 0 : body.copy(this.#head, TAG_HEADER_BYTES);
    if (compositionMs !== undefined) writeCompositionTime(this.#head, 0, compositionMs);
    this.#writer.write(this.#head, 0, TAG_HEADER_BYTES + replacedBytes);
    this.#writer.write(body, replacedBytes);
    this.#previousSize.writeUInt32BE(bytes - PREVIOUS_SIZE_BYTES);
    this.#writer.write(this.#previousSize);
  }

  #close(): Segment | undefined {
    const open = this.#open;
    if (!open) return undefined;
    const { parts, blocks } = this.#writer.cut();
    const segment: Segment = {
      ...open,
      parts,
      keyframe: this.#startsWithKeyframe,
      videoHeader: this.#videoHeader,
      audioHeader: this.#audioHeader,
      hold: () => {
        for (const block of blocks) block.hold();
      },
      release: () => {
        for (const block of blocks) block.release();
      },
    };
    this.#open = undefined;
    this.#startsWithKeyframe = false;
    return segment;
  }
}

/** Encodes the start of a receiver's stream: file header, metadata, decoder headers. */
export function preamble(profile: string, segment: Segment): Buffer {
  const format = parseProfile(profile);
  const metadata = encodeMetaData({
    ...(format && { ...DIMENSIONS[format.quality], framerate: format.framerate }),
    videocodecid: 7,
    audiocodecid: 10,
    audiosamplerate: AUDIO_SAMPLE_RATE,
    audiosamplesize: 16,
    stereo: true,
    encoder: 'loopstream',
  });
  return Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    // The timestamp is 0 wherever the receiver joins: ffmpeg takes later metadata for a text track.
    encodeTag(TAG_SCRIPT, 0, metadata),
    decoderHeaders(segment),
  ]);
}

/** Encodes the decoder headers alone, for a receiver that lost media and goes on at this segment. */
export function decoderHeaders({ startMs, videoHeader, audioHeader }: Segment): Buffer {
  return Buffer.concat([
    ...(videoHeader ? [encodeTag(TAG_VIDEO, startMs, videoHeader)] : []),
    ...(audioHeader ? [encodeTag(TAG_AUDIO, startMs, audioHeader)] : []),
  ]);
}
