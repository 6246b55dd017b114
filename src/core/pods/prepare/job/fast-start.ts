/**
 * Finds out what a source is before it has arrived. The tables of an MP4 describe every packet: its time, size and place, and whether it
 * is a keyframe. In a file that is made to be played while it arrives ("fast start") they come first. An outline of the file, its
 * beginning and then a hole up to its full size, is read like the whole one, and has the same packets.
 */
import { open } from 'node:fs/promises';
import { settlesWithin } from '../../../lib/settle-within.ts';
import { BOX_HEADER_BYTES, listBoxTypes, readBox } from '../inspect/boxes.ts';
import type { Arrival } from './arrival.ts';

/** The tables of ten hours have 40 MB. */
const MAX_TABLES_BYTES = 2 ** 26;
/** ffprobe reads 5,000,000 bytes of media to learn what the header does not say. */
const MEDIA_BYTES = 6_000_000;
/** Boxes before the media. Each takes reads of its own. */
const MAX_BOXES = 1000;
/** The outline takes half a second to be read. A file that arrives as soon is better read once. */
const SHORT_SECONDS = 2;

interface FastStart {
  /** Bytes from the beginning that are needed. */
  headBytes: number;
  sizeBytes: number;
}

/** Waits for the tables. Undefined for a source whose packets cannot be known before it has arrived. Rejects as arrival.follow() throws. */
async function findFastStart(arrival: Arrival, signal: AbortSignal): Promise<FastStart | undefined> {
  let hasTables = false;
  for (let at = 0, boxes = 0; boxes < MAX_BOXES; boxes++) {
    const header = await arrival.readPart(at, BOX_HEADER_BYTES, signal);
    const box = header && readBox(header);
    if (box?.sizeBytes === undefined || (at === 0 && box.type !== 'ftyp')) return undefined;
    const end = at + box.sizeBytes;
    if (box.type === 'mdat') {
      const { totalBytes = end } = arrival;
      // A file that ends before its media does is refused when it has arrived.
      return hasTables && end <= totalBytes ? { headBytes: at + MEDIA_BYTES, sizeBytes: totalBytes } : undefined;
    }
    if (end > MAX_TABLES_BYTES) return undefined;
    if (box.type === 'moov') {
      const tables = await arrival.readPart(at + box.headerBytes, box.sizeBytes - box.headerBytes, signal);
      // The packets of a fragmented file are described between them.
      if (!tables || listBoxTypes(tables).includes('mvex')) return undefined;
      hasTables = true;
    }
    at = end;
  }
  return undefined;
}

/**
 * Writes an outline of the source to `path` as soon as that can be done. Resolves with false where it cannot, or where the whole source
 * is there as soon. Rejects as arrival.follow() throws.
 */
export async function outline(arrival: Arrival, path: string, signal: AbortSignal): Promise<boolean> {
  const found = await findFastStart(arrival, signal);
  if (!found) return false;
  await arrival.waitFor(found.headBytes, signal);
  if (arrival.secondsLeft < SHORT_SECONDS)
    await settlesWithin(arrival.waitFor(Number.POSITIVE_INFINITY, signal), SHORT_SECONDS * 1000);
  if (arrival.isComplete) return false;
  const file = await open(path, 'wx');
  try {
    let left = found.headBytes;
    for await (const bytes of arrival.follow(signal)) {
      const piece = bytes.subarray(0, left);
      await file.writeFile(piece);
      left -= piece.length;
      if (left === 0) break;
    }
    await file.truncate(found.sizeBytes);
    return true;
  } finally {
    await file.close();
  }
}
