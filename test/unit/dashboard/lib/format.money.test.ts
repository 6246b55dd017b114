/** Tests that pages write and read money to the last digit, and never show more than there is. */
import { getNiceTickValues } from 'recharts';
import { describe, expect, test } from 'vitest';
import { staleAfter } from '../../../../src/dashboard/app/staleQueries.ts';
import {
  depositLine,
  depositLook,
  describeOutlook,
  kindWord,
  topUpLook,
} from '../../../../src/dashboard/features/billing/text.ts';
import {
  createAxisFormat as axisFormat,
  formatDecimal as decimal,
  formatCredits,
  formatMinor,
  formatTimeSpan as lengthOf,
  parseMinor as minorOf,
  toChartNumber as toNumber,
} from '../../../../src/dashboard/lib/format.ts';

const USD = { currency: 'USD', currencyDigits: 2, creditsPerMinorUnit: '100' };
const JPY = { currency: 'JPY', currencyDigits: 0 };
const KWD = { currency: 'KWD', currencyDigits: 3 };

describe('an amount', () => {
  test('is exact, however large it is', () => {
    expect(decimal('123456789012345678901', 18)).toBe('123.456789012345678901');
    expect(['0', '1', '-1', '100', '-250'].map((amount) => decimal(amount, 2))).toEqual([
      '0',
      '0.01',
      '-0.01',
      '1',
      '-2.5',
    ]);
    expect(formatMinor('9007199254740993', USD)).toBe('$90,071,992,547,409.93');
    expect(formatMinor('1234', JPY)).toBe('¥1,234');
  });

  test('of credits is never said to be more than it is; to the credit where that is asked for', () => {
    expect(formatCredits('19999', USD)).toBe('$1.99');
    expect(formatCredits('-19999', USD)).toBe('-$1.99');
    expect(formatCredits('-333', USD, { exactly: true })).toBe('-$0.0333');
    expect(formatCredits('10000', USD, { exactly: true })).toBe('$1.00');
    expect(toNumber('15000', USD)).toBe(1.5);
  });

  test('below the smallest coin is neither nothing nor a negative nothing', () => {
    expect(['47', '99', '100', '0'].map((credits) => formatCredits(credits, USD))).toEqual([
      ...['less than $0.01', 'less than $0.01', '$0.01', '$0.00'],
    ]);
    expect(['-47', '-100', '-0'].map((credits) => formatCredits(credits, USD))).toEqual([
      ...['-$0.0047', '-$0.01', '$0.00'],
    ]);
    expect(formatCredits('7', { ...JPY, creditsPerMinorUnit: '10000' })).toBe('less than ¥1');
  });

  test('is read as people type it', () => {
    expect(['25', '25.5', '25,50', ' 0.05 '].map((text) => minorOf(text, USD))).toEqual(['2500', '2550', '2550', '5']);
    for (const text of ['', '0', '-5', '1e3', '1.234', '1.2.3', '٣', '10 000', '<b>', '9999999999999', "'; --"])
      expect(minorOf(text, USD), text).toBeUndefined();
    // The digits are those of the API, whatever the tables of the browser say.
    const forint = { currency: 'HUF', currencyDigits: 2 };
    expect([minorOf('5000', forint), formatMinor('500000', forint)]).toEqual(['500000', 'HUF\u00a05,000.00']);
    const before = { currency: 'HUF', currencyDigits: 0 };
    expect([minorOf('5000', before), formatMinor('5000', before)]).toEqual(['5000', 'HUF\u00a05,000']);
    expect([minorOf('25', JPY), minorOf('25.5', JPY)]).toEqual(['25', undefined]);
  });
});

test('how long it lasts', () => {
  expect([30, 3600, 5 * 3600 + 1260, 86_400, 4 * 86_400 + 36_000].map(lengthOf)).toEqual([
    ...['less than a minute', '1 h', '5 h 21 min', '1 day', '4 days 10 h'],
  ]);
  const outlook = (state: 'active' | 'low' | 'exhausted', secondsLeft: number | null) =>
    describeOutlook({ state, secondsLeft, hadCredit: true });
  expect(outlook('active', null)).toContain('Nothing is on air');
  expect(outlook('low', 7200)).toContain('about 2 h');
  expect(outlook('active', 2 * 365 * 86_400)).toContain('more than a year');
  expect(outlook('exhausted', 0)).toContain('used up');
  const never = describeOutlook({ state: 'exhausted', secondsLeft: null, hadCredit: false });
  expect(never).toBe('Add credit to prepare media and go on air.');
});

test('a state that is newer than the page is called as the server calls it', () => {
  expect(topUpLook('paid')).toEqual({ word: 'Paid', tone: 'good' });
  expect(depositLook('toString')).toEqual({ word: 'toString', tone: 'quiet' });
  expect([kindWord('charge'), kindWord('gift')]).toEqual(['Time on air', 'gift']);
  const confirming = { state: 'confirming', confirmations: 2, neededConfirmations: 12 } as Parameters<
    typeof depositLine
  >[0];
  expect(depositLine(confirming)).toContain('2 of 12');
});

test('a change of money refreshes the queries that show it, and no page refetches all', () => {
  const stale = (noun: 'balance' | 'topUp' | 'invoice' | 'deposit') =>
    staleAfter({ noun, id: 'x-1', change: 'updated' })?.map((key) => key.join(' '));
  expect(stale('balance')).toEqual(['money balance', 'money ledger', 'money usage']);
  expect(stale('topUp')).toEqual(['money topUps']);
  expect(stale('invoice')).toEqual(['money invoices']);
  expect(stale('deposit')).toEqual(['money deposits', 'money deposit x-1']);
});

test('no two labels of the axis of usage are alike, however small or large the sums are', () => {
  for (const currency of [USD, JPY, KWD])
    for (let power = -4; power <= 6; power++)
      for (const digit of [1, 1.24, 2.5, 4.9, 9.99]) {
        const most = digit * 10 ** power;
        const labels = getNiceTickValues([0, most], 4, true).map(axisFormat(most, currency));
        expect(new Set(labels).size, `${currency.currency} ${most}: ${labels.join(' ')}`).toBe(labels.length);
      }
  expect([0, 0.005, 0.01, 0.015].map(axisFormat(0.0124, USD))).toEqual(['$0.00', '$0.005', '$0.01', '$0.015']);
  expect([0, 0].map(axisFormat(0, USD))).toEqual(['$0.00', '$0.00']);
  expect(axisFormat(50, USD)(20)).toBe('$20.00');
});
