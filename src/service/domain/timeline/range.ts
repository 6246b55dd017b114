/** Reads the span of a timeline as clients write it. Pure: no I/O, no clock. */
import { type FieldError, validationFailed } from '../../lib/errors.ts';
import { NO_TIME_OR_DAY, parseTimeOrDay } from '../../lib/time.ts';

export const DEFAULT_SPAN_HOURS = 24;
export const MAX_SPAN_DAYS = 14;
/** A list that plays in a year is another one by then. */
export const MAX_AHEAD_DAYS = 366;
const DAY_MS = 86_400_000;

export interface AskedSpan {
  from?: string | undefined;
  to?: string | undefined;
}

export interface TimelineSpan {
  fromMs: number;
  toMs: number;
}

/** Now, unless `at` says otherwise. Throws `validation_failed`. */
export function readMoment(at: string | undefined, now: Date): Date {
  const read = at === undefined ? now : parseTimeOrDay(at);
  if (!read) throw validationFailed([{ path: '/at', message: NO_TIME_OR_DAY }]);
  if (read.getTime() <= now.getTime() + MAX_SPAN_DAYS * DAY_MS) return read;
  throw validationFailed([{ path: '/at', message: `must be at most ${MAX_SPAN_DAYS} days from now` }]);
}

/** Now and the day that follows, unless `asked` says otherwise. Throws `validation_failed`. */
export function readSpan(asked: AskedSpan, now: Date): TimelineSpan {
  const latestMs = now.getTime() + MAX_AHEAD_DAYS * DAY_MS;
  const read = (name: 'from' | 'to') => parseTimeOrDay(asked[name] ?? '')?.getTime();
  const wrong = (['from', 'to'] as const).flatMap((name): FieldError[] => {
    if (asked[name] === undefined) return [];
    const ms = read(name);
    if (ms === undefined) return [{ path: `/${name}`, message: NO_TIME_OR_DAY }];
    return ms > latestMs ? [{ path: `/${name}`, message: `must be at most ${MAX_AHEAD_DAYS} days from now` }] : [];
  });
  if (wrong.length > 0) throw validationFailed(wrong);
  const to = read('to');
  const fromMs = read('from') ?? (to === undefined ? now.getTime() : Math.min(now.getTime(), to - 1));
  const toMs = to ?? fromMs + DEFAULT_SPAN_HOURS * 3_600_000;
  if (fromMs >= toMs) throw validationFailed([{ path: '/from', message: 'must be before `to`' }]);
  if (toMs - fromMs > MAX_SPAN_DAYS * DAY_MS)
    throw validationFailed([{ path: '/to', message: `must be at most ${MAX_SPAN_DAYS} days after \`from\`` }]);
  return { fromMs, toMs };
}
