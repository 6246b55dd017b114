/**
 * A schedule as a form has it, and as the API has it. Days and a time stand for the cron expressions that people want most;
 * what is none of these stays the expression that it is. Pure: no I/O, no clock.
 */

import type { Recurrence, Schedule } from '../../../core/resources/stream/spec.ts';
import type { StreamSchedule } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';
import { formatClock } from '../../lib/format.ts';

export type Repeat = 'once' | 'weekly' | 'cron';

export interface ScheduleValues {
  repeat: Repeat;
  /** As an `<input type="datetime-local">` has it, in the reader's zone; empty: from now on, or without an end. */
  startAt: string;
  endAt: string;
  /** 0 is Sunday, as in crontab(5). */
  days: string[];
  /** `18:30`, on the clocks of `timeZone`. */
  time: string;
  /** When those clocks show it next, it ends; `extraDays` days later. */
  until: string;
  extraDays: string;
  cron: string;
  timeZone: string;
  /** How long it is on air, beside a cron expression. */
  hours: number | string;
  minutes: number | string;
  /** The rest of a length that others have chosen. */
  seconds: number;
  /** It recurs between `startAt` and `endAt` alone. */
  isBounded: boolean;
}

export const DAYS = [
  { value: '1', label: 'Mon' },
  { value: '2', label: 'Tue' },
  { value: '3', label: 'Wed' },
  { value: '4', label: 'Thu' },
  { value: '5', label: 'Fri' },
  { value: '6', label: 'Sat' },
  { value: '0', label: 'Sun' },
] as const;
const EVERY_DAY = DAYS.map(({ value }) => value as string);
export const DAY_SHORTCUTS = [
  { label: 'Every day', days: EVERY_DAY },
  { label: 'Weekdays', days: EVERY_DAY.slice(0, 5) },
  { label: 'Weekend', days: EVERY_DAY.slice(5) },
];

const two = (n: number): string => String(n).padStart(2, '0');

/** As `<input type="datetime-local">` takes it (HTML, section 2.3.5.5): the reader's own clock, without a zone. */
export function localInput(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A local time that is left out when clocks change is taken for the one after it, as by all browsers. */
const fromInput = (text: string): string | undefined => {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
};

/** Returns the time at which a start that the reader's clocks skip takes place; undefined for one that they show. */
export function findShiftedTime(text: string): string | undefined {
  const at = fromInput(text);
  return at && !isTooFar(text) && localInput(at) !== text.slice(0, 16) ? at : undefined;
}

/** `Mon–Fri`, `Mon, Wed–Fri`, `every day`, in the order of DAYS. */
export function formatDays(days: readonly string[]): string {
  if (days.length === EVERY_DAY.length) return 'every day';
  const runs: (typeof DAYS)[number][][] = [];
  for (const [at, day] of DAYS.entries()) {
    if (!days.includes(day.value)) continue;
    const last = runs.at(-1);
    if (last && DAYS[at - 1] === last.at(-1)) last.push(day);
    else runs.push([day]);
  }
  const name = (run: (typeof DAYS)[number][]): string => {
    const [first, last] = [run[0]?.label, run.at(-1)?.label];
    return run.length > 2 ? `${first}–${last}` : run.map(({ label }) => label).join(', ');
  };
  return runs.map(name).join(', ');
}

const DAY_MINUTES = 1440;
const minuteOfDay = (time: string): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
};

/** Minutes from one time of a day until clocks show the other, at least one. */
const minutesUntil = (time: string, until: string): number =>
  ((minuteOfDay(until) - minuteOfDay(time) - 1 + DAY_MINUTES) % DAY_MINUTES) + 1;

/** The day of an end; 0 is that of the start. */
export const nameDay = (day: number): string => ['Same day', 'Next day'][day] ?? `${day} days later`;

/** The day on which clocks show `until` first after `time`. */
export const findEndDay = (time: string, until: string): number => (minuteOfDay(until) > minuteOfDay(time) ? 0 : 1);

