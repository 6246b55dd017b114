/** Reads the headers of MP4's boxes (ISO/IEC 14496-12 4.2). Pure: no I/O, no clock. */
import { checkBoxes } from './check-limits.ts';

/** Bytes of the longest header that is read here: size, type, and the size again with 64 bits. */
export const BOX_HEADER_BYTES = 16;

export interface Box {
  type: string;
  /** With its header; undefined for a box that reaches to the end of the file. */
  sizeBytes: number | undefined;
  headerBytes: number;
}

/** Returns undefined for bytes that begin no box. */
export function readBox(bytes: Buffer): Box | undefined {
  if (bytes.length < 8) return undefined;
  const type = bytes.toString('latin1', 4, 8);
  const size = bytes.readUInt32BE(0);
  if (size === 0) return { type, sizeBytes: undefined, headerBytes: 8 };
  if (size !== 1) return size < 8 ? undefined : { type, sizeBytes: size, headerBytes: 8 };
  if (bytes.length < BOX_HEADER_BYTES) return undefined;
  const long = Number(bytes.readBigUInt64BE(8));
  return long < 16 || !Number.isSafeInteger(long) ? undefined : { type, sizeBytes: long, headerBytes: 16 };
}

/** Lists the types of the boxes in a box's content, as far as they are whole. Throws PrepareError media_too_complex. */
export function listBoxTypes(content: Buffer): string[] {
  const types: string[] = [];
  for (let at = 0; at < content.length; ) {
    const box = readBox(content.subarray(at));
    if (box?.sizeBytes === undefined) break;
    types.push(box.type);
    checkBoxes(types.length);
    at += box.sizeBytes;
  }
  return types;
}

export interface OpenBox {
  type: string;
  content: Buffer;
}

/** Returns the boxes in a box's content, as far as they are whole. Throws PrepareError media_too_complex. */
export function openBoxes(content: Buffer): OpenBox[] {
  const boxes: OpenBox[] = [];
  for (let at = 0; at < content.length; ) {
    const box = readBox(content.subarray(at));
    if (box?.sizeBytes === undefined || at + box.sizeBytes > content.length) break;
    checkBoxes(boxes.length + 1);
    boxes.push({ type: box.type, content: content.subarray(at + box.headerBytes, at + box.sizeBytes) });
    at += box.sizeBytes;
  }
  return boxes;
}
