/**
 * Computes when a stream is to be on air: in a window of time, or in windows that recur. Level-triggered: the answer depends on the
 * schedule and on `now` alone, so an operator that was down over a start or an end does the right thing when it is back,
 * and windows that overlap are one. Only a starting deadline asks what has been.
 * Pure: no I/O, no clock.
 */
import { findRecurrenceProblem, startAfter } from './recurrence.ts';
import type { Recurrence, Schedule } from './spec.ts';

export type ScheduleState =
  /**
   * On air; `since` is the start of the window, `until` its end, as far as it has them. `lateAfter` is the starting deadline, where
   * the stream has not been put on air for the window yet.
   */
  | { kind: 'on'; since?: Date; until?: Date; lateAfter?: Date }
  /** Not yet on air. `missed` is the start of a window that is open, whose starting deadline has passed. */
  | { kind: 'before'; startAt: Date; missed?: Date }
  /** Over. */
  | { kind: 'after'; endedAt: Date; missed?: Date }
  /** A schedule that makes no sense; `message` says why. */
  | { kind: 'invalid'; message: string };

/** A schedule that keeps its stream off air. */
export type OffSchedule = Extract<ScheduleState, { kind: 'before' | 'after' }>;

interface Bounds {
  startAt: Date | undefined;
  endAt: Date | undefined;
}

const parseDate = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

function findProblem(schedule: Schedule, { startAt, endAt }: Bounds, now: Date): string | undefined {
  if (startAt && Number.isNaN(startAt.getTime())) return 'startAt is not a valid date and time.';
  if (endAt && Number.isNaN(endAt.getTime())) return 'endAt is not a valid date and time.';
  if (schedule.onAirUntil !== undefined && Number.isNaN(Date.parse(schedule.onAirUntil)))
    return 'onAirUntil is not a valid date and time.';
  if (startAt && endAt && endAt <= startAt)
    return `The schedule ends at ${schedule.endAt}, which is not after its start at ${schedule.startAt}.`;
  const wrong = schedule.recurrence && findRecurrenceProblem(schedule.recurrence, now);
  return wrong && `${wrong.field} "${schedule.recurrence?.[wrong.field]}" ${wrong.message}.`;
}

/** A start may be this much late, in milliseconds. */
const deadlineMs = (schedule: Schedule): number =>
  (schedule.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;

/** Without a deadline, and with one that is later than a Date can be, none ever comes. */
function withDeadline(schedule: Schedule, start: Date): { lateAfter?: Date } {
  const lateAfter = new Date(start.getTime() + deadlineMs(schedule));
  return Number.isNaN(lateAfter.getTime()) ? {} : { lateAfter };
}

function once(schedule: Schedule, { startAt, endAt }: Bounds, now: Date, lastStart: Date | undefined): ScheduleState {
  if (startAt && now < startAt) return { kind: 'before', startAt };
  if (endAt && now >= endAt) return { kind: 'after', endedAt: endAt };
  const started = startAt && lastStart && lastStart >= startAt;
  if (startAt && !started && now.getTime() - startAt.getTime() > deadlineMs(schedule))
    return { kind: 'after', endedAt: startAt, missed: startAt };
  return {
    kind: 'on',
    ...(startAt && { since: startAt }),
    ...(endAt && { until: endAt }),
    ...(startAt && !started && withDeadline(schedule, startAt)),
  };
}

function recurring(
  recurrence: Recurrence,
  schedule: Schedule,
  bounds: Bounds,
  now: Date,
  lastStart?: Date,
): ScheduleState {
  const { startAt, endAt } = bounds;
  const lastsMs = recurrence.durationSeconds * 1000;
  const earliest = (startAt?.getTime() ?? Number.NEGATIVE_INFINITY) - 1;
  /** The first start of a window at most `ageMs` old. One call, however many were missed. */
  const startWithin = (ageMs: number): Date | undefined => {
    const start = startAfter(recurrence, new Date(Math.max(now.getTime() - ageMs, earliest)));
    return start && endAt && start >= endAt ? undefined : start;
  };
  if (endAt && now >= endAt) return { kind: 'after', endedAt: endAt };
  const open = startWithin(lastsMs);
  // A window that begins before the one on air is over, or just then, is no start: nothing can be late.
  const running = lastStart && open && lastStart.getTime() + lastsMs >= open.getTime();
  const start = running ? open : startWithin(Math.min(lastsMs, deadlineMs(schedule) + 1));
  const missed = !running && open && open <= now && (!start || open < start) ? { missed: open } : {};
  if (!start) return { kind: 'after', endedAt: endAt ?? now, ...missed };
  if (now < start) return { kind: 'before', startAt: start, ...missed };
  const end = new Date(Math.min(start.getTime() + lastsMs, endAt?.getTime() ?? Number.POSITIVE_INFINITY));
  return { kind: 'on', since: start, until: end, ...(!running && withDeadline(schedule, start)) };
}

/**
 * The window [startAt, endAt): either side may be left open, and no schedule at all is always on air. With a recurrence,
 * the windows that begin within it. Until `onAirUntil` it is on air outside its windows, too. `lastStart` is the start of the window for which the stream was last put on air.
 */
export function computeScheduleState(schedule: Schedule | undefined, now: Date, lastStart?: Date): ScheduleState {
  if (!schedule) return { kind: 'on' };
  const bounds = { startAt: parseDate(schedule.startAt), endAt: parseDate(schedule.endAt) };
  const message = findProblem(schedule, bounds, now);
  if (message !== undefined) return { kind: 'invalid', message };
  const time = schedule.recurrence
    ? recurring(schedule.recurrence, schedule, bounds, now, lastStart)
    : once(schedule, bounds, now, lastStart);
  const until = earliest(parseDate(schedule.onAirUntil), bounds.endAt);
  return time.kind !== 'on' && schedule.onAirUntil !== undefined && until && now < until ? { kind: 'on', until } : time;
}

/** The schedule, where it keeps its stream off air now. One that makes no sense leaves a stream on air. */
export const findOffSchedule = (time: ScheduleState): OffSchedule | undefined =>
  time.kind === 'before' || time.kind === 'after' ? time : undefined;

/** Start of the window that is open at `at`, for a stream that has a pod by then: no deadline asks for one any more. */
export function findWindow(schedule: Schedule | undefined, at: Date, lastStart?: Date): Date | undefined {
  const { startingDeadlineSeconds: _, ...rest } = schedule ?? {};
  const time = computeScheduleState(schedule && rest, at, lastStart);
  return time.kind === 'on' ? time.since : undefined;
}

/** The earlier of two moments, as far as they are there. */
export const earliest = (...times: readonly (Date | undefined)[]): Date | undefined =>
  times.filter((time) => time !== undefined).reduce<Date | undefined>((a, b) => (a && a <= b ? a : b), undefined);

/** When the answer of `computeScheduleState` changes next; undefined when it never does. A stream that has begun cannot be late any more. */
export function findNextChange(time: ScheduleState, hasBegun = false): Date | undefined {
  if (time.kind === 'before') return time.startAt;
  if (time.kind !== 'on') return undefined;
  const { until, lateAfter } = time;
  return hasBegun ? until : earliest(until, lateAfter);
}
