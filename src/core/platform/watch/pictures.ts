/**
 * Compares small pictures: what viewers get with what we send. Servers and platforms encode again, scale, add bars or a logo, cut to another
 * shape and change the curve of brightness; the comparison bears all of these. Pure: no I/O, no clock.
 */

export const PICTURE_WIDTH = 32;
export const PICTURE_HEIGHT = 18;
export const PICTURE_PIXELS = PICTURE_WIDTH * PICTURE_HEIGHT;

/** A picture of a moment. Of watched pictures, only differences of times count; of ours, `atMs` is when it was sent. */
export interface LumaPicture {
  atMs: number;
  /** Brightness, row by row, 0 to 255: PICTURE_PIXELS values. */
  luma: Uint8Array;
}

/** A part of a picture, in its pixels. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}
export const WHOLE: Area = { left: 0, top: 0, width: PICTURE_WIDTH, height: PICTURE_HEIGHT };

/** Video black is 16; noise and 10 bits add a little. */
const DARK = 32;
/** Below this, a picture has no shape that could be compared. */
const FLAT_DEVIATION = 4;
/** A logo or a clock covers no more than this of a corner. */
const COVERED_ROWS = 7;
const COVERED_COLUMNS = 12;
/** Above this, nothing covers a corner. */
const CLEAR = 0.97;

export const meanOf = (values: ArrayLike<number>): number => {
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += values[index] ?? 0;
  return sum / values.length;
};

export const deviationOf = (values: ArrayLike<number>): number => {
  const mean = meanOf(values);
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += ((values[index] ?? 0) - mean) ** 2;
  return Math.sqrt(sum / values.length);
};

/** Whether a picture is black: dark all over but for a logo. */
export const isBlack = (luma: Uint8Array): boolean => {
  let bright = 0;
  for (const value of luma) if (value > DARK) bright += 1;
  return bright <= luma.length * 0.04;
};

export const isFlat = (luma: ArrayLike<number>): boolean => deviationOf(luma) < FLAT_DEVIATION;

/** The mean difference of two pictures of one camera, in steps of brightness. */
export const difference = (a: Uint8Array, b: Uint8Array): number => {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += Math.abs((a[index] ?? 0) - (b[index] ?? 0));
  return sum / a.length;
};

/** The part of the pictures that is not bars: rows and columns at the edges that are dark in all of them. */
export function findContent(pictures: readonly Uint8Array[]): Area {
  const isBar = (index: (step: number) => number, steps: number) =>
    pictures.every((luma) => {
      for (let step = 0; step < steps; step += 1) if ((luma[index(step)] ?? 0) > DARK) return false;
      return true;
    });
  const isDarkRow = (row: number) => isBar((column) => row * PICTURE_WIDTH + column, PICTURE_WIDTH);
  const isDarkColumn = (column: number) => isBar((row) => row * PICTURE_WIDTH + column, PICTURE_HEIGHT);
  let [top, bottom, left, right] = [0, PICTURE_HEIGHT, 0, PICTURE_WIDTH];
  while (top < bottom && isDarkRow(top)) top += 1;
  while (bottom > top && isDarkRow(bottom - 1)) bottom -= 1;
  while (left < right && isDarkColumn(left)) left += 1;
  while (right > left && isDarkColumn(right - 1)) right -= 1;
  const area = { left, top, width: right - left, height: bottom - top };
  // The rest of dark pictures says nothing of bars.
  return area.width < PICTURE_WIDTH / 4 || area.height < PICTURE_HEIGHT / 4 ? WHOLE : area;
}

/** Scales a part of a picture to the size of a picture. */
export function scaleArea(luma: Uint8Array, { left, top, width, height }: Area): Float32Array {
  const scaled = new Float32Array(PICTURE_PIXELS);
  const at = (row: number, column: number) =>
    luma[
      Math.min(top + height - 1, Math.max(top, row)) * PICTURE_WIDTH +
        Math.min(left + width - 1, Math.max(left, column))
    ] ?? 0;
  for (let row = 0; row < PICTURE_HEIGHT; row += 1)
    for (let column = 0; column < PICTURE_WIDTH; column += 1) {
      const y = top + ((row + 0.5) * height) / PICTURE_HEIGHT - 0.5;
      const x = left + ((column + 0.5) * width) / PICTURE_WIDTH - 0.5;
      const [y0, x0] = [Math.floor(y), Math.floor(x)];
      const [fy, fx] = [y - y0, x - x0];
      const above = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx;
      const below = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx;
      scaled[row * PICTURE_WIDTH + column] = above * (1 - fy) + below * fy;
    }
  return scaled;
}

/** Sums over some pixels of two pictures, of which a correlation follows. */
type Sums = [count: number, a: number, b: number, aa: number, bb: number, ab: number];

function sumPixels(a: ArrayLike<number>, b: ArrayLike<number>, pixels: Uint16Array): Sums {
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
  for (const pixel of pixels) {
    const [x, y] = [a[pixel] ?? 0, b[pixel] ?? 0];
    sumA += x;
    sumB += y;
    sumAA += x * x;
    sumBB += y * y;
    sumAB += x * y;
  }
  return [pixels.length, sumA, sumB, sumAA, sumBB, sumAB];
}

const NOTHING: Sums = [0, 0, 0, 0, 0, 0];

function correlate(whole: Sums, leftOut: Sums): number {
  const [count, a, b, aa, bb, ab] = [
    whole[0] - leftOut[0],
    whole[1] - leftOut[1],
    whole[2] - leftOut[2],
    whole[3] - leftOut[3],
    whole[4] - leftOut[4],
    whole[5] - leftOut[5],
  ];
  const [varianceA, varianceB] = [aa - (a * a) / count, bb - (b * b) / count];
  return varianceA > 0 && varianceB > 0 ? (ab - (a * b) / count) / Math.sqrt(varianceA * varianceB) : 0;
}

/**
 * Returns how alike two pictures are: 1 for the same, about 0 for two unrelated ones. Brightness and contrast do not count, and neither does
 * a corner or an edge that a logo, a clock or a ticker covers.
 */
export function similarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const whole = sumPixels(a, b, ALL);
  let best = correlate(whole, NOTHING);
  if (best > CLEAR) return best;
  for (const pixels of COVERED) best = Math.max(best, correlate(whole, sumPixels(a, b, pixels)));
  return best;
}

const listPixels = (isInside: (row: number, column: number) => boolean): Uint16Array =>
  Uint16Array.from(
    Array.from({ length: PICTURE_PIXELS }, (_, index) => index).filter((index) =>
      isInside(Math.floor(index / PICTURE_WIDTH), index % PICTURE_WIDTH),
    ),
  );
const ALL = listPixels(() => true);

/** Parts that are left out in turn: each corner, and the lowest rows. */
const COVERED: readonly Uint16Array[] = [
  listPixels((row, column) => row < COVERED_ROWS && column < COVERED_COLUMNS),
  listPixels((row, column) => row < COVERED_ROWS && column >= PICTURE_WIDTH - COVERED_COLUMNS),
  listPixels((row, column) => row >= PICTURE_HEIGHT - COVERED_ROWS && column < COVERED_COLUMNS),
  listPixels((row, column) => row >= PICTURE_HEIGHT - COVERED_ROWS && column >= PICTURE_WIDTH - COVERED_COLUMNS),
  listPixels((row) => row >= PICTURE_HEIGHT - 4),
];
