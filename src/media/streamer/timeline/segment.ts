/**
 * Segments: a batch of encoded tags, made once and handed to everyone who wants the stream. A keyframe always begins
 * one, so that a receiver can join or leave out media between two of them and never in the middle of a tag or a GOP.
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
  writeTag,
} from '../../rendition/flv.ts';
import { AUDIO_SAMPLE_RATE } from '../../rendition/format.ts';
import type { OutTag } from './splicer.ts';

export interface Segment {
  bytes: Buffer;
  /** True when its first picture is a keyframe, with nothing before it that a decoder could not use. */
  keyframe: boolean;
  /** Timeline milliseconds of its first tag. */
  startMs: number;
  /** Decoder headers that were in force before it, for whoever joins here. */
  videoHeader: Buffer | undefined;
  audioHeader: Buffer | undefined;
}

function encode(tags: readonly OutTag[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(tags.reduce((sum, tag) => sum + encodedTagBytes(tag.body), 0));
  let at = 0;
  for (const tag of tags) {
    const end = writeTag(bytes, at, tag.type, tag.timestampMs, tag.body);
    // The composition time is the three bytes behind frame type and packet type (E.4.3.1).
    if (tag.compositionMs !== undefined) bytes.writeIntBE(tag.compositionMs, at + 11 + 2, 3);
    at = end;
  }
  return bytes;
}

/** Collects tags into segments and remembers the decoder headers in force. */
export class Segmenter {
  #tags: OutTag[] = [];
  #startsWithKeyframe = false;
  /** Headers that came since the last frame: they belong to the segment of the keyframe behind them. */
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

  /** Closes the segment that is open, if any. */
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

/** What comes before the first segment that a receiver gets: file header, metadata, decoder headers. */
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
    // At 0 wherever the stream is joined: ffmpeg takes metadata with a later timestamp for a track of text.
    encodeTag(TAG_SCRIPT, 0, metadata),
    decoderHeaders(segment),
  ]);
}

/** The decoder headers alone, for a receiver that was cut off in between and goes on at this segment. */
export function decoderHeaders({ startMs, videoHeader, audioHeader }: Segment): Buffer {
  return Buffer.concat([
    ...(videoHeader ? [encodeTag(TAG_VIDEO, startMs, videoHeader)] : []),
    ...(audioHeader ? [encodeTag(TAG_AUDIO, startMs, audioHeader)] : []),
  ]);
}
