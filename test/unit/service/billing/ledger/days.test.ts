/** Tests that a day begins where its zone says, also where clocks change or a day is left out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addDays,
  dayAt,
  dayStarts,
  isDay,
  midnightsBetween,
  startOfDay,
} from '../../../../../src/service/billing/ledger/days.ts';

const starts = (from: string, to: string, zone: string) => dayStarts(from, to, zone).map((at) => at.toISOString());

test.each([
  ['UTC', '2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['Europe/Berlin', '2027-01-31', '2027-01-30T23:00:00.000Z'],
  ['Asia/Kathmandu', '2027-01-31', '2027-01-30T18:15:00.000Z'],
  ['Pacific/Kiritimati', '2027-01-31', '2027-01-30T10:00:00.000Z'],
  ['America/Los_Angeles', '2027-01-31', '2027-01-31T08:00:00.000Z'],
  // Midnight is left out in this zone on that day.
  ['Africa/Cairo', '2027-04-30', '2027-04-29T22:00:00.000Z'],
  // The whole day was left out.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
])('in %s the day %s begins at %s', (zone, day, at) => {
  expect(startOfDay(day, zone).toISOString()).toBe(at);
});

test('days have as many hours as clocks say', () => {
  expect(starts('2027-03-27', '2027-03-28', 'Europe/Berlin')).toEqual([
    '2027-03-26T23:00:00.000Z',
    '2027-03-27T23:00:00.000Z',
    '2027-03-28T22:00:00.000Z',
  ]);
  expect(starts('2011-12-29', '2011-12-31', 'Pacific/Apia')).toEqual([
    '2011-12-29T10:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
    '2011-12-31T10:00:00.000Z',
  ]);
});

test('each moment is in the day that a clock there shows', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/Havana', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Cairo'];
  const year = { min: new Date('2026-01-01T00:00:00Z'), max: new Date('2028-01-01T00:00:00Z'), noInvalidDate: true };
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.date(year), (zone, at) => {
      const day = dayAt(at, zone);
      const [start, end] = dayStarts(day, day, zone) as [Date, Date];
      expect(start <= at && at < end).toBe(true);
      expect(dayAt(new Date(start.getTime() - 1), zone) < day).toBe(true);
      expect(addDays(day, -1) < day).toBe(true);
    }),
  );
});

test('in every zone there is, summer and winter, days begin when one may begin anywhere', () => {
  const midnights = new Set(midnightsBetween(Date.parse('2026-12-30T00:00:00Z'), Date.parse('2028-01-03T00:00:00Z')));
  // Far fewer than all quarters of an hour: each can cost one more charge.
  expect(midnights.size / 369).toBeLessThan(40);
  for (const zone of Intl.supportedValuesOf('timeZone'))
    for (const month of ['01', '03', '04', '07', '10', '11'])
      for (const at of dayStarts(`2027-${month}-01`, `2027-${month}-02`, zone))
        expect(midnights.has(at.getTime()), `${zone} ${at.toISOString()}`).toBe(true);
});

test('the bounds of a day', () => {
  const days = ['2027-01-31', '2028-02-29', '2027-02-29', '2027-1-31', '2027-01-31T00:00:00Z', '0', ''];
  expect(days.map(isDay)).toEqual([true, true, false, false, false, false, false]);
});
