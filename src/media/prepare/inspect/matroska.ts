/** Reads the size that a Matroska file states for itself (RFC 8794, RFC 9559). Pure: no I/O, no clock. */

const EBML = 0x1a45dfa3;
const SEGMENT = 0x18538067;

interface Element {
  id: number;
  /** Of its content; undefined where the writer did not know it yet. */
  sizeBytes: number | undefined;
  headerBytes: number;
}

/** Returns undefined for bytes that begin no element with an ID of four bytes. */
function readElement(bytes: Buffer): Element | undefined {
  const first = bytes[4];
  if (bytes.length < 12 || !first) return undefined;
  // RFC 8794 4.1: the leading zeros count the bytes that follow, and all ones mean an unknown size.
  const length = Math.clz32(first) - 23;
  const value = BigInt(`0x${bytes.toString('hex', 4, 4 + length)}`) & ((1n << BigInt(7 * length)) - 1n);
  const isUnknown = value === (1n << BigInt(7 * length)) - 1n;
  return {
    id: bytes.readUInt32BE(0),
    sizeBytes: isUnknown ? undefined : Number(value),
    headerBytes: 4 + length,
  };
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
