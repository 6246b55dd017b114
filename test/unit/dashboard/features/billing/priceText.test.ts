/** Tests that prices on the page are those of the list, per hour and per month, and never shown as less than they are. */
import { expect, test } from 'vitest';
import {
  describePrice,
  findPrice,
  formatCost,
  groupPrices,
} from '../../../../../src/dashboard/features/billing/priceText.ts';
import type { Prices } from '../../../../../src/service/client/index.ts';

const QUALITIES = { q_720p: '200', q_1080p: '300' } as const;
const prices: Prices = {
  currency: 'USD',
  currencyDigits: 2,
  creditsPerMinorUnit: '100',
  onAir: (['q_720p', 'q_1080p'] as const).flatMap((quality) =>
    (['f_24', 'f_30', 'f_60'] as const).map((framerate) => ({
      quality,
      framerate,
      creditsPerHour: framerate === 'f_60' ? '450' : QUALITIES[quality],
      next: null,
    })),
  ),
  free: ['preparation', 'storage', 'destinations'],
};
const price = (creditsPerHour: string) => describePrice({ creditsPerHour }, prices);

test('a price stands with its hour and its month of 30 days', () => {
  expect(price('300')).toBe('$0.03/h, about $21.60 a month');
  // A part of a cent is shown: it is what an hour costs.
  expect(price('750')).toBe('$0.075/h, about $54.00 a month');
  expect(price('0')).toBe('free');
  const yen = { ...prices, currency: 'JPY', currencyDigits: 0 };
  expect(describePrice({ creditsPerHour: '300' }, yen)).toBe('¥3/h, about ¥2,160 a month');
});

test('a profile has the price of the list, and one that the list lacks has none', () => {
  expect(findPrice(prices, { quality: 'q_1080p', framerate: 'f_60' })?.creditsPerHour).toBe('450');
  expect(findPrice(prices, { quality: 'q_2160p', framerate: 'f_60' })).toBeUndefined();
});

test('a session costs its seconds, rounded down as its charge is', () => {
  const cost = (seconds: number) => formatCost(seconds, { creditsPerHour: '300' }, prices);
  expect([0, 11.9, 12, 3600, 7261.5].map(cost)).toEqual(['$0.00', '$0.00', '$0.0001', '$0.03', '$0.0605']);
});

test('frame rates of one price stand together, unless one of them changes', () => {
  const read = (list: Prices) => groupPrices(list).map(({ quality, framerates }) => [quality, ...framerates].join(' '));
  expect(read(prices)).toEqual(['q_720p f_24 f_30', 'q_720p f_60', 'q_1080p f_24 f_30', 'q_1080p f_60']);
  const next = { creditsPerHour: '400', from: '2027-01-01T00:00:00Z' };
  const changed = prices.onAir.map((one, n) => (n === 1 ? { ...one, next } : one));
  expect(read({ ...prices, onAir: changed })).toContain('q_720p f_30');
});
