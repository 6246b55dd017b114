/**
 * Raises the bitrate of pictures that cost next to nothing, as stills do: platforms take a stream far below the bitrate of its size for an ill one.
 * Filler NAL units (ITU-T H.264 7.3.2.7, type 12) follow the last slice of a picture inside its own tag; decoders drop them, so the decoded
 * pictures are the same. Pure: no I/O, no clock.
 */
import { PICTURE_HEADER_BYTES, PREVIOUS_SIZE_BYTES, TAG_HEADER_BYTES } from '../../rendition/flv.ts';
import type { Segment } from './segment.ts';
import { hasConstantBitrate } from './sequence-parameters.ts';

const NAL_FILLER = 12;
/** Bytes of 0xff behind each other, and the trailing bits that end them. */
const FILL = Buffer.alloc(64 * 1024, 0xff);
FILL[FILL.length - 1] = 0x80;
/** The byte of the type, and the trailing bits. */
const LEAST_NAL_BYTES = 2;
/** Less than this is owed on to the next picture. */
const LEAST_FILLER_BYTES = 64;
/** A large picture pays for the next ones within this time. A longer time would leave gaps, a shorter one would fill up films that need nothing. */
const CREDIT_MS = 500;
/** Pictures that come later than this after the last one follow a break, which is not filled. */
const MAX_STEP_MS = 250;

/** ISO/IEC 14496-15 5.3.3.1: the low two bits of the fifth byte of the configuration. */
const LENGTH_SIZE_AT = PICTURE_HEADER_BYTES + 4;

/**
 * Returns the bytes of a NAL unit's length in this stream. Undefined where nothing may be added: the header cannot be read, or its buffer
 * model says that the bitrate is constant already.
 */
export function readFillerLengthBytes(videoHeader: Buffer | undefined): 2 | 4 | undefined {
  const lengthBytes = ((videoHeader?.[LENGTH_SIZE_AT] ?? 0) & 3) + 1;
  if (!videoHeader || (lengthBytes !== 2 && lengthBytes !== 4)) return undefined;
  return hasConstantBitrate(videoHeader) === false ? lengthBytes : undefined;
}

/** Computes the filler of each picture of one receiver. */
export class FillerMeter {
  readonly #bytesPerMs: number;
  #owedBytes = 0;
  #lastMs: number | undefined;

  constructor(leastKbps: number) {
    this.#bytesPerMs = leastKbps / 8;
  }

  /** Returns the bytes that are to follow a picture of this size. */
  add(timestampMs: number, sizeBytes: number): number {
    const stepMs = timestampMs - (this.#lastMs ?? timestampMs);
    this.#lastMs = timestampMs;
    const share = stepMs >= 0 && stepMs <= MAX_STEP_MS ? stepMs * this.#bytesPerMs : 0;
    const owed = Math.max(this.#owedBytes + share - sizeBytes, -CREDIT_MS * this.#bytesPerMs);
    const bytes = owed < LEAST_FILLER_BYTES ? 0 : Math.floor(owed);
    this.#owedBytes = owed - bytes;
    return bytes;
  }
}

/** The bytes of a segment as one receiver gets them. */
type Sent = Pick<Segment, 'parts' | 'sizeBytes' | 'firstTagBytes'>;

/** Returns the bytes of a segment with its filler. Nothing of the segment is copied: its parts are cut where a number changes or filler follows. */
export function fillSegment(segment: Segment, meter: FillerMeter): Sent {
  const { parts, sizeBytes, firstTagBytes, pictures, videoHeader } = segment;
  const fills = pictures.map((picture) => meter.add(picture.timestampMs, picture.endAt - picture.at));
  const lengthBytes = fills.some((bytes) => bytes > 0) ? readFillerLengthBytes(videoHeader) : undefined;
  if (lengthBytes === undefined) return segment;
  const cutter = new Cutter(parts);
  const out: Buffer[] = [];
  let [at, added, inFirstTag] = [0, 0, 0];
  for (const [index, picture] of pictures.entries()) {
    const filler = buildFiller(fills[index] ?? 0, lengthBytes);
    const fillerBytes = filler.reduce((sum, { length }) => sum + length, 0);
    if (fillerBytes === 0) continue;
    cutter.take(picture.at + 1 - at, out);
    const bodyBytes = picture.endAt - picture.at - TAG_HEADER_BYTES - PREVIOUS_SIZE_BYTES + fillerBytes;
    const [size, previousSize] = [Buffer.allocUnsafe(3), Buffer.allocUnsafe(PREVIOUS_SIZE_BYTES)];
    size.writeUIntBE(bodyBytes, 0, 3);
    previousSize.writeUInt32BE(TAG_HEADER_BYTES + bodyBytes);
    out.push(size);
    cutter.skip(size.length);
    cutter.take(picture.endAt - PREVIOUS_SIZE_BYTES - picture.at - 1 - size.length, out);
    out.push(...filler, previousSize);
    cutter.skip(PREVIOUS_SIZE_BYTES);
    at = picture.endAt;
    added += fillerBytes;
    if (picture.endAt <= firstTagBytes) inFirstTag += fillerBytes;
  }
  cutter.take(sizeBytes - at, out);
  return { parts: out, sizeBytes: sizeBytes + added, firstTagBytes: firstTagBytes + inFirstTag };
}

/** Builds NAL units of about so many bytes in all. */
function buildFiller(bytes: number, lengthBytes: 2 | 4): Buffer[] {
  const parts: Buffer[] = [];
  const most = Math.min(FILL.length, lengthBytes === 2 ? 0xffff : FILL.length);
  for (let left = bytes; left >= lengthBytes + LEAST_NAL_BYTES; ) {
    const nalBytes = Math.min(left - lengthBytes, most);
    const head = Buffer.allocUnsafe(lengthBytes + 1);
    head.writeUIntBE(nalBytes, 0, lengthBytes);
    head[lengthBytes] = NAL_FILLER;
    parts.push(head, FILL.subarray(FILL.length - (nalBytes - 1)));
    left -= lengthBytes + nalBytes;
  }
  return parts;
}

/** Takes bytes from parts that follow each other, without copying them. */
class Cutter {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #at = 0;

  constructor(parts: readonly Buffer[]) {
    this.#parts = parts;
  }

  take(bytes: number, into: Buffer[]): void {
    this.#move(bytes, (piece) => into.push(piece));
  }

  skip(bytes: number): void {
    this.#move(bytes, () => undefined);
  }

  #move(bytes: number, give: (piece: Buffer) => void): void {
    for (let left = bytes; left > 0; ) {
      const part = this.#parts[this.#part];
      if (!part) return;
      const piece = part.subarray(this.#at, this.#at + left);
      if (piece.length > 0) give(piece);
      left -= piece.length;
      this.#at += piece.length;
      if (this.#at < part.length) continue;
      this.#part += 1;
      this.#at = 0;
    }
  }
}
