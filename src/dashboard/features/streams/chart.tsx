/** One number over the last minutes: a line, its newest value, and between what it moved. */
import { buildLine, type Point } from './chartLine.ts';
import classes from './numbers.module.css';

const WIDTH = 300;
const HEIGHT = 56;

interface ChartProps {
  label: string;
  points: readonly Point[];
  format: (value: number | undefined) => string;
  /** The form of the two ends of the range, where that is another one. */
  formatEnd?: (value: number | undefined) => string;
  /** The box shows at least this much, in the number's unit. */
  least: number;
  hint?: string;
  /** Shown to those who point at it. */
  explanation?: string;
}

const formatSpan = (points: readonly Point[]): string => {
  const seconds = ((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0)) / 1000;
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
};

export function Chart({ label, points, format, formatEnd = format, least, hint, explanation }: ChartProps) {
  const enough = points.length > 1;
  const line = buildLine(points, WIDTH, HEIGHT, least);
  const range = enough ? `${formatEnd(line.low)} to ${formatEnd(line.high)} in ${formatSpan(points)}` : 'No data yet';
  return (
    <div className={classes.tile} data-wide data-empty={enough ? undefined : true} title={explanation}>
      <dt>{label}</dt>
      <dd className={classes.chartHead}>
        <span className={classes.value}>{format(points.at(-1)?.value)}</span>
        {hint && <span className={classes.hint}>{hint}</span>}
        <span className={classes.range}>{range}</span>
      </dd>
      <dd className={classes.under}>
        <svg
          className={classes.chart}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${label}: ${range}`}
        >
          {line.zero !== undefined && (
            <line x1={0} x2={WIDTH} y1={line.zero} y2={line.zero} vectorEffect="non-scaling-stroke" />
          )}
          {enough && (
            <>
              <polygon points={`0,${HEIGHT} ${line.points} ${WIDTH},${HEIGHT}`} />
              <polyline points={line.points} vectorEffect="non-scaling-stroke" />
            </>
          )}
        </svg>
      </dd>
    </div>
  );
}
