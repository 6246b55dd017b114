/**
 * Reads and writes FLV tags (Adobe Flash Video File Format Specification 10.1, annex E), for the Job that makes a
 * rendition and the pod that plays it. Input is not trusted: any fault in it ends in an FlvError.
 * Pure: no I/O, no clock.
 */

/** E.4.1: the tag types. */
export const TAG_AUDIO = 8;
export const TAG_VIDEO = 9;
export const TAG_SCRIPT = 18;
export type TagType = typeof TAG_AUDIO | typeof TAG_VIDEO | typeof TAG_SCRIPT;

/** E.2 and E.3: nine bytes of header and the first PreviousTagSize, which is always 0. */
export const FLV_HEADER_BYTES = 13;
/** E.4.1: type 1, body size 3, timestamp 3 + 1, stream id 3. */
export const TAG_HEADER_BYTES = 11;
export const PREVIOUS_SIZE_BYTES = 4;
/** E.4.3.1: frame type and codec 1, packet type 1, composition time 3. */
export const PICTURE_HEADER_BYTES = 5;
/** A larger body counts as damage; the largest keyframe at 2160p is a tenth of it. */
const MAX_BODY_BYTES = 8 * 2 ** 20;
export const MAX_TAG_BYTES = TAG_HEADER_BYTES + MAX_BODY_BYTES + PREVIOUS_SIZE_BYTES;
/** Timestamps are unsigned 32-bit milliseconds: they wrap after 49.7 days. */
export const TIMESTAMP_WRAP_MS = 2 ** 32;

export type FlvErrorCode = 'not_flv' | 'bad_tag' | 'truncated';

export class FlvError extends Error {
  /** `not_flv`: no FLV header. `bad_tag`: a tag that cannot be one. `truncated`: the data ends inside a tag. */
  readonly code: FlvErrorCode;
  /** Byte offset of the fault in the file. */
  readonly offset: number;
  constructor(code: FlvErrorCode, offset: number, message: string) {
    super(`${message} (byte ${offset})`);
    this.name = 'FlvError';
    this.code = code;
    this.offset = offset;
  }
}

export interface FlvTag {
  type: TagType;
  /** 0 to 2^32 - 1. */
  timestampMs: number;
  /** A view into the parsed chunk, unless the tag spans two chunks. */
  body: Buffer;
  /** Byte offset of the tag in the file. */
  offset: number;
}

const isTagType = (byte: number): byte is TagType => byte === TAG_AUDIO || byte === TAG_VIDEO || byte === TAG_SCRIPT;

/** Parses incrementally: takes chunks of any size, returns whole tags. Memory is bounded by one tag and one chunk. */
export class FlvParser {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #need: number;
  #offset: number;
  #inHeader: boolean;

  /** `offset`: position of the first chunk in the file; anything but 0 must be the first byte of a tag. */
  constructor(offset = 0) {
    this.#offset = offset;
    this.#inHeader = offset === 0;
    this.#need = this.#inHeader ? FLV_HEADER_BYTES : TAG_HEADER_BYTES;
  }

