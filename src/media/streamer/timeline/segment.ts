/**
 * Encodes tags into segments, once for all receivers. A keyframe always begins a segment, so that a receiver can join
 * or lose media between two segments and never in the middle of a tag or a GOP.
 * Pure: no I/O, no clock.
 */

import { DIMENSIONS, parseProfile } from '../../../resources/stream/profile.ts';
import {
  encodedTagBytes,
  encodeHeader,
  encodeMetaData,
  encodeTag,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
  writeCompositionTime,
  writeTag,
} from '../../rendition/flv.ts';
import { AUDIO_SAMPLE_RATE } from '../../rendition/format.ts';
import type { OutTag } from './splicer.ts';

export interface Segment {
  bytes: Buffer;
  /** True when the first picture is a keyframe and only media that a decoder can use comes before it. */
  keyframe: boolean;
  /** Timeline milliseconds of the first tag. */
  startMs: number;
  /** Decoder headers in force before the segment, for a receiver that joins here. */
  videoHeader: Buffer | undefined;
  audioHeader: Buffer | undefined;
}

function encode(tags: readonly OutTag[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(tags.reduce((sum, tag) => sum + encodedTagBytes(tag.body), 0));
  let at = 0;
  for (const tag of tags) {
    const end = writeTag(bytes, at, tag.type, tag.timestampMs, tag.body);
    if (tag.compositionMs !== undefined) writeCompositionTime(bytes, at, tag.compositionMs);
    at = end;
  }
  return bytes;
}

/** Collects tags into segments and remembers the decoder headers in force. */
export class Segmenter {
  #tags: OutTag[] = [];
  #startsWithKeyframe = false;
  /** Headers since the last frame. They belong to the segment of the next keyframe. */
  #headers: OutTag[] = [];
  #videoHeader: Buffer | undefined;
  #audioHeader: Buffer | undefined;

  /** Returns the segment that a keyframe has just closed. */
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
      this.#tags.push(header);
    }
    this.#headers = [];
    this.#tags.push(tag);
    return closed;
  }

  /** Closes the open segment, if there is one. */
  flush(): Segment | undefined {
    return this.#close();
  }

  #close(): Segment | undefined {
    const first = this.#tags[0];
    if (!first) return undefined;
    const segment: Segment = {
      bytes: encode(this.#tags),
      keyframe: this.#startsWithKeyframe,
      startMs: first.timestampMs,
      videoHeader: this.#videoHeader,
      audioHeader: this.#audioHeader,
    };
    this.#tags = [];
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
