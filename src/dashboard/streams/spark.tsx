import { useEffect, useState } from 'react';
import classes from './numbers.module.css';

const POINTS = 60;
const WIDTH = 240;
const HEIGHT = 44;

/** The last minutes of a number that is read again and again; `readAt` tells one reading from the next. */
export function useHistory(value: number | null | undefined, readAt: number): readonly number[] {
  const [history, setHistory] = useState<readonly number[]>([]);
  useEffect(() => {
    if (typeof value === 'number' && readAt > 0) setHistory((before) => [...before.slice(1 - POINTS), value]);
  }, [value, readAt]);
  return history;
}

/** Points of an SVG polyline across the whole box, from zero up to a little above the highest value. Pure. */
export function sparkPoints(values: readonly number[], width = WIDTH, height = HEIGHT): string {
  const top = Math.max(1, ...values) * 1.15;
  const step = width / Math.max(1, values.length - 1);
  return values.map((v, i) => `${(i * step).toFixed(1)},${(height - (v / top) * height).toFixed(1)}`).join(' ');
}

export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  return (
    <svg
      className={classes.spark}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.length > 1 && <polyline points={sparkPoints(values)} vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}
