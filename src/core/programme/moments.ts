/**
 * Lists the moments of a cron expression in a time zone fast enough for a fold: it finds the minutes of a day once, and once for each day
 * whether that day has them. It leaves days on which the clocks change to the library. recurrence.ts describes what an expression means.
 * Pure: no I/O, no clock; what was found is remembered.
 */
import { Cron } from 'croner';
import { setNewest } from '../lib/newest.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** An expression without a moment in so many days has none: 29 February comes within 8 years. */
const MAX_DAYS = 8 * 366 + 2;
/** Expressions and zones that are remembered. */
const MAX_KEPT = 500;

interface Clock {
  format: Intl.DateTimeFormat;
  /** Difference to UTC in milliseconds, by hours since 1970. */
  offsets: Map<number, number>;
}

const clocks = new Map<string, Clock>();

function readOffset(zone: string, ms: number): number {
  const known = clocks.get(zone);
  const clock = known ?? { format: createFormat(zone), offsets: new Map() };
  if (!known) setNewest(clocks, zone, clock, MAX_KEPT);
  // No zone changes within a quarter of an hour.
  const at = Math.floor(ms / (HOUR_MS / 4));
  const found = clock.offsets.get(at);
  if (found !== undefined) return found;
  const begin = at * (HOUR_MS / 4);
  const parts = Object.fromEntries(clock.format.formatToParts(begin).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const offset = Date.UTC(year, month - 1, day, hour, minute, second) - begin;
  setNewest(clock.offsets, at, offset, 10_000);
  return offset;
}

const createFormat = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });

interface Expression {
  /** In its zone, and as if all days had 24 hours. */
  local: Cron;
  plain: Cron;
  /** Minutes of a day that has some. */
  minutes: number[] | undefined;
  /** Moments of local days, by days since 1970. */
  days: Map<number, readonly number[]>;
  /** A time without moments, as of an expression that seldom comes. It may have no end. */
  gap: { fromMs: number; toMs: number } | undefined;
}

const expressions = new Map<string, Expression>();

function parse(cron: string, timeZone: string): Expression {
  const key = `${timeZone} ${cron}`;
  const known = expressions.get(key);
  if (known) return known;
  const local = new Cron(cron, { timezone: timeZone, mode: '5-part' });
  const plain = new Cron(cron, { utcOffset: 0, mode: '5-part' });
  const parsed: Expression = { local, plain, minutes: undefined, days: new Map(), gap: undefined };
  setNewest(expressions, key, parsed, MAX_KEPT);
  return parsed;
}

/** Lists the runs of an expression in [fromMs, toMs). */
function listRuns(cron: Cron, fromMs: number, toMs: number): number[] {
  const found: number[] = [];
  for (let at = fromMs - 1; ; ) {
    const next = cron.nextRun(new Date(at))?.getTime() ?? toMs;
    if (next >= toMs) return found;
    found.push(next);
    at = next;
  }
}

/** The moment at which the clock on the wall shows a time, or about then where it shows it twice or never. */
const beginOf = (zone: string, wallMs: number): number => wallMs - readOffset(zone, wallMs - readOffset(zone, wallMs));

/** Lists the moments of a local day, which begins at `day` days since 1970 by the clock on the wall. */
function listDay(expression: Expression, timeZone: string, day: number): readonly number[] {
  const known = expression.days.get(day);
  if (known) return known;
  const wallMs = day * DAY_MS;
  // A zone is 14 hours ahead of UTC at most, and 12 behind.
  const before = readOffset(timeZone, wallMs - 14 * HOUR_MS);
  const after = readOffset(timeZone, wallMs + DAY_MS + 12 * HOUR_MS);
  const moments =
    before === after
      ? listPlainDay(expression, day).map((minute) => wallMs + minute * MINUTE_MS - before)
      : listRuns(expression.local, beginOf(timeZone, wallMs), beginOf(timeZone, wallMs + DAY_MS));
  setNewest(expression.days, day, moments, 1000);
  return moments;
}

function listPlainDay(expression: Expression, day: number): readonly number[] {
  const beginMs = day * DAY_MS;
  const first = expression.plain.nextRun(new Date(beginMs - 1))?.getTime();
  if (first === undefined || first >= beginMs + DAY_MS) return [];
  expression.minutes ??= listRuns(expression.plain, beginMs, beginMs + DAY_MS).map((ms) => (ms - beginMs) / MINUTE_MS);
  return expression.minutes;
}

/** Counts the moments until one, that one included. */
function countUntil(moments: readonly number[], ms: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first moment after `afterMs`; undefined when none comes. Throws where the expression or the zone makes no sense. */
export function findMoment(
  { cron, timeZone }: { cron: string; timeZone: string },
  afterMs: number,
): number | undefined {
  const expression = parse(cron, timeZone);
  const { gap } = expression;
  if (gap && gap.fromMs <= afterMs && afterMs < gap.toMs) return Number.isFinite(gap.toMs) ? gap.toMs : undefined;
  const firstDay = Math.floor((afterMs + readOffset(timeZone, afterMs)) / DAY_MS) - 1;
  for (let day = firstDay; day <= firstDay + 32; day++) {
    const moments = listDay(expression, timeZone, day);
    const last = moments.at(-1);
    if (last !== undefined && last > afterMs) return moments[countUntil(moments, afterMs)];
  }
  const next = expression.local.nextRun(new Date(afterMs))?.getTime();
  const isSoon = next !== undefined && next < afterMs + MAX_DAYS * DAY_MS;
  expression.gap = { fromMs: afterMs, toMs: isSoon ? next : Number.POSITIVE_INFINITY };
  return isSoon ? next : undefined;
}

/** A local time of an expression that a change of clocks has moved. */
export interface MovedMoment {
  /** The local time, such as 2026-03-29 02:30. */
  local: string;
  /** Skipped: no moment has that time. Repeated: two have. Shifted: it is another moment than by the clock before or after. */
  kind: 'skipped' | 'repeated' | 'shifted';
  /** The moment that counts. */
  atMs: number;
}

/**
 * Returns how a change of clocks has moved the moment that somebody means by `atMs`: by the clock before the change, or after it, an
 * expression has that time, and yet no moment then. Throws as `findMoment` does.
 */
export function findMovedMoment(recurrence: { cron: string; timeZone: string }, atMs: number): MovedMoment | undefined {
  const { cron, timeZone } = recurrence;
  const meantMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
  const offsets = [...new Set([-DAY_MS / 2, DAY_MS / 2].map((away) => readOffset(timeZone, meantMs + away)))];
  if (offsets.length < 2 || findMoment(recurrence, meantMs - 1) === meantMs) return undefined;
  const expression = parse(cron, timeZone);
  const walls = offsets.map((offset) => meantMs + offset);
  const wallMs = walls.find((wall) => expression.plain.nextRun(new Date(wall - 1))?.getTime() === wall);
  if (wallMs === undefined) return undefined;
  const times = offsets.filter((offset) => readOffset(timeZone, wallMs - offset) === offset).length;
  const moments = listDay(expression, timeZone, Math.floor(wallMs / DAY_MS));
  const [nearest] = moments.toSorted((a, b) => Math.abs(a - meantMs) - Math.abs(b - meantMs));
  if (nearest === undefined) return undefined;
  const local = new Date(wallMs).toISOString().slice(0, 16).replace('T', ' ');
  return { local, kind: times === 0 ? 'skipped' : times === 1 ? 'shifted' : 'repeated', atMs: nearest };
}
