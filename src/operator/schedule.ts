/**
 * When a stream is to be on air: one window in time. Level-triggered: the answer depends on the schedule and on `now`
 * alone, so an operator that was down over a start or an end does the right thing when it is back.
 * Pure: no I/O, no clock.
 */
import type { Schedule } from '../streams/spec.ts';

export type Airtime =
  /** On air; until `until`, if it ends. */
  | { kind: 'on'; until?: Date }
  /** Not yet on air. */
  | { kind: 'before'; startAt: Date }
  /** Over. */
  | { kind: 'after'; endedAt: Date }
  /** A schedule that makes no sense; `message` says why. */
  | { kind: 'invalid'; message: string };

/** The window [startAt, endAt): either side may be left open, and no schedule at all is always on air. */
export function airtime(schedule: Schedule | undefined, now: Date): Airtime {
  const startAt = schedule?.startAt === undefined ? undefined : new Date(schedule.startAt);
  const endAt = schedule?.endAt === undefined ? undefined : new Date(schedule.endAt);
  for (const [field, date] of [
    ['startAt', startAt],
    ['endAt', endAt],
  ] as const) {
    if (date && Number.isNaN(date.getTime())) return { kind: 'invalid', message: `${field} is not a date and time.` };
  }
  if (startAt && endAt && endAt <= startAt) {
    return {
      kind: 'invalid',
      message: `The schedule ends (${schedule?.endAt}) before or when it starts (${schedule?.startAt}).`,
    };
  }
  if (startAt && now < startAt) return { kind: 'before', startAt };
  if (endAt && now >= endAt) return { kind: 'after', endedAt: endAt };
  return endAt ? { kind: 'on', until: endAt } : { kind: 'on' };
}

/** When the answer of `airtime` changes next; undefined when it never does. */
export function nextChange(time: Airtime): Date | undefined {
  if (time.kind === 'before') return time.startAt;
  return time.kind === 'on' ? time.until : undefined;
}
