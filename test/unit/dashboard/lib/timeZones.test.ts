import { describe, expect, test } from 'vitest';
import { findTimeZone, listTimeZones } from '../../../../src/dashboard/lib/timeZones.ts';

describe('the reader’s zone', () => {
  test.each([undefined, '', 'Etc/Unknown', 'Mars/Olympus_Mons', 'GMT+5', 'undefined', 'null'])(
    '%j is none: UTC',
    (name) => {
      expect(findTimeZone(name ?? '')).toBe('UTC');
    },
  );

  test.each(['Europe/Berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'US/Eastern', 'Etc/GMT+5', 'EST5EDT'])(
    '%s keeps its name',
    (name) => expect(findTimeZone(name)).toBe(name),
  );
});

describe('the zones to choose from', () => {
  const KNOWN = ['America/New_York', 'Asia/Calcutta', 'Europe/Berlin', 'Europe/Kiev', 'UTC'];

  test.each([
    ['Asia/Kolkata', 'Asia/Calcutta'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['US/Eastern', 'America/New_York'],
    ['Europe/Kyiv', 'Europe/Kiev'],
    ['Etc/UTC', 'UTC'],
    ['Europe/Berlin', 'europe/berlin'],
  ])('have %s by the name that it has, and no second time as %s', (chosen, alias) => {
    const zones = listTimeZones(chosen, 'Europe/Paris', KNOWN);
    expect(zones.filter((zone) => zone === chosen)).toEqual([chosen]);
    expect(zones).not.toContain(alias);
  });

  test('have a zone that only the server knows', () => {
    expect(listTimeZones('Mars/Olympus_Mons', 'UTC', KNOWN)).toEqual([
      'Mars/Olympus_Mons',
      'UTC',
      ...KNOWN.slice(0, -1),
    ]);
  });

  test('have every zone of the browser once', () => {
    const all = Intl.supportedValuesOf('timeZone');
    for (const zone of all.filter((_, n) => n % 40 === 0)) {
      const zones = listTimeZones(zone, 'Asia/Kolkata', all);
      expect(zones[0]).toBe(zone);
      expect(new Set(zones).size).toBe(zones.length);
    }
  });
});
