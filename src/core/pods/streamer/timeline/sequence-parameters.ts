/**
 * Reads from the sequence parameter set of H.264 whether its buffer model has a constant bitrate (ITU-T H.264 7.3.2.1.1, E.1.1, E.1.2:
 * cbr_flag). Such a stream has its filler already, and more would overflow the model. Pure: no I/O, no clock.
 */
import { readParameterSets } from './parameter-sets.ts';

const LENGTH_BYTES = 4;
/** Profiles whose parameter set says how colours are stored (7.3.2.1.1). */
const WITH_CHROMA: ReadonlySet<number> = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
const EXTENDED_SAR = 255;
/** 8.2.1: more would be damage. */
const MAX_CYCLE = 255;
const MAX_CPB = 32;

/** Undefined where the header of the stream cannot be read. `header`: the body of the sequence header tag. */
export function hasConstantBitrate(header: Buffer): boolean | undefined {
  const sets = readParameterSets(header);
  if (sets.length < LENGTH_BYTES) return undefined;
  const set = sets.subarray(LENGTH_BYTES, LENGTH_BYTES + sets.readUInt32BE(0));
  try {
    return readSet(new BitReader(removeEmulation(set.subarray(1))));
  } catch {
    return undefined;
  }
}

/** 7.4.1: a 3 behind two zeros is not part of the payload. */
function removeEmulation(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte, at) => !(byte === 3 && bytes[at - 1] === 0 && bytes[at - 2] === 0)));
}

function readSet(bits: BitReader): boolean {
  const profile = bits.read(8);
  bits.read(16);
  bits.readUnsigned();
  if (WITH_CHROMA.has(profile)) skipChroma(bits);
  bits.readUnsigned();
  skipPictureOrder(bits);
  bits.readUnsigned();
  bits.read(1);
  bits.readUnsigned();
  bits.readUnsigned();
  if (bits.read(1) === 0) bits.read(1);
  bits.read(1);
  if (bits.read(1) === 1) for (let side = 0; side < 4; side++) bits.readUnsigned();
  return bits.read(1) === 1 && readUsability(bits);
}

function skipChroma(bits: BitReader): void {
  const format = bits.readUnsigned();
  if (format === 3) bits.read(1);
  bits.readUnsigned();
  bits.readUnsigned();
  bits.read(1);
  if (bits.read(1) === 0) return;
  for (let list = 0; list < (format === 3 ? 12 : 8); list++)
    if (bits.read(1) === 1) skipScalingList(bits, list < 6 ? 16 : 64);
}

/** 7.3.2.1.1.1. */
function skipScalingList(bits: BitReader, size: number): void {
  let [last, next] = [8, 8];
  for (let at = 0; at < size; at++) {
    if (next !== 0) next = (last + bits.readSigned() + 256) % 256;
    if (next !== 0) last = next;
  }
}

function skipPictureOrder(bits: BitReader): void {
  const type = bits.readUnsigned();
  if (type === 0) bits.readUnsigned();
  if (type !== 1) return;
  bits.read(1);
  bits.readSigned();
  bits.readSigned();
  const frames = bits.readUnsigned();
  if (frames > MAX_CYCLE) throw new RangeError('The order of pictures has too many offsets.');
  for (let frame = 0; frame < frames; frame++) bits.readSigned();
}

/** E.1.1. */
function readUsability(bits: BitReader): boolean {
  if (bits.read(1) === 1 && bits.read(8) === EXTENDED_SAR) bits.read(32);
  if (bits.read(1) === 1) bits.read(1);
  if (bits.read(1) === 1) {
    bits.read(4);
    if (bits.read(1) === 1) bits.read(24);
  }
  if (bits.read(1) === 1) {
    bits.readUnsigned();
    bits.readUnsigned();
  }
  if (bits.read(1) === 1) {
    bits.read(32);
    bits.read(32);
    bits.read(1);
  }
  // Of NAL units, and of slices alone.
  const [ofUnits, ofSlices] = [bits.read(1) === 1 && readBuffers(bits), bits.read(1) === 1 && readBuffers(bits)];
  return ofUnits || ofSlices;
}

/** E.1.2. */
function readBuffers(bits: BitReader): boolean {
  const count = bits.readUnsigned() + 1;
  if (count > MAX_CPB) throw new RangeError('There are too many buffers.');
  bits.read(8);
  let isConstant = false;
  for (let buffer = 0; buffer < count; buffer++) {
    bits.readUnsigned();
    bits.readUnsigned();
    isConstant = bits.read(1) === 1 || isConstant;
  }
  bits.read(20);
  return isConstant;
}

/** Throws RangeError behind the last bit. */
class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads at most 32 bits. */
  read(count: number): number {
    let value = 0;
    for (let bit = 0; bit < count; bit++) {
      const byte = this.#bytes[this.#at >> 3];
      if (byte === undefined) throw new RangeError('The parameter set ends too soon.');
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }

  /** ue(v), 9.1. */
  readUnsigned(): number {
    let zeros = 0;
    while (this.read(1) === 0) {
      zeros += 1;
      if (zeros > 31) throw new RangeError('The number is too long.');
    }
    return 2 ** zeros - 1 + this.read(zeros);
  }

  /** se(v), 9.1.1. */
  readSigned(): number {
    const value = this.readUnsigned();
    return value % 2 === 0 ? -value / 2 : (value + 1) / 2;
  }
}
