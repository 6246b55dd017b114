/** Tests the content of an invoice: sums that add up, in months of the seller's zone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../../src/core/settings/settings.ts';
import { computeSums, roundHalfEven } from '../../../../../src/service/billing/invoices/amounts.ts';
import { buildBuyer } from '../../../../../src/service/billing/invoices/buyer.ts';
import { buildContent, type Draft } from '../../../../../src/service/billing/invoices/document.ts';
import { monthStart, periodAt } from '../../../../../src/service/billing/invoices/period.ts';
import { parseSeller } from '../../../../../src/service/billing/invoices/settings.ts';

describe('money of credits', () => {
  test('is rounded half to even, on both sides of 0', () => {
    const cases = [
      ...([
        [50n, 0n] as const,
        [150n, 2n] as const,
        [149n, 1n] as const,
        [151n, 2n] as const,
        [250n, 2n] as const,
      ] as const),
      ...([[-50n, 0n] as const, [-150n, -2n] as const, [-151n, -2n] as const, [0n, 0n] as const] as const),
    ];
    for (const [credits, minor] of cases) expect(roundHalfEven(credits, 100n), String(credits)).toBe(minor);
  });

  test('adds up: lines and rounding are the total, and so are net amount and taxes', () => {
    const rate = fc.constantFrom('19', '0', '8.875', '5', '9.975', '25.5');
    const line = fc.bigInt({ min: -1_000_000n, max: 1_000_000_000n });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.array(rate, { maxLength: 3 }), (lines, rates) => {
        const sums = computeSums(
          lines,
          rates.map((ratePercent) => ({ name: 'Tax', ratePercent })),
        );
        const sum = (numbers: bigint[]) => numbers.reduce((a, b) => a + b, 0n);
        expect(sums.credits).toBe(sum(lines));
        expect(sum(sums.amountsMinor) + sums.roundingMinor).toBe(sums.totalMinor);
        expect(sums.netMinor + sum(sums.taxesMinor)).toBe(sums.totalMinor);
        // The difference to the ledger is at most half a minor unit.
        const off = sums.totalMinor * 100n - sums.credits;
        expect(off <= 50n && off >= -50n).toBe(true);
      }),
    );
  });
});

describe('a month', () => {
  test('is that of the seller’s zone, also where clocks change and the year ends', () => {
    const at = new Date('2027-03-31T22:30:00Z');
    expect(monthStart(at, 'UTC').toISOString()).toBe('2027-03-01T00:00:00.000Z');
    expect(monthStart(at, 'Europe/Berlin').toISOString()).toBe('2027-03-31T22:00:00.000Z');
    expect(periodAt(new Date('2027-03-05T00:00:00Z'), undefined, 'America/New_York')).toEqual({
      from: new Date('2027-03-01T05:00:00Z'),
      until: new Date('2027-04-01T04:00:00Z'),
      firstDay: '2027-03-01',
      lastDay: '2027-03-31',
    });
    expect(periodAt(new Date('2027-12-31T23:59:59Z'), undefined, 'UTC').until).toEqual(
      new Date('2028-01-01T00:00:00Z'),
    );
  });

  test('that is billed takes nothing more: later usage is in the next one', () => {
    const billed = new Date('2027-02-01T00:00:00Z');
    const late = periodAt(new Date('2027-01-20T00:00:00Z'), billed, 'UTC');
    expect(late).toMatchObject({ from: billed, firstDay: '2027-02-01', lastDay: '2027-02-28' });
    // After the seller's move, the rest of the month is billed, and no moment twice.
    const moved = periodAt(new Date('2027-02-02T00:00:00Z'), billed, 'Pacific/Honolulu');
    expect(moved).toMatchObject({ from: new Date('2027-02-01T10:00:00Z'), until: new Date('2027-03-01T10:00:00Z') });
  });
});

const seller = {
  name: 'Loops',
  address: ['Dublin'],
  country: 'IE',
  taxes: [{ name: 'VAT', ratePercent: '23' }],
  reverseCharge: { countries: ['FR', 'IE'], text: 'Reverse charge.' },
};
const draft = (more: Partial<Draft> = {}): Draft => ({
  number: '2027-00001',
  issuedOn: '2027-02-01',
  period: null,
  currency: 'EUR',
  currencyDigits: 2,
  seller,
  buyer: buildBuyer('acc', { name: 'Ada', email: 'ada@example.com' }, { country: 'FR', taxID: 'FR1' }),
  charged: [{ streamID: 's', name: 'S', profile: '1080p30', seconds: '1', creditsPerHour: '1', credits: 12_350n }],
  ...more,
});

describe('the tax', () => {
  test('is in the price, and owed by a company of another country in its own', () => {
    expect(buildContent(draft())).toMatchObject({ taxes: [], netMinor: '124', totalMinor: '124' });
    expect(buildContent(draft()).notes).toContain('Reverse charge.');
    const taxed = {
      netMinor: '101',
      taxes: [{ name: 'VAT', ratePercent: '23', amountMinor: '23' }],
      totalMinor: '124',
    };
    for (const address of [
      { country: 'FR' },
      { taxID: 'FR1' },
      { country: 'IE', taxID: 'IE1' },
      { country: 'US', taxID: '1' },
    ]) {
      const content = buildContent(draft({ buyer: buildBuyer('acc', undefined, address) }));
      expect(content, JSON.stringify(address)).toMatchObject(taxed);
      expect(content.notes).not.toContain('Reverse charge.');
    }
  });

  test('and all else of the seller is checked where it is set', () => {
    expect(parseSeller(JSON.stringify(seller))).toEqual(seller);
    for (const [wrong, told] of [
      [{ ...seller, taxes: [{ name: 'VAT', ratePercent: '19,5' }] }, '/taxes/0/ratePercent'],
      [{ ...seller, country: 'Ireland' }, '/country'],
      [{ ...seller, timeZone: 'Mars/Base' }, '/timeZone'],
    ] as const)
      expect(() => parseSeller(JSON.stringify(wrong))).toThrow(told);
    expect(() => parseSeller('{')).toThrow(ConfigError);
  });
});

test('a sum in the customer’s favour is a credit note', () => {
  const [line] = draft().charged;
  const content = buildContent(draft({ charged: [{ ...(line as Draft['charged'][number]), credits: -150n }] }));
  expect(content).toMatchObject({ kind: 'credit_note', totalCredits: '-150', totalMinor: '-2' });
});

test('the buyer is the chosen address, completed by the account’s data', () => {
  const user = { name: 'Ada', email: 'ada@example.com' };
  expect(buildBuyer('acc', user, { name: '', postalCode: '75008', city: 'Paris', line2: '', country: 'FR' })).toEqual({
    name: 'Ada',
    address: ['75008 Paris', 'France'],
    country: 'FR',
    taxID: null,
    email: 'ada@example.com',
  });
  expect(buildBuyer('acc', undefined)).toMatchObject({ name: 'Account acc', email: null });
});
