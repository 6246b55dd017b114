/** Reads the range of an uptime as clients write it. Pure: no I/O, no clock. */
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { NO_TIME_OR_DAY, parseTimeOrDay } from '../../lib/time.ts';
import type { TimeRange } from './compute.ts';

export const DEFAULT_DAYS = 30;
export const MAX_DAYS = 400;
const DAY_MS = 86_400_000;

export interface AskedRange {
  from?: string | undefined;
  to?: string | undefined;
}

export const lastDays = (days: number, now: Date): TimeRange => ({
  from: new Date(now.getTime() - days * DAY_MS),
  to: now,
});

/** The days that a range has, if it is not asked for, and at most. */
interface RangeDays {
  usual: number;
  most: number;
}
const DAYS: RangeDays = { usual: DEFAULT_DAYS, most: MAX_DAYS };

/** The last 30 days, unless `asked` or `days` says otherwise. The future is left out. Throws `validation_failed`. */
export function readRange(asked: AskedRange, now: Date, days = DAYS): TimeRange {
  const wrong = (['from', 'to'] as const).flatMap((name): FieldError[] => {
    const text = asked[name];
    if (text === undefined || parseTimeOrDay(text)) return [];
    return [{ path: `/${name}`, message: NO_TIME_OR_DAY }];
  });
  if (wrong.length > 0) throw validationFailed(wrong);
  const until = parseTimeOrDay(asked.to ?? '');
  const from = parseTimeOrDay(asked.from ?? '') ?? lastDays(days.usual, until && until < now ? until : now).from;
  const end = until ?? (from < now ? now : from);
  if (until && from >= until) throw validationFailed([{ path: '/from', message: 'must be before `to`' }]);
  // Of a range that is to come, nothing is left.
  const latest = from < now ? now : from;
  const to = new Date(Math.min(end.getTime(), latest.getTime()));
  if (to.getTime() - from.getTime() > days.most * DAY_MS)
    throw validationFailed([{ path: '/from', message: `must be at most ${days.most} days before \`to\`` }]);
  return { from, to };
}
