/**
 * Computes recurring windows: a cron expression in a time zone gives the starts, and each lasts a number of seconds.
 *
 * Five fields as in crontab(5) and in Kubernetes' CronJob; `@daily` and the like. A day of month and a day of week
 * together mean either. When clocks change, a start at a skipped local time moves to the first moment after the gap. A
 * start at a repeated local time happens the first time only. An hourly start happens every hour that passes. A window
 * lasts its seconds whatever the clock on the wall does. Pure: no I/O, no clock.
 */
import { Cron } from 'croner';
import { brokenRule, CRON, NEVER, TIME_ZONE } from '../../lib/sentences.ts';
import type { Recurrence, Schedule } from './spec.ts';

const parse = ({ cron, timeZone }: Recurrence): Cron => new Cron(cron, { timezone: timeZone, mode: '5-part' });

/** Those that go by their own name: to ask for an alias, or for what is none, costs a fifth of a millisecond each time. */
const ZONES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'));

/** Whether it is a zone of the IANA database, by its name or an alias; `brokenRule` with TIME_ZONE says what a name may be at all. */
export function isTimeZone(name: string): boolean {
  if (ZONES.has(name)) return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns the mistake: the field, and a sentence that follows its name or value. The search for its next start begins
 * at `now`.
 */
export function findRecurrenceProblem(
  recurrence: Recurrence,
  now: Date,
): { field: 'cron' | 'timeZone'; message: string } | undefined {
  const { cron, timeZone } = recurrence;
  if (brokenRule([TIME_ZONE], timeZone) || !isTimeZone(timeZone))
    return { field: 'timeZone', message: TIME_ZONE.sentence };
  if (brokenRule([CRON], cron)) return { field: 'cron', message: CRON.sentence };
  try {
    return parse(recurrence).nextRun(now) === null ? { field: 'cron', message: NEVER } : undefined;
  } catch {
    return { field: 'cron', message: CRON.sentence };
  }
}

/** The first start after `time`; undefined when none comes. Throws where `recurrenceProblem` finds a problem. */
export const startAfter = (recurrence: Recurrence, time: Date): Date | undefined =>
  parse(recurrence).nextRun(time) ?? undefined;

/** When the schedule puts a stream on air next; undefined when it does not, or makes no sense. */
export function findNextStart(schedule: Schedule | undefined, now: Date): Date | undefined {
  const { startAt, endAt, recurrence } = schedule ?? {};
  const opens = startAt === undefined ? undefined : new Date(startAt);
  if (!recurrence) return opens && opens > now ? opens : undefined;
  if (findRecurrenceProblem(recurrence, now)) return undefined;
  const next = startAfter(recurrence, opens && opens > now ? new Date(opens.getTime() - 1) : now);
  return next && endAt !== undefined && next >= new Date(endAt) ? undefined : next;
}

export interface Window {
  startAt: Date;
  /** Undefined: it has no end. */
  endAt: Date | undefined;
}

/** The next `count` windows that have not begun; none of a schedule that makes no sense. */
export function listNextWindows(schedule: Schedule | undefined, now: Date, count: number): Window[] {
  const { endAt, recurrence } = schedule ?? {};
  const last = endAt === undefined ? undefined : new Date(endAt);
  const windows: Window[] = [];
  for (let from = now; windows.length < count; ) {
    const startAt = findNextStart(schedule, from);
    if (!startAt) break;
    const own = recurrence && new Date(startAt.getTime() + recurrence.durationSeconds * 1000);
    windows.push({ startAt, endAt: own && last && last < own ? last : (own ?? last) });
    // One that does not recur comes once.
    if (!recurrence) break;
    from = startAt;
  }
  return windows;
}
