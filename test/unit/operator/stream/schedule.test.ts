import { describe, expect, it } from 'vitest';
import { computeAirtime, findNextChange } from '../../../../src/operator/stream/schedule.ts';
import { at, NOW } from '../../../kit/make/operator.ts';

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
    const result = computeAirtime(schedule, NOW);
    expect(result.kind).toBe(kind);
    expect(findNextChange(result)).toEqual(next);
  });

  it('counts by the instant, in any zone', () => {
    expect(computeAirtime({ startAt: '2026-06-01T14:00:00+02:00' }, NOW).kind).toBe('on');
    expect(computeAirtime({ startAt: '2026-06-01T12:00:00-01:00' }, NOW).kind).toBe('before');
  });
});
