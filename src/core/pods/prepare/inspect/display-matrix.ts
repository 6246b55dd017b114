/** Reads how a track's pictures are placed on the screen (ISO/IEC 14496-12 8.3.2, the matrix of a track). Pure: no I/O, no clock. */

export interface Placement {
  /** Exif's number of the turn or mirror; undefined for any other transformation. */
  orientation: number | undefined;
  /** Widening of the stored picture over its heightening. */
  stretch: number;
  /** False for a matrix that leaves the picture as it is stored. */
  isTransformed: boolean;
}

const ONE = 65_536;
/** A smaller part of the matrix is rounding. */
const ROUNDING = 0.01;

/** By the signs of [x to x, y to y], and of [x to y, y to x]. */
const STRAIGHT: Record<string, number> = { '1,1': 1, '-1,1': 2, '-1,-1': 3, '1,-1': 4 };
const TURNED: Record<string, number> = { '1,1': 5, '1,-1': 6, '-1,-1': 7, '-1,1': 8 };

/** Reads ffprobe's text of a display matrix; undefined where it is none, or shows nothing. */
export function readPlacement(text: string): Placement | undefined {
  const rows = [...text.matchAll(/^\d+:\s+(-?\d+)\s+(-?\d+)\s+-?\d+$/gm)];
  const [a, b, c, d] = rows.slice(0, 2).flatMap(([, x, y]) => [Number(x) / ONE, Number(y) / ONE]);
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  const size = Math.max(...[a, b, c, d].map(Math.abs));
  if (size === 0) return undefined;
  const isNone = (value: number) => Math.abs(value) < ROUNDING * size;
  const isIdentity = [a - 1, b, c, d - 1].every((value) => Math.abs(value) < ROUNDING);
  const orientation =
    isNone(b) && isNone(c)
      ? STRAIGHT[`${Math.sign(a)},${Math.sign(d)}`]
      : isNone(a) && isNone(d)
        ? TURNED[`${Math.sign(b)},${Math.sign(c)}`]
        : undefined;
  const stretch = orientation === undefined ? 1 : Math.hypot(a, b) / Math.hypot(c, d);
  return { orientation, stretch, isTransformed: !isIdentity };
}
