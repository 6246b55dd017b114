/**
 * Chooses the piece to fetch next, so that a sequential reader finds it in the cache. The reader with the least ahead
 * of it comes first. Pure: no I/O, no clock.
 */

interface Cursor {
  key: string;
  version: string;
  /** The last piece read, and the next one to check. */
  at: number;
  next: number;
  /** The piece behind the last wanted one. */
  until: number;
}

export interface WantedPiece {
  key: string;
  version: string;
  piece: number;
}

export class ReadAhead {
  readonly #cursors = new Map<string, Cursor>();
  readonly #pieces: number;

  /** Number of pieces to fetch ahead of a reader. */
  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  /** Records that a reader has come to this piece of an object of `pieces`. */
  at(key: string, version: string, piece: number, pieces: number): void {
    const id = `${key} ${version}`;
    const before = this.#cursors.get(id);
    const until = Math.min(piece + 1 + this.#pieces, pieces);
    if (piece + 1 >= until) return void this.#cursors.delete(id);
    // A sequential reader keeps its checks; a reader that restarts or jumps does not.
    const next = before && before.at <= piece && piece < before.next ? before.next : piece + 1;
    this.#cursors.set(id, { key, version, at: piece, next, until });
  }

  /** Drops a failed object: nothing of it is wanted until the next read. */
  end(key: string, version: string): void {
    this.#cursors.delete(`${key} ${version}`);
  }

  /** Returns the next piece that is not `there`; undefined when all wanted pieces are. */
  next(there: (wanted: WantedPiece) => boolean): WantedPiece | undefined {
    for (;;) {
      let neediest: Cursor | undefined;
      for (const cursor of this.#cursors.values()) {
        if (cursor.next >= cursor.until) continue;
        if (!neediest || cursor.next - cursor.at < neediest.next - neediest.at) neediest = cursor;
      }
      if (!neediest) return undefined;
      const wanted = { key: neediest.key, version: neediest.version, piece: neediest.next++ };
      if (!there(wanted)) return wanted;
    }
  }

  /** Puts a piece back that could not be fetched. */
  again({ key, version, piece }: WantedPiece): void {
    const cursor = this.#cursors.get(`${key} ${version}`);
    if (cursor && cursor.at < piece) cursor.next = Math.min(cursor.next, piece);
  }
}
