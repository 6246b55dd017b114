import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  computeDuration,
  cronIn,
  DAYS,
  describeWeekly,
  formatCron,
  localInput,
  parseWeekly,
  scheduleBody,
  scheduleMistakes,
  scheduleValues,
  switchRepeat,
} from '../../../../../src/dashboard/features/streams/schedule.ts';
import { formatHours as lengthInWords } from '../../../../../src/dashboard/lib/format.ts';

const NONE = { scheduleStartAt: null, scheduleEndAt: null, recurrence: null };
const recurring = (cron: string) => ({
  ...NONE,
  recurrence: { cron, timeZone: 'Europe/Berlin', durationSeconds: 5400 },
});

describe('days and a time', () => {
  test('stand for a cron expression, there and back', () => {
    const days = fc.subarray(
      DAYS.map(({ value }) => value as string),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(days, fc.nat(23), fc.nat(59), (chosen, hour, minute) => {
        const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
        expect(parseWeekly(formatCron(chosen, time))).toEqual({ days: chosen, time });
      }),
    );
  });

  test.each(['*/5 * * * *', '0 18 1 * *', '0 18 * 6 *', '0 18 * * 1-5', '@daily', '60 18 * * *', '0 24 * * *', ''])(
    'an expression that the form cannot show stays the same: %j',
    (cron) => expect(parseWeekly(cron)).toBeUndefined(),
  );

  test('Sunday is 0 and 7', () => {
    expect(parseWeekly('5 9 * * 7,1')).toEqual({ days: ['1', '0'], time: '09:05' });
  });
});

