/**
 * A schedule as a form has it, and as the API has it. Days and a time stand for the cron expressions that people want most;
 * what is none of these stays the expression that it is. Pure: no I/O, no clock.
 */

import type { Schedule } from '../../../core/resources/stream/spec.ts';
import type { StreamSchedule } from '../../../service/client/index.ts';
import type { Stream } from '../../api/api.ts';

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
  cron: string;
  timeZone: string;
  hours: number | string;
  minutes: number | string;
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
  const weekly = recurrence ? parseWeekly(recurrence.cron) : undefined;
  const seconds = recurrence?.durationSeconds ?? 3600;
  return {
    repeat: recurrence ? (weekly ? 'weekly' : 'cron') : 'once',
    startAt: localInput(scheduleStartAt),
    endAt: localInput(scheduleEndAt),
    days: weekly?.days ?? EVERY_DAY,
    time: weekly?.time ?? '18:00',
    cron: recurrence?.cron ?? '0 18 * * *',
    timeZone: recurrence?.timeZone ?? timeZone,
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor((seconds % 3600) / 60),
  };
}

/** The expression that a form stands for. */
export const cronIn = ({ repeat, days, time, cron }: ScheduleValues): string =>
  repeat === 'weekly' ? formatCron(days, time) : cron.trim();

export const computeDuration = ({ hours, minutes }: ScheduleValues): number =>
  (Number(hours) || 0) * 3600 + (Number(minutes) || 0) * 60;

export function scheduleBody(values: ScheduleValues): StreamSchedule {
  const { repeat, startAt, endAt, timeZone } = values;
  const [scheduleStartAt, scheduleEndAt] = [fromInput(startAt), fromInput(endAt)];
  if (repeat === 'once')
    return { ...(scheduleStartAt && { scheduleStartAt }), ...(scheduleEndAt && { scheduleEndAt }) };
  return { recurrence: { cron: cronIn(values), timeZone, durationSeconds: computeDuration(values) } };
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

/** Finds mistakes before the server is asked; it finds the rest. */
export function scheduleMistakes(values: ScheduleValues): ScheduleMistakes {
  const { repeat, startAt, endAt, days, time, cron, hours, minutes } = values;
  const seconds = computeDuration(values);
  if (repeat === 'once')
    return {
      ...(startAt === '' && { startAt: 'Choose when it goes on air.' }),
      ...(endAt !== '' && startAt !== '' && endAt <= startAt && { endAt: 'Choose an end after the start.' }),
      ...(isTooFar(startAt) && { startAt: TOO_FAR }),
      ...(isTooFar(endAt) && { endAt: TOO_FAR }),
    };
  return {
    ...(repeat === 'weekly' && days.length === 0 && { days: 'Choose a day.' }),
    ...(repeat === 'weekly' && time === '' && { time: 'Choose a time.' }),
    ...(repeat === 'cron' && cron.trim() === '' && { cron: 'Enter a cron expression.' }),
    ...(seconds < 60 && { minutes: 'Choose at least one minute.' }),
    ...(!isWithin(minutes, 59) && { minutes: 'Enter minutes from 0 to 59.' }),
    ...(seconds > MOST_DAYS * 86_400 && { hours: `Choose at most ${MOST_DAYS} days.` }),
    ...(!isWithin(hours, MOST_DAYS * 24) && { hours: `Enter hours from 0 to ${MOST_DAYS * 24}.` }),
  };
}
