import { describe, expect, test } from 'vitest';
import { findOffsetMs, findTimeZone, listTimeZones, matchesZone } from '../../../../src/dashboard/lib/timeZones.ts';

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
      ...['America/New_York', 'Asia/Kolkata', 'Europe/Berlin', 'Europe/Kyiv'],
    ]);
  });

  test('have the names of today, which differ from those that browsers keep', () => {
    const zones = listTimeZones('UTC', 'Asia/Calcutta');
    expect(zones.slice(0, 2)).toEqual(['UTC', 'Asia/Kolkata']);
    expect(zones).toEqual(
      expect.arrayContaining(['Europe/Kyiv', 'Asia/Kathmandu', 'America/Nuuk', 'Asia/Ho_Chi_Minh']),
    );
    for (const old of ['Europe/Kiev', 'Asia/Calcutta', 'America/Buenos_Aires']) expect(zones).not.toContain(old);
    // A stored old name stays as it is.
    expect(listTimeZones('Asia/Calcutta', 'UTC')[0]).toBe('Asia/Calcutta');
  });

  test('are found by a part of their name, with spaces, and by the name that they had', () => {
    const find = (text: string) => listTimeZones('UTC', 'UTC').filter((zone) => matchesZone(zone, text));
    expect(find('new york')).toEqual(['America/New_York']);
    expect(find('KYIV')).toEqual(['Europe/Kyiv']);
    expect(find('kiev')).toEqual(['Europe/Kyiv']);
    expect(find('calcutta')).toEqual(['Asia/Kolkata']);
    expect(find('[')).toEqual([]);
  });

  test('are so many milliseconds ahead of UTC', () => {
    const at = (zone: string, day: string) => findOffsetMs(zone, new Date(`${day}T12:00:00.500Z`)) / 60_000;
    expect([at('Pacific/Tongatapu', '2026-11-30'), at('Asia/Kathmandu', '2026-11-30')]).toEqual([780, 345]);
    expect([at('Europe/Berlin', '2026-07-01'), at('America/New_York', '2026-12-31')]).toEqual([120, -300]);
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