/** The end of a window as a time of the day; undefined for a length that is no whole minutes. */
function toEnd(time: string, seconds: number): Pick<ScheduleValues, 'until' | 'extraDays'> | undefined {
  const minutes = seconds / 60;
  if (!Number.isInteger(minutes) || minutes < 1) return undefined;
  const end = (minuteOfDay(time) + minutes) % DAY_MINUTES;
  return {
    until: `${two(Math.floor(end / 60))}:${two(end % 60)}`,
    extraDays: String(Math.floor((minutes - 1) / DAY_MINUTES)),
  };
}

/** A recurrence on days of the week, from a time to another; undefined for one that says more. */
export function parseWeeklyTimes(
  recurrence: Recurrence,
): Pick<ScheduleValues, 'days' | 'time' | 'until' | 'extraDays'> | undefined {
  const weekly = parseWeekly(recurrence.cron);
  const end = weekly && toEnd(weekly.time, recurrence.durationSeconds);
  return weekly && end && { ...weekly, ...end };
}

const sayClock = (time: string): string => formatClock(`1970-01-01T${time}:00Z`, { timeZone: 'UTC' });

/** `Mon–Fri, from 22:00 to 06:00 (next day)`; undefined for a recurrence that says more. */
export function describeWeekly(recurrence: Recurrence): string | undefined {
  const weekly = parseWeeklyTimes(recurrence);
  if (!weekly) return undefined;
  const { days, time, until, extraDays } = weekly;
  const endDay = findEndDay(time, until) + Number(extraDays);
  const later = endDay === 0 ? '' : ` (${nameDay(endDay).toLowerCase()})`;
  const text = `${formatDays(days)}, from ${sayClock(time)} to ${sayClock(until)}${later}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `30 18 * * 1,5` is a time of some days; undefined for an expression that says more. */
export function parseWeekly(cron: string): { days: string[]; time: string } | undefined {
  const [, minute, hour, days] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7](?:,[0-7])*)$/.exec(cron.trim()) ?? [];
  if (minute === undefined || hour === undefined || days === undefined) return undefined;
  if (Number(minute) > 59 || Number(hour) > 23) return undefined;
  const named = days === '*' ? EVERY_DAY : days.split(',').map((day) => (day === '7' ? '0' : day));
  return { days: EVERY_DAY.filter((day) => named.includes(day)), time: `${two(Number(hour))}:${two(Number(minute))}` };
}

export function formatCron(days: readonly string[], time: string): string {
  const [hour, minute] = time.split(':').map(Number);
  const chosen = days.length === EVERY_DAY.length ? '*' : [...days].sort().join(',');
  return `${minute} ${hour} * * ${chosen}`;
}

type Scheduled = Pick<Stream, 'scheduleStartAt' | 'scheduleEndAt' | 'recurrence'>;

export function scheduleValues(
  { scheduleStartAt, scheduleEndAt, recurrence }: Scheduled,
  timeZone: string,
): ScheduleValues {
  const weekly = recurrence ? parseWeeklyTimes(recurrence) : undefined;
  return {
    repeat: recurrence ? (weekly ? 'weekly' : 'cron') : 'once',
    startAt: localInput(scheduleStartAt),
    endAt: localInput(scheduleEndAt),
    ...(weekly ?? { days: EVERY_DAY, time: '18:00', until: '19:00', extraDays: '0' }),
    cron: recurrence?.cron ?? '0 18 * * *',
    timeZone: recurrence?.timeZone ?? timeZone,
    ...splitDuration(recurrence?.durationSeconds ?? 3600),
    isBounded: recurrence !== null && (scheduleStartAt !== null || scheduleEndAt !== null),
  };
}

const splitDuration = (seconds: number) => ({
  hours: Math.floor(seconds / 3600),
  minutes: Math.floor((seconds % 3600) / 60),
  seconds: seconds % 60,
});

/** The expression that a form stands for. */
export const cronIn = ({ repeat, days, time, cron }: ScheduleValues): string =>
  repeat === 'weekly' ? formatCron(days, time) : cron.trim();

export const computeDuration = ({ repeat, time, until, extraDays, ...length }: ScheduleValues): number =>
  repeat === 'weekly'
    ? (minutesUntil(time, until) + Number(extraDays) * DAY_MINUTES) * 60
    : (Number(length.hours) || 0) * 3600 + (Number(length.minutes) || 0) * 60 + length.seconds;

/** Days with times and a cron expression say the same, where either can say what the other says. */
export function switchRepeat(values: ScheduleValues, repeat: Repeat): ScheduleValues {
  const isComplete = values.time !== '' && values.until !== '' && values.days.length > 0;
  if (values.repeat === 'weekly' && repeat === 'cron' && isComplete)
    return { ...values, repeat, cron: cronIn(values), ...splitDuration(computeDuration(values)) };
  const { cron, timeZone } = values;
  const weekly = parseWeeklyTimes({ cron, timeZone, durationSeconds: computeDuration(values) });
  return values.repeat === 'cron' && repeat === 'weekly' ? { ...values, ...weekly, repeat } : { ...values, repeat };
}

export function scheduleBody(values: ScheduleValues): StreamSchedule {
  const { repeat, startAt, endAt, timeZone } = values;
  const [scheduleStartAt, scheduleEndAt] = [fromInput(startAt), fromInput(endAt)];
  const bounds = { ...(scheduleStartAt && { scheduleStartAt }), ...(scheduleEndAt && { scheduleEndAt }) };
  if (repeat === 'once') return bounds;
  const recurrence = { cron: cronIn(values), timeZone, durationSeconds: computeDuration(values) };
  return { ...(values.isBounded && bounds), recurrence };
}

/** A request in the form in which the operator decides about it (resources/stream/schedule.ts). */
export const toSchedule = ({ scheduleStartAt, scheduleEndAt, recurrence }: StreamSchedule): Schedule => ({
  ...(scheduleStartAt && { startAt: scheduleStartAt }),
  ...(scheduleEndAt && { endAt: scheduleEndAt }),
  ...(recurrence && { recurrence: { timeZone: 'UTC', ...recurrence } }),
});

const MOST_DAYS = 31;
const TOO_FAR = 'Choose a year before 10000.';
/** Fields of browsers take years that no text of a time has (RFC 3339, section 5.6). */
const isTooFar = (at: string): boolean => /^\d{5}/.test(at);
const isWithin = (value: number | string, most: number): boolean =>
  value === '' || (Number.isInteger(Number(value)) && Number(value) >= 0 && Number(value) <= most);

export type ScheduleMistakes = Partial<Record<keyof ScheduleValues, string>>;

/** Finds mistakes before the request; the server finds the rest. */
export function scheduleMistakes(values: ScheduleValues): ScheduleMistakes {
  const { repeat, startAt, endAt, isBounded } = values;
  const isOnce = repeat === 'once';
  return {
    ...(isOnce && startAt === '' && { startAt: 'Choose when it goes on air.' }),
    ...((isOnce || isBounded) && {
      ...(isEndFirst(startAt, endAt) && { endAt: 'Choose an end after the start.' }),
      ...(isTooFar(startAt) && { startAt: TOO_FAR }),
      ...(isTooFar(endAt) && { endAt: TOO_FAR }),
    }),
    ...(repeat === 'weekly' && weeklyMistakes(values)),
    ...(repeat === 'cron' && cronMistakes(values)),
  };
}

const isEndFirst = (startAt: string, endAt: string): boolean => Date.parse(endAt) <= Date.parse(startAt);

function weeklyMistakes(values: ScheduleValues): ScheduleMistakes {
  const { days, time, until } = values;
  return {
    ...(days.length === 0 && { days: 'Choose a day.' }),
    ...(time === '' && { time: 'Choose a time.' }),
    ...(until === '' && { until: 'Choose a time.' }),
    ...(computeDuration(values) > MOST_DAYS * 86_400 && { until: `Choose at most ${MOST_DAYS} days.` }),
  };
}

function cronMistakes(values: ScheduleValues): ScheduleMistakes {
  const { cron, hours, minutes } = values;
  const seconds = computeDuration(values);
  return {
    ...(cron.trim() === '' && { cron: 'Enter a cron expression.' }),
    ...(seconds < 60 && { minutes: 'Choose at least one minute.' }),
    ...(!isWithin(minutes, 59) && { minutes: 'Enter minutes from 0 to 59.' }),
    ...(seconds > MOST_DAYS * 86_400 && { hours: `Choose at most ${MOST_DAYS} days.` }),
    ...(!isWithin(hours, MOST_DAYS * 24) && { hours: `Enter hours from 0 to ${MOST_DAYS * 24}.` }),
  };
}
