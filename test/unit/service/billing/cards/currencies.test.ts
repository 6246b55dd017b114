/** Tests that Stripe is asked for exactly the sum that the ledger counts, in every currency. */
import { describe, expect, test } from 'vitest';
import { fromCharge, isChargeable, toCharge } from '../../../../../src/service/billing/cards/currencies.ts';
import { computeBounds } from '../../../../../src/service/billing/cards/limits.ts';
import { digitsBefore, isCurrency, isoDigits } from '../../../../../src/service/billing/ledger/currencies.ts';
import { money } from '../../../../../src/service/billing/setup/settings.ts';

const CODES = Intl.supportedValuesOf('currency').filter(isCurrency);
const CHARGED = CODES.filter(isChargeable);
const bySize = (currency: string) => ({ currency, minMinor: 0n, maxMinor: 0n });

describe('the digits of a currency', () => {
  test('are those of ISO 4217, not those of the runtime', () => {
    const digits = ['USD', 'HUF', 'IDR', 'COP', 'PKR', 'MGA', 'IQD', 'ISK', 'UGX', 'JPY', 'KWD', 'TND'].map(isoDigits);
    expect(digits).toEqual([2, 2, 2, 2, 2, 2, 3, 0, 0, 0, 3, 3]);
  });

  test('are known for each currency that the runtime knows, without units of account', () => {
    expect(Intl.supportedValuesOf('currency').filter((code) => !isCurrency(code))).toEqual(['XDR', 'XSU']);
    expect([isCurrency('USD'), isCurrency('usd'), isCurrency('ABC')]).toEqual([true, false, false]);
  });
});

describe('a sum', () => {
  test.each([
    ['USD', 2, 1234n, 1234n],
    ['HUF', 2, 500_000n, 500_000n],
    ['HUF', 0, 5000n, 500_000n],
    ['IDR', 0, 50_000n, 5_000_000n],
    ['ISK', 0, 500n, 50_000n],
    ['UGX', 0, 20_000n, 2_000_000n],
    ['JPY', 0, 500n, 500n],
    ['MGA', 2, 500_000n, 5000n],
    ['KWD', 3, 5120n, 5120n],
  ] as const)('of %s with %i digits, %i, is charged as %i', (currency, digits, amount, charge) => {
    expect(toCharge(amount, currency, digits)).toBe(charge);
    expect(fromCharge(charge, currency, digits)).toBe(amount);
  });

  test('that Stripe cannot charge exactly is not charged', () => {
    expect([toCharge(5124n, 'KWD', 3), toCharge(501n, 'MGA', 2), toCharge(50n, 'ISK', 2)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each(CHARGED)('that a form of %s offers can be paid', (currency) => {
    for (const digits of new Set([isoDigits(currency), digitsBefore(currency)])) {
      const { minMinor, maxMinor, suggestedMinor } = computeBounds(bySize(currency), digits);
      expect(suggestedMinor).toHaveLength(4);
      for (const amount of [minMinor, ...suggestedMinor, maxMinor]) {
        const charge = toCharge(amount, currency, digits);
        expect(charge && fromCharge(charge, currency, digits), `${amount} ${currency}`).toBe(amount);
      }
    }
  });
});

describe('bounds', () => {
  test('are of the size of the currency, and never below what Stripe charges', () => {
    const read = (currency: string) => computeBounds(bySize(currency), isoDigits(currency));
    expect(read('USD')).toMatchObject({
      minMinor: 500n,
      maxMinor: 100_000n,
      suggestedMinor: [1000n, 2500n, 5000n, 10_000n],
    });
    expect(read('JPY')).toMatchObject({ minMinor: 500n, suggestedMinor: [1000n, 2500n, 5000n, 10_000n] });
    expect(read('IDR')).toMatchObject({ minMinor: 5_000_000n, maxMinor: 1_000_000_000n });
    expect(computeBounds({ currency: 'HUF', minMinor: 1n, maxMinor: 0n }, 2).minMinor).toBe(17_500n);
    expect(computeBounds({ currency: 'USD', minMinor: 200_000n, maxMinor: 0n }, 2)).toMatchObject({
      minMinor: 200_000n,
      maxMinor: 200_000n,
    });
  });
});

describe('settings', () => {
  const cards = { LOOPSTREAM_STRIPE_KEY: 'sk_test_1', LOOPSTREAM_STRIPE_WEBHOOK_SECRET: 'whsec_1' };

  test('with a currency that Stripe does not charge are refused with the way on', () => {
    expect(() => money({ ...cards, LOOPSTREAM_CURRENCY: 'IRR' })).toThrow(
      /Stripe cannot charge IRR.*LOOPSTREAM_CURRENCY.*LOOPSTREAM_STRIPE_KEY/,
    );
    expect(money({ LOOPSTREAM_CURRENCY: 'IRR' }).currency).toBe('IRR');
    expect(money({ ...cards, LOOPSTREAM_CURRENCY: 'HUF' }).currency).toBe('HUF');
  });

  test('that allow no amount which Stripe charges are refused', () => {
    expect(() => money({ ...cards, LOOPSTREAM_TOP_UP_MAX_MINOR: '49' })).toThrow(/at least 50.*0\.50 USD/);
    expect(() => money({ LOOPSTREAM_TOP_UP_MIN_MINOR: '2', LOOPSTREAM_TOP_UP_MAX_MINOR: '1' })).toThrow(
      /LOOPSTREAM_TOP_UP_MIN_MINOR/,
    );
  });
});
