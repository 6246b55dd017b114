/** Finds out whether an MP4 or MOV that cannot be opened has an index. A recorder writes it at the end, or never when it dies. */
import { open } from 'node:fs/promises';
import { BOX_HEADER_BYTES, readBox } from './boxes.ts';
import { readAt } from './read-at.ts';

/** A file with more boxes in front of its index is not looked through. */
const MAX_BOXES = 1000;
/** Boxes that a file begins with. Anything else is another format. */
const FIRST_BOXES = new Set(['ftyp', 'mdat', 'wide', 'free', 'skip', 'pnot']);

/**
 * Resolves with `missing` for a file with media and no index; `cut` where the media itself breaks off; undefined for any other file. Rejects
 * with an error of the file.
 */
export async function findIndex(path: string): Promise<'missing' | 'cut' | undefined> {
  const file = await open(path);
  try {
    const { size: sizeBytes } = await file.stat();
    let hasMedia = false;
    for (let at = 0, boxes = 0; at < sizeBytes && boxes < MAX_BOXES; boxes++) {
      const box = readBox(await readAt(file, at, Math.min(BOX_HEADER_BYTES, sizeBytes - at)));
      if (!box || (at === 0 && !FIRST_BOXES.has(box.type))) return hasMedia ? 'missing' : undefined;
      if (box.type === 'moov' || box.type === 'moof') return undefined;
      hasMedia ||= box.type === 'mdat';
      const end = at + (box.sizeBytes ?? sizeBytes - at);
      if (end > sizeBytes) return hasMedia ? 'cut' : undefined;
      at = end;
    }
    return hasMedia ? 'missing' : undefined;
  } finally {
    await file.close();
  }
}
