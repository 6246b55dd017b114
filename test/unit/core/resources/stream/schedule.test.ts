import { describe, expect, it } from 'vitest';
import {
  computeScheduleState,
  findNextChange,
  findOffSchedule,
} from '../../../../../src/core/resources/stream/schedule.ts';
import { at, NOW } from '../../../../kit/make/operator.ts';

const time = (seconds: number): string => at(seconds).toISOString();

describe('a one-time schedule', () => {
  it.each([
    ['none at all', undefined, 'on', undefined],
    ['an empty one', {}, 'on', undefined],
    ['a start to come', { startAt: time(60) }, 'before', at(60)],
    ['a start that is now', { startAt: time(0) }, 'on', undefined],
    ['a start that was missed', { startAt: time(-86_400) }, 'on', undefined],
    ['an end to come', { endAt: time(60) }, 'on', at(60)],
    ['an end that is now', { endAt: time(0) }, 'after', undefined],
    ['a window around now', { startAt: time(-1), endAt: time(1) }, 'on', at(1)],
    ['a window that is over', { startAt: time(-2), endAt: time(-1) }, 'after', undefined],
    ['a window to come', { startAt: time(5), endAt: time(9) }, 'before', at(5)],
    ['an end before the start', { startAt: time(9), endAt: time(5) }, 'invalid', undefined],
    ['an end at the start', { startAt: time(5), endAt: time(5) }, 'invalid', undefined],
    ['no date', { startAt: 'tomorrow' }, 'invalid', undefined],
  ] as const)('with %s', (_what, schedule, kind, next) => {
    const result = computeScheduleState(schedule, NOW);
    expect(result.kind).toBe(kind);
    expect(findNextChange(result)).toEqual(next);
  });

  it('counts by the instant, in any zone', () => {
    expect(computeScheduleState({ startAt: '2026-06-01T14:00:00+02:00' }, NOW).kind).toBe('on');
    expect(computeScheduleState({ startAt: '2026-06-01T12:00:00-01:00' }, NOW).kind).toBe('before');
  });
});

describe('a schedule for a stream on air', () => {
  const DAILY = { cron: '30 18 * * *', timeZone: 'Europe/Berlin', durationSeconds: 3600 };

  it.each([
    ['no schedule', undefined, undefined],
    ['a window around now', { startAt: time(-1), endAt: time(60) }, undefined],
    ['a start to come', { startAt: time(60) }, at(60)],
    ['a window of every day that is not now', { recurrence: DAILY }, new Date('2026-06-01T16:30:00Z')],
    ['a window of every day that is now', { recurrence: { ...DAILY, durationSeconds: 86_400 } }, undefined],
    ['recurring windows of which none comes', { recurrence: DAILY, endAt: time(-1) }, null],
    ['a schedule that makes no sense', { startAt: time(9), endAt: time(5) }, undefined],
  ] as const)('with %s says whether it ends the broadcast, and when it is back', (_what, schedule, expected) => {
    const off = findOffSchedule(computeScheduleState(schedule, NOW));
    expect(off && (off.kind === 'before' ? off.startAt : null)).toEqual(expected);
  });

  it.each([
    ['once', { startAt: time(60), endAt: time(120) }],
    ['recurring', { recurrence: DAILY }],
    ['recurring from a time on', { startAt: time(86_400), recurrence: DAILY }],
  ])('keeps it on air without a gap until its first window, and then follows the windows: %s', (_what, schedule) => {
    const first = findNextChange(computeScheduleState(schedule, NOW)) ?? NOW;
    const kept = { ...schedule, onAirUntil: first.toISOString() };
    expect(findOffSchedule(computeScheduleState(kept, NOW))).toBeUndefined();
    // Each moment at which the answer may change is looked at, so no gap is between them.
    expect(findNextChange(computeScheduleState(kept, NOW), true)).toEqual(first);
    expect(computeScheduleState(kept, first)).toEqual(computeScheduleState(schedule, first));
    const end = findNextChange(computeScheduleState(kept, first), true) ?? NOW;
    expect(computeScheduleState(kept, end).kind).not.toBe('on');
  });

  it('is never kept on air beyond its end', () => {
    const schedule = { endAt: time(60), recurrence: DAILY, onAirUntil: time(3600) };
    expect(findNextChange(computeScheduleState(schedule, NOW))).toEqual(at(60));
    expect(computeScheduleState(schedule, at(60)).kind).toBe('after');
  });
});
