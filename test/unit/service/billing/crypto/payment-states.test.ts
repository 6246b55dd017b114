/**
 * Tests the rules of payments: whatever the chain shows in whatever order, the books agree with the chain in the end.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginPayment,
  buildDepositView,
  countConfirmations,
  judgePayment,
  losePayment,
  type Payment,
  type PaymentFacts,
  updatePayment,
} from '../../../../../src/service/billing/crypto/payment-states.ts';

const NEEDED = 3;
const HOUR_MS = 3_600_000;

/** A chain of one payment: each step adds a block (with the payment or not), takes some away, or only looks. */
type Step = { do: 'mine'; has: boolean } | { do: 'reorg'; depth: number } | { do: 'look' };
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('mine' as const), has: fc.boolean() }),
    fc.record({ do: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ do: fc.constant('look' as const) }),
  ),
  { maxLength: 60 },
);

/** Runs the machine as the scanner does; returns the postings in order. */
function run(all: readonly Step[]) {
  const chain: boolean[] = [false];
  let payment: Payment | undefined;
  const booked: (1 | -1)[] = [];
  for (const step of all) {
    if (step.do === 'reorg') {
      const depth = Math.min(step.depth, chain.length - 1);
      chain.splice(chain.length - depth);
      if (payment && payment.height !== null && payment.height >= chain.length) payment = losePayment(payment);
    }
    if (step.do === 'mine') {
      // A transaction is in a chain at most once.
      const has = step.has && !chain.includes(true);
      chain.push(has);
      const sighting = { height: chain.length - 1 };
      if (has) payment = payment ? updatePayment(payment, sighting) : beginPayment(sighting, undefined);
    }
    const verdict = payment ? judgePayment(payment, chain.length - 1, NEEDED) : 'wait';
    if (payment && verdict === 'credit') payment = { ...payment, state: 'credited' };
    if (payment && verdict === 'reverse') payment = { ...payment, state: 'reversed', reversals: payment.reversals + 1 };
    if (payment && verdict === 'drop') payment = { ...payment, state: 'dropped' };
    if (verdict === 'credit' || verdict === 'reverse') booked.push(verdict === 'credit' ? 1 : -1);
  }
  return { chain, payment, booked };
}

describe('a payment', () => {
  test('is credited and taken back in turns, never twice in a row, and ends as the chain has it', () => {
    fc.assert(
      fc.property(steps, (all) => {
        // Enough blocks follow to decide every payment.
        const quiet = Array.from({ length: 2 * NEEDED + 8 }, (): Step => ({ do: 'mine', has: false }));
        const { chain, booked } = run([...all, ...quiet]);
        expect(booked).toEqual(booked.map((_, i) => (i % 2 === 0 ? 1 : -1)));
        expect(booked.reduce((sum: number, one) => sum + one, 0)).toBe(chain.includes(true) ? 1 : 0);
      }),
      { numRuns: 500 },
    );
  });

  test('is credited with the last of its confirmations and not before', () => {
    const payment = beginPayment({ height: 10 }, undefined);
    expect([10, 11].map((height) => judgePayment(payment, height, NEEDED))).toEqual(['wait', 'wait']);
    expect(judgePayment(payment, 12, NEEDED)).toBe('credit');
    expect([9, 10, 12].map((height) => countConfirmations(10, height))).toEqual([0, 1, 3]);
  });

  test('that is ignored stays so, wherever its block goes', () => {
    const payment = updatePayment(losePayment(beginPayment({ height: 10 }, 'dust')), { height: 12 });
    expect(payment).toMatchObject({ state: 'ignored', height: 12 });
    expect(judgePayment(payment, 100, NEEDED)).toBe('wait');
  });

  test('that was in a block does not count as pending because a server still lists it so', () => {
    const credited: Payment = { ...beginPayment({ height: 10 }, undefined), state: 'credited' };
    for (const one of [beginPayment({ height: 10 }, undefined), credited, losePayment(credited)])
      expect(updatePayment(one, 'pending')).toEqual(one);
  });
});

describe('a deposit', () => {
  const now = new Date('2027-01-31T12:00:00Z');
  const deposit = { amount: 100n, expiresAt: new Date(now.getTime() + HOUR_MS) };
  const buildPaid = (state: Payment['state'], more: Partial<PaymentFacts> = {}): PaymentFacts => ({
    state,
    height: 10,
    lostHeight: null,
    reversals: 0,
    isAsked: true,
    amount: 100n,
    ...more,
  });
  const after = new Date(now.getTime() + 2 * HOUR_MS);

  test.each<[string, PaymentFacts[], Date]>([
    ['waiting', [], now],
    ['expired', [], after],
    ['waiting', [buildPaid('ignored')], now],
    ['waiting', [buildPaid('dropped', { height: null })], now],
    ['seen', [buildPaid('seen', { height: null })], now],
    ['confirming', [buildPaid('seen', { height: null }), buildPaid('confirming')], now],
    ['confirming', [buildPaid('confirming'), buildPaid('credited')], after],
    ['credited', [buildPaid('credited')], after],
    ['credited', [buildPaid('credited', { amount: 60n }), buildPaid('credited', { amount: 60n })], now],
    ['underpaid', [buildPaid('credited', { amount: 99n })], now],
    ['underpaid', [buildPaid('credited', { isAsked: false })], now],
    ['reorged', [buildPaid('reorged', { height: null })], now],
    ['reorged', [buildPaid('credited', { height: null, lostHeight: 9 })], now],
    ['reorged', [buildPaid('reversed', { height: null })], after],
  ])('is %s', (state, payments, at) => {
    expect(buildDepositView(deposit, payments, 11, at).state).toBe(state);
  });

  test('shows the fewest confirmations of its pending payments', () => {
    expect(
      buildDepositView(
        deposit,
        [buildPaid('confirming', { height: 9 }), buildPaid('confirming', { height: 11 })],
        11,
        now,
      ),
    ).toEqual({
      state: 'confirming',
      confirmations: 1,
      received: 0n,
    });
  });
});
