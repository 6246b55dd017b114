/** Reads the sequence parameter set of H.264 (ITU-T H.264 7.3.2.1.1) as far as it tells whether pictures may have fields. Pure: no I/O, no clock. */

/** ISO/IEC 14496-15 5.3.3.1: bytes before the first parameter set, which follows its length of two. */
const FIRST_SET = 8;
/** Profiles with a chroma format. */
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
/** Larger numbers are in no parameter set. */
const MAX_ZEROS = 31;

/** Reads bits; zeros behind the end. */
class Bits {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isOver(): boolean {
    return this.#at > 8 * this.#bytes.length;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3] ?? 0;
    return (byte >> (7 - (this.#at++ & 7))) & 1;
  }

  skip(bits: number): void {
    this.#at += bits;
  }

  /** 9.1: ue(v). */
  unsigned(): number {
    let zeros = 0;
    while (this.bit() === 0) if (++zeros > MAX_ZEROS || this.isOver) return 0;
    let value = 1;
    for (let left = zeros; left > 0; left--) value = 2 * value + this.bit();
    return value - 1;
  }

  /** 9.1.1: se(v). */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 0 ? -code / 2 : (code + 1) / 2;
  }
}

/** True where the configuration of a track (`avcC`) says that its pictures may be fields; false also where it cannot be read. */
export function allowsFields(configuration: Buffer): boolean {
  const length = configuration.length >= FIRST_SET ? configuration.readUInt16BE(FIRST_SET - 2) : 0;
  const escaped = configuration.subarray(FIRST_SET, FIRST_SET + length);
  // 7.4.1: a three behind two zeros is no part of the set.
  const kept = escaped.filter((byte, at) => !(byte === 3 && at >= 2 && escaped[at - 1] === 0 && escaped[at - 2] === 0));
  const bits = new Bits(Buffer.from(kept));
  const profile = kept[1] ?? 0;
  bits.skip(32);
  bits.unsigned();
  if (HIGH_PROFILES.has(profile)) skipHigh(bits);
  bits.unsigned();
  const orderType = bits.unsigned();
  if (orderType === 0) bits.unsigned();
  else if (orderType === 1) {
    bits.skip(1);
    bits.signed();
    bits.signed();
    for (let left = Math.min(bits.unsigned(), 255); left > 0; left--) bits.signed();
  }
  bits.unsigned();
  bits.skip(1);
  bits.unsigned();
  bits.unsigned();
  const isFramesOnly = bits.bit() === 1;
  return length > 0 && !bits.isOver && !isFramesOnly;
}

function skipHigh(bits: Bits): void {
  const chroma = bits.unsigned();
  if (chroma === 3) bits.skip(1);
  bits.unsigned();
  bits.unsigned();
  bits.skip(1);
  if (bits.bit() === 0) return;
  for (let table = 0; table < (chroma === 3 ? 12 : 8); table++)
    if (bits.bit() === 1) skipScaling(bits, table < 6 ? 16 : 64);
}

/** 7.3.2.1.1.1. */
function skipScaling(bits: Bits, size: number): void {
  let last = 8;
  for (let at = 0, next = 8; at < size; at++) {
    if (next !== 0) next = (last + bits.signed() + 256) % 256;
    last = next === 0 ? last : next;
  }
}
