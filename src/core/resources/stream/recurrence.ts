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

/** Recurrences whose starts are remembered: a thousand schedules, many of which are alike. */
const MAX_KEPT = 2_000;
/** Starts that are remembered of one: those that clients see. */
const MAX_STARTS = 8;

/** The first start after each moment of [from, start); without a start there is none from then on. */
interface Gap {
  from: number;
  start: Date | undefined;
}

interface Kept {
  cron: Cron;
  gaps: Gap[];
}

const kept = new Map<string, Kept>();

/** Parses a recurrence once: parsing one and finding its next start takes a millisecond, and each request asks several times. */
function parse({ cron, timeZone }: Recurrence): Kept {
  const key = `${timeZone} ${cron}`;
  const known = kept.get(key);
  if (known) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const parsed = { cron: new Cron(cron, { timezone: timeZone, mode: '5-part' }), gaps: [] };
  kept.set(key, parsed);
  return parsed;
}

function findStart(recurrence: Recurrence, time: Date): Date | undefined {
  const { cron, gaps } = parse(recurrence);
  const from = time.getTime();
  const known = gaps.find((gap) => gap.from <= from && (!gap.start || from < gap.start.getTime()));
  if (known) return known.start && new Date(known.start);
  const start = cron.nextRun(time) ?? undefined;
  if (gaps.push({ from, start }) > MAX_STARTS) gaps.shift();
  return start && new Date(start);
}

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
    return findStart(recurrence, now) ? undefined : { field: 'cron', message: NEVER };
  } catch {
    return { field: 'cron', message: CRON.sentence };
  }
}

/** The first start after `time`; undefined when none comes. Throws where `recurrenceProblem` finds a problem. */
export const startAfter = (recurrence: Recurrence, time: Date): Date | undefined => findStart(recurrence, time);

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
