/**
 * Chooses what to fetch next, so that a sequential reader finds it in the cache: pieces of the object that it reads, then of the
 * objects that follow. The reader with the least ahead of it comes first. Pure: no I/O, no clock.
 */
import { setNewest } from '../../lib/newest.ts';

/** An object that is read or follows. Version and number of pieces are undefined until the storage has described it. */
export interface ReadObject {
  key: string;
  known?: { version: string; pieces: number } | undefined;
}

export interface WantedPiece {
  key: string;
  version: string;
  piece: number;
}

/** An object that must be described before its pieces can be fetched. */
export interface WantedHead {
  key: string;
  piece?: undefined;
}

interface Cursor {
  /** The object that is read, and those that follow. */
  objects: ReadObject[];
  /** The last piece read, and the next one to check; counted on over the objects. */
  at: number;
  next: number;
  /** True while the object of the next piece is being described. */
  asking: boolean;
}

/** More than the items of all tracks that are open at a time; the rest are of readers that stopped early. */
const MAX_CURSORS = 16;

const countPieces = (object: ReadObject | undefined): number => object?.known?.pieces ?? 0;

export class ReadAhead {
  /** By the key of the object that is read; the reader that moved last is the last one. */
  readonly #cursors = new Map<string, Cursor>();
  readonly #pieces: number;

  /** Number of pieces to fetch ahead of a reader. */
  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  /** Records that a reader has come to this piece of the first object, and that it will read the others after it. */
  at(objects: ReadObject[], piece: number): void {
    const [first] = objects;
    if (!first) return;
    const before = this.#takeCursor(first);
    if (objects.length === 1 && piece + 1 >= countPieces(first)) return;
    // A sequential reader keeps its checks; a reader that restarts or jumps does not.
    const next = before && before.at <= piece && piece < before.next ? before.next : piece + 1;
    setNewest(this.#cursors, first.key, { objects, at: piece, next, asking: false }, MAX_CURSORS);
  }

  /** Removes the cursor of the reader that now reads this object: it read it before, or the object in front of it. */
  #takeCursor({ key, known }: ReadObject): Pick<Cursor, 'at' | 'next'> | undefined {
    const own = this.#cursors.get(key);
    if (own) {
      this.#cursors.delete(key);
      return own.objects[0]?.known?.version === known?.version ? own : undefined;
    }
    for (const [id, { objects, at, next }] of this.#cursors) {
      const [first, second] = objects;
      if (second?.key !== key) continue;
      this.#cursors.delete(id);
      return { at: at - countPieces(first), next: next - countPieces(first) };
    }
    return undefined;
  }

  /** Takes the description of an object. */
  describe(key: string, known: { version: string; pieces: number }): void {
    for (const cursor of this.#cursors.values()) {
      const object = cursor.objects.find((other) => other.key === key);
      if (!object || object.known) continue;
      object.known = known;
      cursor.asking = false;
    }
  }

  /** Drops a failed object: nothing of it, nor behind it, is wanted until the next read. */
  end(key: string): void {
    for (const [id, cursor] of this.#cursors) {
      const index = cursor.objects.findIndex((object) => object.key === key);
      if (index === 0) this.#cursors.delete(id);
      else if (index > 0) cursor.objects.length = index;
    }
  }

  /** Returns what is wanted next, except for pieces that are `there`; undefined when all that is wanted is there. */
  next(there: (wanted: WantedPiece) => boolean): WantedPiece | WantedHead | undefined {
    for (;;) {
      let neediest: { cursor: Cursor; wanted: WantedPiece | WantedHead } | undefined;
      for (const cursor of this.#cursors.values()) {
        const ahead = cursor.next - cursor.at;
        if (cursor.asking || ahead > this.#pieces) continue;
        if (neediest && ahead >= neediest.cursor.next - neediest.cursor.at) continue;
        const wanted = locate(cursor);
        if (wanted) neediest = { cursor, wanted };
      }
      if (!neediest) return undefined;
      const { cursor, wanted } = neediest;
      if (wanted.piece === undefined) {
        cursor.asking = true;
        return wanted;
      }
      cursor.next++;
      if (!there(wanted)) return wanted;
    }
  }

  /** Puts back what could not be fetched. */
  again(wanted: WantedPiece | WantedHead): void {
    for (const cursor of this.#cursors.values()) {
      const index = cursor.objects.findIndex(({ key }) => key === wanted.key);
      if (index < 0) continue;
      if (wanted.piece === undefined) {
        cursor.asking = false;
        continue;
      }
      const before = cursor.objects.slice(0, index).reduce((sum, object) => sum + countPieces(object), 0);
      if (cursor.at < before + wanted.piece) cursor.next = Math.min(cursor.next, before + wanted.piece);
    }
  }
}

/** Finds the object that holds the next piece of a reader; undefined behind the last one. */
function locate({ objects, next }: Cursor): WantedPiece | WantedHead | undefined {
  let piece = next;
  for (const { key, known } of objects) {
    if (!known) return { key };
    if (piece < known.pieces) return { key, version: known.version, piece };
    piece -= known.pieces;
  }
  return undefined;
}
