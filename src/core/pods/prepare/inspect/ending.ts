/**
 * Finds out whether a file was cut off although its container describes no more than it holds: a transport stream, an FLV, or a fragmented
 * MP4 or streamed Matroska breaks off in the middle of a packet or box.
 */
import { open } from 'node:fs/promises';
import { BOX_HEADER_BYTES, readBox } from './boxes.ts';
import { ELEMENT_HEADER_BYTES, readElement, SEGMENT } from './matroska.ts';
import { readAt } from './read-at.ts';
import type { Source } from './source.ts';

/** A day of fragments of half a second has twice as many; what is longer is not looked through. */
const MAX_BOXES = 200_000;
/** Boxes behind the tables of an MP4. Anything else may be what a program has appended. */
const MEDIA_BOXES = new Set(['moov', 'moof', 'mdat', 'sidx', 'styp']);
/** ISO/IEC 13818-1: the first byte of a packet; and the sizes of packets, with the additions of Blu-ray and DVB. */
const SYNC_BYTE = 0x47;
const PACKET_BYTES = [188, 192, 204];
const PROVEN_PACKETS = 5;
/** FLV (Adobe, version 10.1): a tag's header, and its size behind it. */
const FLV_TAG_HEADER_BYTES = 11;
const FLV_SIZE_BYTES = 4;

type Reader = (at: number, length: number) => Promise<Buffer>;

/** Resolves with false where the container does not show it. Rejects with an error of the file. */
export async function breaksOff(path: string, { format, sizeBytes }: Source): Promise<boolean> {
  const file = await open(path);
  try {
    const read = (at: number, length: number) => readAt(file, at, length);
    if (/\bmov\b/.test(format)) return await breaksMovie(read, sizeBytes);
    if (/\bmatroska\b/.test(format)) return await breaksMatroska(read, sizeBytes);
    if (/\bmpegts\b/.test(format)) return await breaksTransport(read, sizeBytes);
    if (/\bflv\b/.test(format)) return await breaksFlv(read, sizeBytes);
    return false;
  } finally {
    await file.close();
  }
}

async function breaksMovie(read: Reader, sizeBytes: number): Promise<boolean> {
  let at = 0;
  for (let boxes = 0; at < sizeBytes && boxes < MAX_BOXES; boxes++) {
    const box = readBox(await read(at, BOX_HEADER_BYTES));
    if (box?.sizeBytes === undefined) return false;
    if (at + box.sizeBytes > sizeBytes) return MEDIA_BOXES.has(box.type);
    at += box.sizeBytes;
  }
  return false;
}

/** A streamed file states no size, and its clusters may not either: their content follows then. */
async function breaksMatroska(read: Reader, sizeBytes: number): Promise<boolean> {
  let at = 0;
  for (let elements = 0; at < sizeBytes && elements < MAX_BOXES; elements++) {
    const element = readElement(await read(at, ELEMENT_HEADER_BYTES));
    if (!element) return false;
    const isEntered = element.sizeBytes === undefined || element.id === SEGMENT;
    if (!isEntered && at + element.headerBytes + (element.sizeBytes ?? 0) > sizeBytes) return true;
    at += element.headerBytes + (isEntered ? 0 : (element.sizeBytes ?? 0));
  }
  return false;
}

async function breaksTransport(read: Reader, sizeBytes: number): Promise<boolean> {
  const longest = Math.max(...PACKET_BYTES);
  const head = await read(0, PROVEN_PACKETS * longest);
  const isAligned = (bytes: number, first: number) =>
    Array.from({ length: PROVEN_PACKETS - 1 }, (_, packet) => head[first + packet * bytes]).every(
      (byte) => byte === SYNC_BYTE,
    );
  // Packets of 192 bytes begin with a time of four.
  const bytes = PACKET_BYTES.find((size) => isAligned(size, size === 192 ? 4 : 0));
  return bytes !== undefined && sizeBytes % bytes !== 0;
}

/** The size of the last tag stands behind it. */
async function breaksFlv(read: Reader, sizeBytes: number): Promise<boolean> {
  const sizeAt = sizeBytes - FLV_SIZE_BYTES;
  const end = await read(Math.max(0, sizeAt), FLV_SIZE_BYTES);
  const tagBytes = end.length === FLV_SIZE_BYTES ? end.readUInt32BE(0) : 0;
  if (tagBytes < FLV_TAG_HEADER_BYTES || tagBytes > sizeAt) return true;
  const header = await read(sizeAt - tagBytes, FLV_SIZE_BYTES);
  return header.readUIntBE(1, 3) + FLV_TAG_HEADER_BYTES !== tagBytes;
}
