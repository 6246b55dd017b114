/**
 * Encodes the picture of the slate in H.264: two bars on black, as players show a pause. Every macroblock has one grey, so a keyframe is
 * a byte a macroblock, and each further picture a few bytes that say "as before". No encoder runs for it.
 *
 * Sources: ITU-T H.264 7.3.2.1 (parameter sets), 7.3.3 (slices), 8.3.3.3 and 8.5.10 (Intra 16x16 with DC alone), 9.2 (CAVLC), E.1.1 (VUI); ISO/IEC
 * 14496-15 5.2.4.1 (the decoder's configuration). Pure: no I/O, no clock.
 */
import type { Framerate } from '../../../resources/stream/profile.ts';

export interface SlatePictures {
  /** Body of the FLV sequence header tag, of a keyframe and of each further picture until the next keyframe. */
  header: Buffer;
  keyframe: Buffer;
  following: readonly Buffer[];
}

export interface SlateShape {
  width: number;
  height: number;
  framerate: Framerate;
}

/** Side of a macroblock. */
const SIDE = 16;
const BLACK = 16;
const GREY = 110;
/** Prediction where nothing stands above or to the left (8.3.3.3). */
const NOTHING = 128;
/** Bits of frame_num: it starts anew with each keyframe. */
const FRAME_NUMBER_BITS = 8;
/** 7.3.2.1.1: High, which takes 8-bit 4:2:0 as every player does. */
const PROFILE = 100;

/** Returns a keyframe and `pictures - 1` that follow it. */
export function encodeSlate(shape: SlateShape, pictures: number): SlatePictures {
  const sets = [sequenceSet(shape), pictureSet()];
  return {
    header: Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), configuration(sets)]),
    keyframe: tagBody(0x17, nal(0x65, keyframeSlice(shape))),
    following: Array.from({ length: pictures - 1 }, (_, i) => tagBody(0x27, nal(0x61, followingSlice(shape, i + 1)))),
  };
}

const tagBody = (frameAndCodec: number, unit: Buffer): Buffer =>
  Buffer.concat([Buffer.from([frameAndCodec, 1, 0, 0, 0]), lengthOf(unit, 4), unit]);

function lengthOf(bytes: Buffer, size: 2 | 4): Buffer {
  const length = Buffer.alloc(size);
  length.writeUIntBE(bytes.length, 0, size);
  return length;
}

function configuration([sequence, picture]: Buffer[]): Buffer {
  if (!sequence || !picture) throw new TypeError('a configuration has two parameter sets');
  const about = Buffer.from([1, PROFILE, 0, sequence[3] ?? 0, 0xff]);
  const sets = [Buffer.from([0xe1]), lengthOf(sequence, 2), sequence, Buffer.from([1]), lengthOf(picture, 2), picture];
  // High says how colours are stored: 4:2:0, 8 bits, no extensions.
  return Buffer.concat([about, ...sets, Buffer.from([0xfd, 0xf8, 0xf8, 0])]);
}

/** A 3 keeps the payload free of start codes (7.4.1). */
function nal(type: number, payload: Buffer): Buffer {
  const bytes = [type];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(bytes);
}

/** A.3: the first level whose frames and macroblocks a second suffice; with its frame size and rate. */
const LEVELS = [
  { level: 31, macroblocks: 3600, perSecond: 108_000 },
  { level: 32, macroblocks: 5120, perSecond: 216_000 },
  { level: 40, macroblocks: 8192, perSecond: 245_760 },
  { level: 42, macroblocks: 8704, perSecond: 522_240 },
  { level: 51, macroblocks: 36_864, perSecond: 983_040 },
  { level: 52, macroblocks: 36_864, perSecond: 2_073_600 },
];

const countMacroblocks = ({ width, height }: SlateShape) => ({
  columns: Math.ceil(width / SIDE),
  rows: Math.ceil(height / SIDE),
});

function findLevel(shape: SlateShape): number {
  const { columns, rows } = countMacroblocks(shape);
  const size = columns * rows;
  const fits = LEVELS.find((one) => size <= one.macroblocks && size * shape.framerate <= one.perSecond);
  return fits?.level ?? 52;
}

function sequenceSet(shape: SlateShape): Buffer {
  const { columns, rows } = countMacroblocks(shape);
  const bits = new BitWriter();
  bits.fixed(PROFILE, 8).fixed(0, 8).fixed(findLevel(shape), 8).unsigned(0);
  // 4:2:0, 8 bits, no bypass, no scaling lists.
  bits.unsigned(1).unsigned(0).unsigned(0).fixed(0, 1).fixed(0, 1);
  // Pictures are shown in the order in which they are decoded, with one reference.
  bits
    .unsigned(FRAME_NUMBER_BITS - 4)
    .unsigned(2)
    .unsigned(1)
    .fixed(0, 1);
  bits
    .unsigned(columns - 1)
    .unsigned(rows - 1)
    .fixed(1, 1)
    .fixed(1, 1);
  const surplus = rows * SIDE - shape.height;
  bits.fixed(surplus > 0 ? 1 : 0, 1);
  if (surplus > 0)
    bits
      .unsigned(0)
      .unsigned(0)
      .unsigned(0)
      .unsigned(surplus / 2);
  bits.fixed(1, 1);
  // VUI: square pixels; BT.709 in the range of television; a fixed frame rate; no buffer model; nothing reordered.
  bits
    .fixed(1, 1)
    .fixed(1, 8)
    .fixed(0, 1)
    .fixed(1, 1)
    .fixed(5, 3)
    .fixed(0, 1)
    .fixed(1, 1)
    .fixed(0x010101, 24)
    .fixed(0, 1);
  bits
    .fixed(1, 1)
    .fixed(1, 32)
    .fixed(2 * shape.framerate, 32)
    .fixed(1, 1)
    .fixed(0, 1)
    .fixed(0, 1)
    .fixed(0, 1);
  bits.fixed(1, 1).fixed(1, 1).unsigned(0).unsigned(0).unsigned(10).unsigned(10).unsigned(0).unsigned(1);
  return nal(0x67, bits.end());
}