  /** Throws FlvError, which makes the parser unusable. */
  push(chunk: Buffer): FlvTag[] {
    const tags: FlvTag[] = [];
    let data = chunk;
    // Only the tag that spans two chunks is copied, once for its header and once whole, so that many tiny chunks cost linear time.
    while (this.#bytes > 0 && data.length > 0) {
      const missing = data.subarray(0, this.#need - this.#bytes);
      data = data.subarray(missing.length);
      this.#chunks.push(missing);
      this.#bytes += missing.length;
      if (this.#bytes === this.#need) this.#parseFirst(Buffer.concat(this.#chunks, this.#bytes), tags);
    }
    if (data.length > 0) this.#parseFirst(data, tags);
    return tags;
  }

  /** Parses `data`, and keeps what is no whole tag. */
  #parseFirst(data: Buffer, tags: FlvTag[]): void {
    const used = this.parse(data, (tag) => tags.push(tag));
    this.#chunks = used < data.length ? [data.subarray(used)] : [];
  }

  /**
   * Parses without keeping bytes: returns the whole tags at the beginning of `data` and their size; the next `data`
   * begins with the rest. Not to be mixed with `push`. Throws FlvError.
   */
  parse(data: Buffer, give: (tag: FlvTag) => void): number {
    this.#bytes = data.length;
    if (data.length < this.#need) return 0;
    let at = 0;
    if (this.#inHeader) {
      at = readHeader(data);
      this.#inHeader = false;
    }
    for (;;) {
      this.#need = TAG_HEADER_BYTES;
      if (data.length - at < this.#need) break;
      this.#need = tagLength(data, at, this.#offset + at);
      if (data.length - at < this.#need) break;
      give(readTag(data, at, this.#offset + at));
      at += this.#need;
    }
    this.#offset += at;
    this.#bytes = data.length - at;
    return at;
  }

  /** Size of the header or tag that the next bytes belong to, as far as it is known. */
  get neededBytes(): number {
    return this.#need;
  }

  /** Bytes that have come and are in no tag so far. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Ends the input. Throws FlvError `truncated` inside a tag. */
  end(): void {
    if (this.#bytes > 0 || this.#inHeader)
      throw new FlvError('truncated', this.#offset + this.#bytes, 'the data ends inside a tag');
  }
}

function readHeader(data: Buffer): number {
  if (data.toString('latin1', 0, 3) !== 'FLV' || data[3] !== 1) throw new FlvError('not_flv', 0, 'the data is not FLV');
  if (data.readUInt32BE(5) !== 9 || data.readUInt32BE(9) !== 0)
    throw new FlvError('not_flv', 5, 'the FLV header has an unknown size');
  return FLV_HEADER_BYTES;
}

/** Returns the length of a whole tag with its PreviousTagSize. `at + TAG_HEADER_BYTES` must lie inside `data`. */
export function tagLength(data: Buffer, at: number, offset: number): number {
  const size = data.readUIntBE(at + 1, 3);
  // The type's upper bits mark reserved and encrypted tags; the stream id is always 0.
  if (!isTagType(data.readUInt8(at)) || data.readUIntBE(at + 8, 3) !== 0)
    throw new FlvError('bad_tag', offset, 'no tag begins at this position');
  if (size > MAX_BODY_BYTES) throw new FlvError('bad_tag', offset, `a tag of ${size} bytes is too large`);
  return TAG_HEADER_BYTES + size + PREVIOUS_SIZE_BYTES;
}

function readTag(data: Buffer, at: number, offset: number): FlvTag {
  const end = at + TAG_HEADER_BYTES + data.readUIntBE(at + 1, 3);
  if (data.readUInt32BE(end) !== end - at)
    throw new FlvError('bad_tag', offset, 'the tag differs from the size behind it');
  return {
    type: data.readUInt8(at) as TagType,
    timestampMs: data.readUIntBE(at + 4, 3) + data.readUInt8(at + 7) * 2 ** 24,
    body: data.subarray(at + TAG_HEADER_BYTES, end),
    offset,
  };
}

/** Parses all tags of a whole file in memory. Throws FlvError. */
export function parseFlv(data: Buffer): FlvTag[] {
  const parser = new FlvParser();
  const tags = parser.push(data);
  parser.end();
  return tags;
}

/** Encodes the file header with the first PreviousTagSize. */
export function encodeHeader(has: { audio: boolean; video: boolean }): Buffer {
  const header = Buffer.alloc(FLV_HEADER_BYTES);
  header.write('FLV', 'latin1');
  header[3] = 1;
  header[4] = (has.audio ? 4 : 0) | (has.video ? 1 : 0);
  header[8] = 9;
  return header;
}

/** Returns the bytes that a tag with this body takes in a file. */
export const encodedTagBytes = (body: Buffer): number => TAG_HEADER_BYTES + body.length + PREVIOUS_SIZE_BYTES;

/** Writes the header of a tag into `target` at `at`; the timestamp wraps. */
export function writeTagHeader(
  target: Buffer,
  at: number,
  type: TagType,
  timestampMs: number,
  bodyBytes: number,
): void {
  const timestamp = timestampMs % TIMESTAMP_WRAP_MS;
  target[at] = type;
  target.writeUIntBE(bodyBytes, at + 1, 3);
  target.writeUIntBE(timestamp % 2 ** 24, at + 4, 3);
  target[at + 7] = Math.floor(timestamp / 2 ** 24);
  target.writeUIntBE(0, at + 8, 3);
}

/** Writes a tag and its PreviousTagSize into `target` at `at`; the timestamp wraps. Returns the end. */
export function writeTag(target: Buffer, at: number, type: TagType, timestampMs: number, body: Buffer): number {
  writeTagHeader(target, at, type, timestampMs, body.length);
  body.copy(target, at + TAG_HEADER_BYTES);
  const end = at + TAG_HEADER_BYTES + body.length;
  return target.writeUInt32BE(end - at, end);
}

/** Writes the composition time into the picture whose tag begins at `at` (E.4.3.1: behind frame type and packet type). */
export function writeCompositionTime(target: Buffer, at: number, compositionMs: number): void {
  target.writeIntBE(compositionMs, at + TAG_HEADER_BYTES + 2, 3);
}

export function encodeTag(type: TagType, timestampMs: number, body: Buffer): Buffer {
  const tag = Buffer.allocUnsafe(encodedTagBytes(body));
  writeTag(tag, 0, type, timestampMs, body);
  return tag;
}

type Body = Pick<FlvTag, 'type' | 'body'>;

/** E.4.3.1: low four bits 7 are AVC; the second byte says header 0, frame 1, end of sequence 2. */
const avcPacket = (tag: Body): number | undefined =>
  tag.type === TAG_VIDEO && tag.body.length >= 5 && ((tag.body[0] ?? 0) & 0x0f) === 7 ? tag.body[1] : undefined;
/** E.4.2.1: high four bits 10 are AAC; the second byte says header 0, frame 1. */
const aacPacket = (tag: Body): number | undefined =>
  tag.type === TAG_AUDIO && tag.body.length > 2 && (tag.body[0] ?? 0) >> 4 === 10 ? tag.body[1] : undefined;

/** True for the decoder's configuration. */
export const isAvcSequenceHeader = (tag: Body): boolean => avcPacket(tag) === 0 && tag.body.length > 5;
export const isAvcEndOfSequence = (tag: Body): boolean => avcPacket(tag) === 2;
/** True for a picture. */
export const isVideoFrame = (tag: Body): boolean => avcPacket(tag) === 1 && tag.body.length > 5;
/** True for a picture from which decoding can begin. */
export const isKeyframe = (tag: Body): boolean => isVideoFrame(tag) && (tag.body[0] ?? 0) >> 4 === 1;
/** True for the decoder's configuration. ffmpeg may write an empty one before the real one, which does not count. */
export const isAacSequenceHeader = (tag: Body): boolean => aacPacket(tag) === 0;
/**
 * One AAC-LC frame of silence, stereo (ISO/IEC 14496-3 4.4.2: a channel pair without any section), behind FLV's two
 * bytes.
 */
export const SILENT_FRAME = Buffer.from('af01211004608c1c', 'hex');
/** True for an AAC frame. */
export const isAudioFrame = (tag: Body): boolean => aacPacket(tag) === 1;

/** Returns the milliseconds between decoding and showing a picture (signed, E.4.3.1). */
export const compositionTimeMs = (tag: Body): number => (tag.body.length >= 5 ? tag.body.readIntBE(2, 3) : 0);

/** Encodes a script tag's body with `onMetaData` (E.4.4). */
export function encodeMetaData(values: Record<string, number | boolean | string>): Buffer {
  const name = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const value = (v: number | boolean | string): Buffer => {
    if (typeof v === 'string') return Buffer.concat([Buffer.from([2]), name(v)]);
    if (typeof v === 'boolean') return Buffer.from([1, v ? 1 : 0]);
    const number = Buffer.alloc(9);
    number.writeDoubleBE(v, 1);
    return number;
  };
  const entries = Object.entries(values);
  const count = Buffer.from([8, 0, 0, 0, 0]);
  count.writeUInt32BE(entries.length, 1);
  const pairs = entries.flatMap(([key, v]) => [name(key), value(v)]);
  return Buffer.concat([Buffer.from([2]), name('onMetaData'), count, ...pairs, Buffer.from([0, 0, 9])]);
}
