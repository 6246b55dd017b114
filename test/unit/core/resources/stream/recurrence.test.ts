import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startAfter } from '../../../../../src/core/resources/stream/recurrence.ts';
import { computeScheduleState, findNextChange } from '../../../../../src/core/resources/stream/schedule.ts';
import type { Recurrence, Schedule } from '../../../../../src/core/resources/stream/spec.ts';

const HOUR = 3600;
const recurring = (cron: string, durationSeconds: number, timeZone = 'UTC'): Recurrence => ({
  cron,
  timeZone,
  durationSeconds,
});
const on = (recurrence: Recurrence, more: Partial<Schedule> = {}): Schedule => ({ recurrence, ...more });
const kindAt = (schedule: Schedule, time: string, lastStart?: string) =>
  computeScheduleState(schedule, new Date(time), lastStart === undefined ? undefined : new Date(lastStart)).kind;

describe('when clocks change', () => {
  it.each([
    // The local time is skipped: the first moment after the gap.
    ['spring in Berlin', 'Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', ['03-29T01:00', '03-30T00:30']],
    ['spring in New York', 'America/New_York', '30 2 * * *', '2026-03-07T12:00Z', ['03-08T07:00', '03-09T06:30']],
    [
      'spring on Lord Howe, by half an hour',
      'Australia/Lord_Howe',
      '15 2 * * *',
      '2026-10-03T00:00Z',
      ['10-03T15:30', '10-04T15:15'],
    ],
    // The local time comes twice: the first one counts.
    ['autumn in Berlin', 'Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', ['10-25T00:30', '10-26T01:30']],
    ['autumn in New York', 'America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['11-01T05:30', '11-02T06:30']],
    [
      'autumn on Lord Howe, by half an hour',
      'Australia/Lord_Howe',
      '45 1 * * *',
      '2026-04-04T00:00Z',
      ['04-04T14:45', '04-05T15:15'],
    ],
    // Every hour has an occurrence.
    [
      'each hour in autumn',
      'Europe/Berlin',
      '0 * * * *',
      '2026-10-24T23:30Z',
      ['10-25T00:00', '10-25T01:00', '10-25T02:00'],
    ],
    ['each hour in spring', 'Europe/Berlin', '0 * * * *', '2026-03-29T00:30Z', ['03-29T01:00', '03-29T02:00']],
  ])('%s', (_what, timeZone, cron, from, starts) => {
    const recurrence = recurring(cron, HOUR, timeZone);
    const seen: string[] = [];
    for (let at: Date | undefined = new Date(from); seen.length < starts.length; ) {
      at = startAfter(recurrence, at);
      if (!at) break;
      seen.push(at.toISOString().slice(5, 16));
    }
    expect(seen).toEqual(starts);
  });

  it('a window lasts its seconds', () => {
    const schedule = on(recurring('0 1 * * *', 4 * HOUR, 'Europe/Berlin'));
    // From 01:00 local time to 06:00 in spring, to 04:00 in autumn.
    expect(computeScheduleState(schedule, new Date('2026-03-29T00:00Z'))).toMatchObject({
      until: new Date('2026-03-29T04:00Z'),
    });
    expect(computeScheduleState(schedule, new Date('2026-10-24T23:00Z'))).toMatchObject({
      until: new Date('2026-10-25T03:00Z'),
    });
  });
});

describe('windows that recur', () => {
  const fridays = recurring('0 18 * * 5', 2 * HOUR, 'Europe/Berlin');

  it.each([
    ['before it', '2026-06-05T15:59:59.999Z', { kind: 'before', startAt: new Date('2026-06-05T16:00Z') }],
    ['at its start', '2026-06-05T16:00Z', { kind: 'on', since: new Date('2026-06-05T16:00Z') }],
    ['in its last millisecond', '2026-06-05T17:59:59.999Z', { kind: 'on', until: new Date('2026-06-05T18:00Z') }],
    ['at its end', '2026-06-05T18:00Z', { kind: 'before', startAt: new Date('2026-06-12T16:00Z') }],
  ])('%s', (_when, now, expected) => {
    expect(computeScheduleState(on(fridays), new Date(now))).toMatchObject(expected);
  });

  it('begin within startAt and endAt, and none lasts longer than endAt', () => {
    const schedule = on(fridays, { startAt: '2026-06-05T16:30:00Z', endAt: '2026-06-19T17:00:00Z' });
    expect(computeScheduleState(schedule, new Date('2026-06-05T16:45Z'))).toMatchObject({
      startAt: new Date('2026-06-12T16:00Z'),
    });
    expect(computeScheduleState(schedule, new Date('2026-06-19T16:30Z'))).toMatchObject({
      until: new Date('2026-06-19T17:00Z'),
    });
    expect(computeScheduleState(schedule, new Date('2026-06-19T17:00Z'))).toMatchObject({ kind: 'after' });
    expect(
      computeScheduleState(on(fridays, { endAt: '2026-06-05T16:00:00Z' }), new Date('2026-06-05T15:00Z')).kind,
    ).toBe('after');
  });

  it('that overlap or touch are one, also with a starting deadline', () => {
    for (const durationSeconds of [3600, 5400]) {
      const schedule = on(recurring('0 * * * *', durationSeconds), { startingDeadlineSeconds: 60 });
      let lastStart: Date | undefined = new Date('2026-06-05T00:00Z');
      for (let minutes = 0; minutes < 600; minutes += 7) {
        const time = computeScheduleState(schedule, new Date(Date.UTC(2026, 5, 5, 0, minutes)), lastStart);
        expect(time).toMatchObject({ kind: 'on' });
        if (time.kind === 'on') lastStart = time.since;
      }
    }
  });

  it('are on air exactly while a start lies within their length, and say when that changes', () => {
    const crons = ['*/7 * * * *', '0 18 * * 5', '30 2 * * *', '15,45 1-3 * * *', '0 0 1 * *'];
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.constantFrom(...zones),
        fc.integer({ min: 60, max: 40_000 }),
        fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
        (cron, zone, seconds, now) => {
          const recurrence = recurring(cron, seconds, zone);
          const time = computeScheduleState(on(recurrence), now);
          const first = startAfter(recurrence, new Date(now.getTime() - seconds * 1000));
          expect(time.kind).toBe(first && first <= now ? 'on' : 'before');
          const change = findNextChange(time);
          expect(change && change > now).toBe(true);
          if (time.kind === 'before' && change) expect(computeScheduleState(on(recurrence), change).kind).toBe('on');
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a start that is missed', () => {
  const hourly = (startingDeadlineSeconds?: number) =>
    on(recurring('0 12 * * *', HOUR), startingDeadlineSeconds === undefined ? {} : { startingDeadlineSeconds });

  it('begins late without a deadline, and within it', () => {
    expect(kindAt(hourly(), '2026-06-05T12:59:59Z')).toBe('on');
    expect(kindAt(hourly(300), '2026-06-05T12:05:00Z')).toBe('on');
  });

  it('is left out behind it, and said', () => {
    const missed = new Date('2026-06-05T12:00Z');
    expect(computeScheduleState(hourly(300), new Date('2026-06-05T12:05:00.001Z'))).toEqual({
      kind: 'before',
      startAt: new Date('2026-06-06T12:00Z'),
      missed,
    });
    const last = { ...hourly(300), endAt: '2026-06-06T00:00:00Z' };
    expect(computeScheduleState(last, new Date('2026-06-05T12:06Z'))).toMatchObject({ kind: 'after', missed });
    const single = { startAt: '2026-06-05T12:00:00Z', startingDeadlineSeconds: 300 };
    expect(computeScheduleState(single, new Date('2026-06-05T12:06Z'))).toMatchObject({ kind: 'after', missed });
  });

  it('is none when the window was begun in time: an operator that was down goes on with it', () => {
    expect(kindAt(hourly(300), '2026-06-05T12:40:00Z', '2026-06-05T12:00:00Z')).toBe('on');
    expect(kindAt(hourly(300), '2026-06-05T12:40:00Z', '2026-06-04T12:00:00Z')).toBe('before');
  });

  it('does not hide one that can still begin', () => {
    const overlapping = on(recurring('0,30 * * * *', HOUR), { startingDeadlineSeconds: 60 });
    expect(computeScheduleState(overlapping, new Date('2026-06-05T12:30:30Z'))).toMatchObject({
      kind: 'on',
      since: new Date('2026-06-05T12:30Z'),
      until: new Date('2026-06-05T13:30Z'),
    });
  });
});

describe('an invalid recurrence has an error with the next step', () => {
  it.each([
    ['four fields', '0 18 * *', 'UTC', 'is not a cron expression'],
    ['seconds', '0 0 18 * * 5', 'UTC', 'is not a cron expression'],
    ['minute 60', '60 * * * *', 'UTC', 'is not a cron expression'],
    ['words', 'every day at noon', 'UTC', 'is not a cron expression'],
    ['nothing', '', 'UTC', 'is not a cron expression'],
    ['the 31st of February', '0 0 31 2 *', 'UTC', 'never comes'],
    ['a zone that does not exist', '0 18 * * 5', 'Mars/Base', 'is not a time zone'],
    ['no zone', '0 18 * * 5', '', 'is not a time zone'],
  ])('%s', (_what, cron, timeZone, part) => {
    const time = computeScheduleState(on(recurring(cron, HOUR, timeZone)), new Date('2026-06-05T00:00Z'));
    expect(time).toMatchObject({ kind: 'invalid', message: expect.stringContaining(part) });
  });
});

it('finds the same start for every moment before it, however often and in whatever order it is asked', () => {
  const daily = recurring('30 2 * * *', HOUR, 'Europe/Berlin');
  const at = (time: string) => startAfter(daily, new Date(time))?.toISOString();
  expect(at('2026-01-01T12:00:00Z')).toBe('2026-01-02T01:30:00.000Z');
  expect(at('2026-01-02T01:29:59.999Z')).toBe('2026-01-02T01:30:00.000Z');
  expect(at('2026-01-02T01:30:00Z')).toBe('2026-01-03T01:30:00.000Z');
  expect(at('2026-01-01T01:00:00Z')).toBe('2026-01-01T01:30:00.000Z');
  startAfter(daily, new Date('2026-01-01T12:00:00Z'))?.setTime(0);
  expect(at('2026-01-01T12:00:00Z')).toBe('2026-01-02T01:30:00.000Z');
});
