/** Tests which states of the credit are told, and under which ids. */
import { describe, expect, test } from 'vitest';
import type { CreditVerdict } from '../../../../../src/service/billing/metering/credit.ts';
import { findCreditNews } from '../../../../../src/service/billing/metering/credit-news.ts';

const NOW = new Date('2027-01-31T18:00:00Z');
const account = (exhaustedAt?: Date) => ({
  credit: { balance: 100n, floor: 0n, hadCredit: true, exhaustedAt, warnedHours: undefined },
  estimate: { available: 50n, creditsPerHour: 10n, secondsLeft: 18_000, toResume: 0n },
});
const verdict = (more: Partial<CreditVerdict>): CreditVerdict => ({
  exhaustedAt: undefined,
  hadCredit: true,
  warnedHours: undefined,
  warn: undefined,
  isOver: false,
  ...more,
});
const look = (before: Date | undefined, next: Partial<CreditVerdict>, mark = '', now = NOW) =>
  findCreditNews('6f1f-ada', account(before), verdict(next), { mark, now });
const find = (...given: Parameters<typeof look>) => look(...given)?.news[0];

describe('the credit of an account', () => {
  test('that runs low is told with its hours, and with the state as billing shows it', () => {
    expect(find(undefined, { warn: 24, warnedHours: 24 })).toMatchObject({
      id: 'evt_6f1fada_low24_1',
      type: 'credit.low',
      data: { hoursLeft: 24, message: expect.stringContaining('24 hours') },
      snapshot: { state: 'low', availableCredits: '50', secondsLeft: 18_000 },
    });
  });

  test('that is used up is told once, and not as low as well', () => {
    expect(find(undefined, { exhaustedAt: NOW, warn: 1 })?.type).toBe('credit.exhausted');
    expect(find(NOW, { exhaustedAt: NOW })).toBeUndefined();
  });

  test('that was never there is not used up', () => {
    expect(find(undefined, { exhaustedAt: NOW, hadCredit: false })).toBeUndefined();
  });

  test('that comes back, or lasts, is no news', () => {
    expect(find(NOW, {})).toBeUndefined();
  });

  test('has the same id when it is judged again at another time, as after a restored backup', () => {
    const later = new Date(NOW.getTime() + 3_600_000);
    const mark = look(undefined, { exhaustedAt: NOW })?.mark;
    expect(find(undefined, { exhaustedAt: later }, mark, later)?.id).toBe('evt_6f1fada_exhausted_2');
    expect(find(undefined, { exhaustedAt: NOW }, mark)?.id).toBe('evt_6f1fada_exhausted_2');
    // Whether a warning came before it says nothing of the fact.
    const warned = look(undefined, { warn: 24 }, mark)?.mark;
    expect(find(undefined, { exhaustedAt: later }, warned, later)?.id).toBe('evt_6f1fada_exhausted_2');
    expect(look(undefined, { exhaustedAt: later }, warned)?.mark).toBe('exhausted=2&low24=1');
  });
});
