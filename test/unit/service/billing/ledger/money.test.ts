/** Tests that money is whole numbers: nothing is rounded in the service's favour, nor lost beyond the last digit. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  creditsForSeconds,
  formatMinor,
  secondsFor,
  toCredits,
  toMinor,
} from '../../../../../src/service/billing/ledger/money.ts';

test('the cost of time is never above the exact price, and less than a credit below it', () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 11 }), fc.bigInt(0n, 10n ** 9n), (ms, perHour) => {
      const credits = creditsForSeconds(ms / 1000, perHour);
      const exact = BigInt(ms) * perHour;
      expect(credits * 3_600_000n <= exact).toBe(true);
      // A double may be just below its millisecond.
      expect(exact - credits * 3_600_000n < 3_600_000n + perHour).toBe(true);
    }),
  ));

test('partial charges add up to the charge of the total', () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 ** 6 })), fc.bigInt(0n, 10n ** 6n), (parts, perHour) => {
      let seconds = 0;
      let charged = 0n;
      for (const part of parts) {
        seconds += part;
        charged += creditsForSeconds(seconds, perHour) - charged;
      }
      expect(charged).toBe(creditsForSeconds(seconds, perHour));
    }),
  ));

test('how long a balance lasts', () => {
  expect(secondsFor(300n, 300n)).toBe(3600n);
  expect(secondsFor(1n, 300n)).toBe(12n);
  expect(secondsFor(-5n, 300n)).toBe(0n);
  expect(secondsFor(300n, 0n)).toBeUndefined();
});

test('credits and minor units', () => {
  expect(toCredits(1234n)).toBe(123_400n);
  expect(toMinor(123_499n)).toBe(1234n);
  expect(toMinor(-199n)).toBe(-1n);
});

test('amounts for people have the digits of their currency', () => {
  expect(formatMinor(1234n, 'USD', 2)).toBe('12.34 USD');
  expect(formatMinor(-5n, 'EUR', 2)).toBe('-0.05 EUR');
  expect(formatMinor(1234n, 'JPY', 0)).toBe('1234 JPY');
  expect(formatMinor(10n ** 20n, 'KWD', 3)).toBe('100000000000000000.000 KWD');
});
