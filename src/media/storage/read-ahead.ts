/**
 * Which piece of which object to fetch next, so that whoever reads an object to its end finds it there. Several readers are
 * served in the order of their need: first the one with the least ahead of it. Pure: no I/O, no clock.
 */

interface Cursor {
  key: string;
  version: string;
  /** The piece that was read last, and the next one to look at. */
  at: number;
  next: number;
  /** Behind the last one that is wanted. */
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

  /** How many pieces ahead of a reader are wanted. */
  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  /** A reader has come to this piece of an object of `pieces`. */
  at(key: string, version: string, piece: number, pieces: number): void {
    const id = `${key} ${version}`;
    const before = this.#cursors.get(id);
    const until = Math.min(piece + 1 + this.#pieces, pieces);
    if (piece + 1 >= until) return void this.#cursors.delete(id);
    // Who reads on keeps what has been looked at; who begins anew, or jumps, does not.
    const next = before && before.at <= piece && piece < before.next ? before.next : piece + 1;
    this.#cursors.set(id, { key, version, at: piece, next, until });
  }

  /** It cannot be read further: nothing of it is wanted until it is read again. */
  end(key: string, version: string): void {
    this.#cursors.delete(`${key} ${version}`);
  }

  /** The next piece that is not `there`; undefined when all that is wanted is. */
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

  /** A piece that could not be fetched is looked at again. */
  again({ key, version, piece }: WantedPiece): void {
    const cursor = this.#cursors.get(`${key} ${version}`);
    if (cursor && cursor.at < piece) cursor.next = Math.min(cursor.next, piece);
  }
}