/** CAVLC, no weights; a slice may switch its deblocking off. */
const pictureSet = (): Buffer =>
  nal(
    0x68,
    new BitWriter()
      .unsigned(0)
      .unsigned(0)
      .fixed(0, 2)
      .unsigned(0)
      .unsigned(0)
      .unsigned(0)
      .fixed(0, 3)
      .signed(0)
      .signed(0)
      .signed(0)
      .fixed(0b100, 3)
      .end(),
  );

const I_SLICE = 7;
const P_SLICE = 5;

const beginSlice = (type: number, frameNumber: number): BitWriter =>
  new BitWriter().unsigned(0).unsigned(type).unsigned(0).fixed(frameNumber, FRAME_NUMBER_BITS);

/** Every macroblock is the one of the picture before. */
function followingSlice(shape: SlateShape, frameNumber: number): Buffer {
  const { columns, rows } = countMacroblocks(shape);
  const bits = beginSlice(P_SLICE, frameNumber).fixed(0, 3);
  return endHeader(bits)
    .unsigned(columns * rows)
    .end();
}

function keyframeSlice(shape: SlateShape): Buffer {
  const { columns, rows } = countMacroblocks(shape);
  const bits = endHeader(beginSlice(I_SLICE, 0).unsigned(0).fixed(0, 2));
  let above: number[] = [];
  for (let row = 0; row < rows; row++) {
    const line: number[] = [];
    for (let column = 0; column < columns; column++) {
      const grey = isBar(column, row, { columns, rows }) ? GREY : BLACK;
      writeMacroblock(bits, grey - predict(line.at(-1), above[column]));
      line.push(grey);
    }
    above = line;
  }
  return bits.end();
}

/** The quantizer of the parameter set, and no deblocking: it would smooth the bars' edges into the next prediction. */
const endHeader = (bits: BitWriter): BitWriter => bits.signed(0).unsigned(1);

/** Two bars in the middle, a tenth of the picture high. */
function isBar(column: number, row: number, { columns, rows }: ReturnType<typeof countMacroblocks>): boolean {
  const unit = columns / 80;
  const aside = Math.abs(column + 0.5 - columns / 2);
  return aside > unit && aside < 3 * unit && Math.abs(row + 0.5 - rows / 2) < 4 * unit;
}

/** 8.3.3.3: the mean of the samples to the left and above. */
function predict(left: number | undefined, above: number | undefined): number {
  if (left !== undefined && above !== undefined) return (left + above + 1) >> 1;
  return left ?? above ?? NOTHING;
}

/** Intra 16x16, DC prediction of luma and chroma, no AC (table 7-11). */
const MACROBLOCK_TYPE = 3;
/** 8.5.10 with the quantizer 26: a level moves the samples by 52/64. */
const SCALE = 52;

function writeMacroblock(bits: BitWriter, difference: number): void {
  bits.unsigned(MACROBLOCK_TYPE).unsigned(0).signed(0);
  const level = findLevelOf(difference);
  // Table 9-5: no coefficient, or one; then its level, and no zeros before it (table 9-7).
  if (level === 0) bits.fixed(1, 1);
  else if (Math.abs(level) === 1)
    bits
      .fixed(0b01, 2)
      .fixed(level < 0 ? 1 : 0, 1)
      .fixed(1, 1);
  else {
    bits.fixed(0b000101, 6);
    writeLevel(bits, level);
    bits.fixed(1, 1);
  }
}

/** The level that moves all samples of a macroblock by exactly so much. */
function findLevelOf(difference: number): number {
  const near = Math.trunc((difference * 64) / SCALE);
  for (const level of [near - 1, near, near + 1]) if ((level * SCALE + 32) >> 6 === difference) return level;
  throw new RangeError(`no level for ${difference}`);
}

/** 9.2.2.1 for the first level, which is larger than 1. */
function writeLevel(bits: BitWriter, level: number): void {
  const code = (level > 0 ? 2 * level - 2 : -2 * level - 1) - 2;
  if (code < 14) bits.fixed(1, code + 1);
  else if (code < 30) bits.fixed(1, 15).fixed(code - 14, 4);
  else bits.fixed(1, 16).fixed(code - 30, 12);
}

class BitWriter {
  readonly #bytes: number[] = [];
  #byte = 0;
  #bits = 0;

  fixed(value: number, bits: number): this {
    for (let bit = bits - 1; bit >= 0; bit--) {
      this.#byte = (this.#byte << 1) | (Math.floor(value / 2 ** bit) & 1);
      if (++this.#bits % 8 !== 0) continue;
      this.#bytes.push(this.#byte);
      this.#byte = 0;
    }
    return this;
  }

  /** 9.1: Exp-Golomb. */
  unsigned(value: number): this {
    const bits = Math.floor(Math.log2(value + 1));
    return this.fixed(0, bits).fixed(value + 1, bits + 1);
  }

  signed(value: number): this {
    return this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Adds the stop bit, and fills the last byte. */
  end(): Buffer {
    this.fixed(1, 1);
    while (this.#bits % 8 !== 0) this.fixed(0, 1);
    return Buffer.from(this.#bytes);
  }
}
