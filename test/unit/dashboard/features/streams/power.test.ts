/** Tests the words of starting and stopping a stream, and how one that waits for its time is started now. */
import { expect, test } from 'vitest';
import {
  findAheadSchedule,
  findStartWords,
  findStopWords,
  nameStop,
} from '../../../../../src/dashboard/features/streams/power.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const recurrence = { cron: '0 18 * * *', timeZone: 'UTC', durationSeconds: 3600 };
const waiting = {
  status: 'scheduled' as const,
  recurrence,
  scheduleStartAt: null,
  scheduleEndAt: null,
  nextStartAt: '2026-06-01T18:00:00Z',
};

test('a stream that waits for its time has other words than one on air', () => {
  expect(nameStop(findStopWords('live'), 'Evening')).toBe('Stop Evening');
  expect(nameStop(findStopWords('scheduled'), 'Evening')).toBe('Cancel the schedule of Evening');
  expect(findStartWords('idle', { recurrence })).toEqual({ label: 'Start' });
  expect(findStartWords('scheduled', { recurrence })).toMatchObject({
    label: 'Start now',
    hint: expect.stringContaining('by its schedule'),
  });
  expect(findStartWords('scheduled', { recurrence: null }).hint).toContain('instead of at its scheduled time');
});

test('a stream with recurring times is kept on air until the next of them; others are started', () => {
  expect(findAheadSchedule(waiting, NOW)).toEqual({ recurrence, scheduleOnAirUntil: waiting.nextStartAt });
  const bounded = { ...waiting, scheduleStartAt: '2026-06-01T17:00:00Z', scheduleEndAt: '2026-07-01T00:00:00Z' };
  expect(findAheadSchedule(bounded, NOW)).toEqual({
    recurrence,
    scheduleStartAt: bounded.scheduleStartAt,
    scheduleEndAt: bounded.scheduleEndAt,
    scheduleOnAirUntil: waiting.nextStartAt,
  });
  const begun = { ...bounded, scheduleStartAt: '2026-05-01T17:00:00Z' };
  expect(findAheadSchedule(begun, NOW)).not.toHaveProperty('scheduleStartAt');
  expect(findAheadSchedule({ ...waiting, status: 'stopped' }, NOW)).toBeUndefined();
  expect(findAheadSchedule({ ...waiting, recurrence: null }, NOW)).toBeUndefined();
});