describe('the form', () => {
  test('begins with the schedule that there is, and asks for the same one', () => {
    for (const cron of ['30 18 * * 1,5', '0 18 1 * *']) {
      const values = scheduleValues(recurring(cron), 'UTC');
      expect(values.repeat).toBe(cron === '30 18 * * 1,5' ? 'weekly' : 'cron');
      expect(cronIn(values)).toBe(cron);
      expect(scheduleBody(values)).toEqual({ recurrence: recurring(cron).recurrence });
      expect(scheduleMistakes(values)).toEqual({});
    }
    const once = { ...NONE, scheduleStartAt: '2027-01-31T18:00:00.000Z', scheduleEndAt: '2027-02-01T06:00:00.000Z' };
    const { scheduleStartAt, scheduleEndAt } = once;
    expect(scheduleBody(scheduleValues(once, 'UTC'))).toEqual({ scheduleStartAt, scheduleEndAt });
  });

  test('a time of the reader’s clock fits the browser’s field; a missing one is empty', () => {
    expect(new Date(localInput('2027-07-01T10:30:00Z')).toISOString()).toBe('2027-07-01T10:30:00.000Z');
    expect(localInput(null)).toBe('');
  });

  test('names missing parts before any request', () => {
    const empty = scheduleValues(NONE, 'UTC');
    expect(Object.keys(scheduleMistakes(empty))).toEqual(['startAt']);
    expect(Object.keys(scheduleMistakes({ ...empty, startAt: '2027-01-02T10:00', endAt: '2027-01-02T10:00' }))).toEqual(
      ['endAt'],
    );
    const far = { startAt: '10000-01-02T10:00', endAt: '275000-01-02T10:00' };
    expect(Object.keys(scheduleMistakes({ ...empty, ...far }))).toEqual(['startAt', 'endAt']);
    const weekly = { ...empty, repeat: 'weekly', days: [], time: '', until: '' } as const;
    expect(Object.keys(scheduleMistakes({ ...weekly, days: [] })).sort()).toEqual(['days', 'time', 'until']);
    expect(Object.keys(scheduleMistakes({ ...empty, repeat: 'cron', cron: ' ' }))).toEqual(['cron']);
  });

  test('shows a length as the end that it is, on any later day, and asks for the same length', () => {
    const minutes = fc.integer({ min: 1, max: 31 * 1440 });
    fc.assert(
      fc.property(fc.nat(23), fc.nat(59), minutes, (hour, minute, length) => {
        const recurrence = { cron: `${minute} ${hour} * * 1`, timeZone: 'UTC', durationSeconds: length * 60 };
        const values = scheduleValues({ ...NONE, recurrence }, 'UTC');
        expect(values.repeat).toBe('weekly');
        expect(scheduleBody(values)).toEqual({ recurrence });
        expect(scheduleMistakes(values)).toEqual({});
      }),
    );
  });

  test.each([
    ['0 9 * * 1,2,3,4,5', 8 * 3600, 'Mon–Fri, from 09:00 to 17:00'],
    ['0 22 * * *', 8 * 3600, 'Every day, from 22:00 to 06:00 (next day)'],
    ['0 18 * * 5', 54 * 3600, 'Fri, from 18:00 to 00:00 (3 days later)'],
    ['0 0 * * 1,3,4,5,0', 86_400, 'Mon, Wed–Fri, Sun, from 00:00 to 00:00 (next day)'],
    ['0 9 * * 1-5', 3600, undefined],
    ['0 9 * * *', 90, undefined],
  ])('%s for %i s is %s', (cron, durationSeconds, words) => {
    const clock24 = (text: string) =>
      text.replace(
        /(\d+):(\d\d)\s([AP])M/g,
        (_, h, m, half) => `${String((h % 12) + (half === 'P' ? 12 : 0)).padStart(2, '0')}:${m}`,
      );
    const text = describeWeekly({ cron, timeZone: 'UTC', durationSeconds });
    expect(text && clock24(text)).toBe(words);
  });

  test('keeps what it does not show: seconds of a length, and the days between which it recurs', () => {
    const bounds = { scheduleStartAt: '2027-01-31T18:00:00.000Z', scheduleEndAt: '2027-02-28T06:00:00.000Z' };
    const recurrence = { cron: '0 9 * * *', timeZone: 'UTC', durationSeconds: 90 };
    const values = scheduleValues({ ...bounds, recurrence }, 'UTC');
    expect(scheduleBody(values)).toEqual({ ...bounds, recurrence });
    expect(Object.keys(scheduleMistakes({ ...values, endAt: values.startAt }))).toEqual(['endAt']);
  });

  test('says the same after a switch between days and a cron expression, where that can be said', () => {
    const values = scheduleValues(recurring('30 18 * * 1,5'), 'UTC');
    const cron = switchRepeat(values, 'cron');
    expect(scheduleBody(cron)).toEqual(scheduleBody(values));
    expect(switchRepeat(cron, 'weekly')).toEqual({ ...cron, ...values, cron: values.cron, repeat: 'weekly' });
    const noDays = switchRepeat({ ...cron, cron: '*/5 * * * *' }, 'weekly');
    expect(noDays).toMatchObject({ days: values.days, time: values.time });
  });

  test.each([
    [{ hours: '-1', minutes: '59' }, ['minutes', 'hours']],
    [{ hours: '745', minutes: '' }, ['hours']],
    [{ hours: '744', minutes: '1' }, ['hours']],
    [{ hours: '1e30', minutes: '0' }, ['hours']],
    [{ hours: '1.5', minutes: '0' }, ['hours']],
    [{ hours: '1', minutes: '60' }, ['minutes']],
    [{ hours: '1', minutes: '-5' }, ['minutes']],
    [{ hours: '', minutes: '1' }, []],
    [{ hours: '744', minutes: '0' }, []],
  ])('a length of %j', (length, wrong) => {
    const values = scheduleValues(recurring('*/5 18 * * *'), 'UTC');
    expect(values.repeat).toBe('cron');
    expect(Object.keys(scheduleMistakes({ ...values, ...length }))).toEqual(wrong);
  });

  test('lengths', () => {
    expect(computeDuration({ ...scheduleValues(NONE, 'UTC'), repeat: 'cron', hours: 2, minutes: '30' })).toBe(9000);
    expect([9000, 7200, 60, 0].map(lengthInWords)).toEqual(['2 h 30 min', '2 h', '1 min', '0 min']);
  });
});
