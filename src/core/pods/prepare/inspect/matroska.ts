/** Reads the headers of Matroska's elements, and the size that a file states for itself (RFC 8794, RFC 9559). Pure: no I/O, no clock. */

/** Bytes of the longest header: an ID of four, a size of eight. */
export const ELEMENT_HEADER_BYTES = 12;
export const EBML = 0x1a45dfa3;
export const SEGMENT = 0x18538067;

export interface Element {
  id: number;
  /** Of its content; undefined where the writer did not know it yet. */
  sizeBytes: number | undefined;
  headerBytes: number;
}

/** Returns the bytes of a number: RFC 8794 4.1, the leading zeros count the bytes that follow. */
const measureNumber = (first: number | undefined): number => Math.clz32(first ?? 0) - 23;

/** Returns undefined for bytes that begin no element. */
export function readElement(bytes: Buffer): Element | undefined {
  const idBytes = measureNumber(bytes[0]);
  const sizeBytes = measureNumber(bytes[idBytes]);
  const headerBytes = idBytes + sizeBytes;
  if (idBytes > 4 || sizeBytes > 8 || headerBytes > bytes.length) return undefined;
  const bits = BigInt(7 * sizeBytes);
  const value = BigInt(`0x${bytes.toString('hex', idBytes, headerBytes)}`) & ((1n << bits) - 1n);
  // All ones mean an unknown size.
  const isUnknown = value === (1n << bits) - 1n;
  return { id: bytes.readUIntBE(0, idBytes), sizeBytes: isUnknown ? undefined : Number(value), headerBytes };
}

/** Returns the bytes that the whole file has by its header; undefined where this is no Matroska, or states no size. */
export function readDeclaredBytes(head: Buffer): number | undefined {
  const header = readElement(head);
  if (header?.id !== EBML || header.sizeBytes === undefined) return undefined;
  const at = header.headerBytes + header.sizeBytes;
  const segment = readElement(head.subarray(at));
  if (segment?.id !== SEGMENT || segment.sizeBytes === undefined) return undefined;
  return at + segment.headerBytes + segment.sizeBytes;
}
