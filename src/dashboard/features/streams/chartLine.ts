/** A line of numbers over time, in a box. Pure: no I/O, no clock. */
import type { Reading } from './history.ts';

export interface Point {
  at: number;
  value: number;
}

export const selectPoints = (history: readonly Reading[], field: Exclude<keyof Reading, 'at'>): Point[] =>
  history.flatMap(({ at, [field]: value }) => (value === null ? [] : [{ at, value }]));

export interface ChartLine {
  /** Points of an SVG polyline. */
  points: string;
  /** Where zero is, from the top; undefined when it is not in the box. */
  zero: number | undefined;
  low: number;
  high: number;
}

/**
 * From the first reading to the last, by their times. The box reaches from zero, or the lowest where that is below, to a little
 * above the highest; `least` is how much it shows at least, so that noise looks like noise.
 */
export function buildLine(points: readonly Point[], width: number, height: number, least: number): ChartLine {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const bottom = low < 0 ? Math.min(low, -least) * 1.1 : 0;
  const top = Math.max(high, least) * 1.1;
  const [from, to] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  const x = (at: number) => (to > from ? ((at - from) / (to - from)) * width : width);
  const y = (value: number) => height - ((value - bottom) / (top - bottom)) * height;
  return {
    points: points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
    zero: bottom < 0 ? y(0) : undefined,
    low,
    high,
  };
}
