import { describe, expect, test } from 'vitest';
import { PHASES } from '../../../../src/core/resources/stream/spec.ts';
import { offAirSince, restingLine } from '../../../../src/dashboard/features/streams/offAir.ts';
import {
  formatTime as clockTime,
  formatClock,
  formatEnd,
  formatReason as wordsOf,
} from '../../../../src/dashboard/lib/format.ts';
import type { StreamEvent } from '../../../../src/service/domain/streams/record.ts';

const event = (reason: string, time: string): StreamEvent => ({
  id: reason,
  time,
  createdAt: time,
  type: 'Normal',
  reason,
  message: '',
  count: 1,
});

describe('times of a stream in words', () => {
  test('a time is shown in the zone of the reader', () => {
    const at = '2030-01-10T23:30:00Z';
    expect(clockTime(at, { timeZone: 'Europe/Berlin', hour12: false })).toBe('Fri 11 Jan, 00:30');
    expect(clockTime(at, { timeZone: 'UTC', hour12: false })).toBe('Thu 10 Jan, 23:30');
    expect(clockTime(at, { timeZone: 'Pacific/Tongatapu', hour12: false })).toBe('Fri 11 Jan, 12:30');
  });

  test('a clock of twelve hours has no zero in front, and says which half of the day it is', () => {
    const at = '2030-01-10T18:00:00Z';
    expect(clockTime(at, { timeZone: 'UTC', hour12: true })?.replace(/\s/g, ' ')).toBe('Thu 10 Jan, 6:00 PM');
    expect(formatClock(at, { timeZone: 'Asia/Kolkata', hour12: true }).replace(/\s/g, ' ')).toBe('11:30 PM');
    expect(formatClock('2030-01-10T00:05:00Z', { timeZone: 'UTC', hour12: true }).replace(/\s/g, ' ')).toBe('12:05 AM');
    expect(formatClock('2030-01-10T00:05:00Z', { timeZone: 'UTC', hour12: false })).toBe('00:05');
  });

  test('an end names its day where that is another than the day of the beginning, however few hours later', () => {
    const local = (day: number, hour: number) => new Date(2030, 0, day, hour).toISOString();
    expect(formatEnd(local(10, 23), local(10, 0))).toBe(formatClock(local(10, 23)));
    expect(formatEnd(local(11, 1), local(10, 23))).toBe(clockTime(local(11, 1)));
  });

  test('a missing or unreadable time is no time, never "Invalid Date"', () => {
    for (const nothing of [null, undefined, '', 'soon']) expect(clockTime(nothing)).toBeUndefined();
    for (const phase of PHASES)
      expect(restingLine({ nextStartAt: 'soon', scheduleEndAt: null }, phase, 'then')).not.toContain('Invalid');
  });

  test('a stream off air says since when, as long as its events are kept', () => {
    const none = { nextStartAt: null, scheduleEndAt: null };
    expect(restingLine(none, 'stopped', '2030-01-10T12:00:00Z')).toMatch(/^Off air since /);
    expect(restingLine(none, 'stopped')).toBe('Off air');
    expect(restingLine(none, 'idle', '2030-01-10T12:00:00Z')).toBe('Never on air');
    expect(restingLine({ ...none, nextStartAt: '2030-01-10T12:00:00Z' }, 'scheduled')).toMatch(/^Goes on air /);
  });

  test('off air since the newest event that took it off air', () => {
    const events = [event('NotReady', 't4'), event('Stopped', 't3'), event('Live', 't2'), event('Stopped', 't1')];
    expect(offAirSince(events)).toBe('t3');
    expect(offAirSince([event('Live', 't2')])).toBeUndefined();
    expect(offAirSince(undefined)).toBeUndefined();
  });

  test('reasons for machines are read as words', () => {
    expect(wordsOf('NotReady')).toBe('Not ready');
    expect(wordsOf('Live')).toBe('Live');
    expect(wordsOf('')).toBe('Event');
  });
});
