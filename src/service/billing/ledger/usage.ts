/** Computes usage: the requested days and their charges, in lines and as CSV. Pure: no I/O, no clock. */

import { formatCsv } from '../../../core/lib/csv.ts';
import { brokenRule, TIME_ZONE } from '../../../core/lib/sentences.ts';
import { isTimeZone } from '../../../core/resources/stream/recurrence.ts';
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { addDays, dayAt, dayStarts, daysBetween, isDay } from './days.ts';
import type { Usage, UsageAsked, UsageLine } from './record.ts';
import type { UsageRow } from './store.ts';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
/** No credit was bought before the first day, and no stream will be on air after the last. */
const [FIRST_DAY, LAST_DAY] = ['2000-01-01', '2200-01-01'];

/** A request that makes sense: all is said in it. */
export interface UsageRange {
  from: string;
  to: string;
  timeZone: string;
  groupBy: UsageAsked['groupBy'];
  /** When each day begins, and at last when the day after the last one does. */
  starts: Date[];
}

/** Throws `validation_failed`, naming what is wrong. */
export function parseRange({ from, to, timeZone, groupBy }: UsageAsked, now: Date): UsageRange {
  if (brokenRule([TIME_ZONE], timeZone) || !isTimeZone(timeZone))
    throw validationFailed([{ path: '/timeZone', message: TIME_ZONE.sentence }]);
  const last = to ?? dayAt(now, timeZone);
  const wrong = (['from', 'to'] as const).flatMap((name): FieldError[] => {
    const day = { from, to }[name];
    if (day === undefined || (isDay(day) && day >= FIRST_DAY && day <= LAST_DAY)) return [];
    return [{ path: `/${name}`, message: `must be a date such as 2027-01-31, from ${FIRST_DAY} to ${LAST_DAY}` }];
  });
  if (wrong.length > 0) throw validationFailed(wrong);
  const first = from ?? addDays(last, 1 - DEFAULT_DAYS);
  const days = daysBetween(first, last) + 1;
  if (days < 1) throw validationFailed([{ path: '/from', message: 'must not be after `to`' }]);
  if (days > MAX_DAYS)
    throw validationFailed([{ path: '/from', message: `must be at most ${MAX_DAYS} days before \`to\`` }]);
  return { from: first, to: last, timeZone, groupBy, starts: dayStarts(first, last, timeZone) };
}

const sum = (rows: readonly UsageRow[]) => ({
  credits: String(rows.reduce((total, row) => total + row.credits, 0n)),
  // A thousandth of a second is what is measured; a sum of doubles would show more digits.
  onAirSeconds: Math.round(rows.reduce((total, { seconds }) => total + Number(seconds), 0) * 1000) / 1000,
});

/** Days all have a line, also those without a charge, since a chart has room for them; streams only those that used something. */
export function computeUsage({ from, to, timeZone, groupBy, starts }: UsageRange, rows: readonly UsageRow[]): Usage {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  const lines: UsageLine[] =
    groupBy === 'day'
      ? starts.slice(1).map((_end, index) => ({
          day: addDays(from, index),
          streamID: null,
          ...sum(byDay.get(index + 1) ?? []),
        }))
      : rows
          .toSorted((a, b) => Number(b.credits - a.credits) || ((a.stream_id ?? '') < (b.stream_id ?? '') ? -1 : 1))
          .map((row) => ({ day: null, streamID: row.stream_id, ...sum([row]) }));
  return { from, to, timeZone, groupBy, ...sum(rows), lines };
}

/** RFC 4180, with the names of JSON's fields for a header. Ids and numbers need no quotes. */
export function usageCsv({ groupBy, lines }: Pick<Usage, 'groupBy' | 'lines'>): string {
  const rows = lines.map((line) => [
    (groupBy === 'day' ? line.day : line.streamID) ?? '',
    line.credits,
    line.onAirSeconds,
  ]);
  return formatCsv([groupBy === 'day' ? 'day' : 'streamID', 'credits', 'onAirSeconds'], rows);
}
