/** Tests that the price of an hour is known at any time, and that a list with gaps is refused. */
import { describe, expect, test } from 'vitest';
import { FRAMERATES, PROFILES, QUALITIES } from '../../../../../src/core/resources/stream/profile.ts';
import { parsePrices, priceAt } from '../../../../../src/service/billing/ledger/prices.ts';

const since = (from?: string, creditsPerHour = 300) =>
  QUALITIES.flatMap((quality) => FRAMERATES.map((framerate) => ({ quality, framerate, creditsPerHour, from })));
const parse = (list: unknown) => parsePrices(JSON.stringify(list));
const profile = { quality: '1080p', framerate: 30 } as const;

describe('a price list', () => {
  test('comes with the service, and costs more for more', () => {
    const list = parsePrices();
    const now = new Date();
    const hours = QUALITIES.map((quality) => FRAMERATES.map((framerate) => priceAt(list, { quality, framerate }, now)));
    for (const row of hours) expect(row).toEqual(row.toSorted((a, b) => Number(a - b)));
    const rising = hours.map(([first = 0n]) => first);
    expect(rising.every((price, n) => price > (rising[n - 1] ?? 0n))).toBe(true);
  });

  test('changes at its dates and at no other time', () => {
    const later = { ...profile, creditsPerHour: 400, from: '2027-01-01T00:00:00Z' };
    const latest = { ...profile, creditsPerHour: 500, from: '2027-06-01T00:00:00+02:00' };
    const list = parse([latest, later, ...since()]);
    const at = (time: string) => priceAt(list, profile, new Date(time));
    expect(at('1970-01-01T00:00:00Z')).toBe(300n);
    expect(at('2026-12-31T23:59:59.999Z')).toBe(300n);
    expect(at('2027-01-01T00:00:00Z')).toBe(400n);
    expect(at('2027-05-31T21:59:59.999Z')).toBe(400n);
    expect(at('2027-05-31T22:00:00Z')).toBe(500n);
    expect(priceAt(list, { ...profile, framerate: 60 }, new Date('2027-07-01T00:00:00Z'))).toBe(300n);
  });

  test.each([
    ['no JSON', '[', 'must be JSON'],
    ['no list', '{}', 'must be a list'],
    ['another quality', JSON.stringify([{ ...profile, quality: '480p', creditsPerHour: 1 }]), 'quality'],
    ['half a credit', JSON.stringify([{ ...profile, creditsPerHour: 0.5 }]), 'creditsPerHour'],
    ['less than nothing', JSON.stringify([{ ...profile, creditsPerHour: -1 }]), 'creditsPerHour'],
    ['a word too many', JSON.stringify([{ ...profile, creditsPerHour: 1, until: 'x' }]), 'must'],
    ['no time', JSON.stringify([...since(), { ...profile, creditsPerHour: 1, from: 'soon' }]), '"soon"'],
    ['two at once', JSON.stringify([...since(), { ...profile, creditsPerHour: 1 }]), 'two prices for 1080p at 30'],
    ['a profile without', JSON.stringify(since().slice(1)), `no price for ${PROFILES[0]}`],
    ['a time before the first', JSON.stringify(since('2027-01-01T00:00:00Z')), 'without a "from"'],
  ])('with %s is refused', (_what, text, why) => {
    expect(() => parsePrices(text)).toThrow(why);
    expect(() => parsePrices(text)).toThrow('LOOPSTREAM_PRICES');
  });
});
