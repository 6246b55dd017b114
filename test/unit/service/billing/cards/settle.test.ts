/** Tests the decisions about a top-up, for any facts in any order. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CardFacts,
  type KnownPayment,
  type Move,
  settle,
} from '../../../../../src/service/billing/cards/settle.ts';

const NEW: KnownPayment = {
  amountMinor: 1000n,
  currency: 'USD',
  state: 'open',
  paidMinor: 0n,
  review: null,
  reversals: [],
};
const facts = (more: Partial<CardFacts> = {}): CardFacts => ({
  session: 'open',
  receivedMinor: 0n,
  currency: 'USD',
  hasFailed: false,
  refunds: [],
  disputes: [],
  ...more,
});
const buildPaid = (more: Partial<CardFacts> = {}) => facts({ session: 'complete', receivedMinor: 1000n, ...more });
const refund = (id: string, amountMinor: bigint, state: CardFacts['refunds'][number]['state'] = 'done') => ({
  id,
  amountMinor,
  state,
});
const dispute = (state: CardFacts['disputes'][number]['state'], id = 'd', amountMinor = 1000n) => ({
  id,
  amountMinor,
  state,
});

/** Applies all facts in turn. */
function applyFacts(...looks: CardFacts[]): { known: KnownPayment; moves: Move[] } {
  let known = NEW;
  const moves: Move[] = [];
  for (const look of looks) {
    const next = settle(known, look);
    known = next.known;
    moves.push(...next.moves);
  }
  return { known, moves };
}
const stateAfter = (...looks: CardFacts[]) => applyFacts(...looks).known.state;

/** Returns the customer's credits in the end, if no credit was used. */
function sumCredits(moves: readonly Move[]): bigint {
  const taken = new Map<string, bigint>();
  let credits = 0n;
  for (const move of moves) {
    if (move.do === 'credit') credits += move.amountMinor;
    if (move.do === 'take') taken.set(move.id, move.customerMinor);
    if (move.do === 'take') credits -= move.customerMinor;
    if (move.do === 'return') credits += taken.get(move.id) ?? 0n;
  }
  return credits;
}

describe('a payment', () => {
  test('has the states that its page and its money have', () => {
    expect(stateAfter(facts())).toBe('open');
    expect(stateAfter(facts({ session: 'expired' }))).toBe('expired');
    expect(stateAfter(facts({ session: 'complete' }))).toBe('processing');
    expect(stateAfter(facts({ session: 'complete', hasFailed: true }))).toBe('failed');
    expect(stateAfter(buildPaid())).toBe('paid');
    expect(stateAfter(buildPaid({ refunds: [refund('a', 1n)] }))).toBe('partially_refunded');
    expect(stateAfter(buildPaid({ refunds: [refund('a', 999n), refund('b', 1n)] }))).toBe('refunded');
    expect(stateAfter(buildPaid({ refunds: [refund('a', 1000n, 'pending')] }))).toBe('paid');
    expect(stateAfter(buildPaid({ refunds: [refund('a', 1000n, 'failed')] }))).toBe('paid');
    for (const [state, is] of [
      ['warning', 'paid'] as const,
      ['held', 'disputed'] as const,
      ['lost', 'charged_back'] as const,
      ['won', 'paid'] as const,
    ] as const)
      expect(stateAfter(buildPaid({ disputes: [dispute(state)] })), state).toBe(is);
  });

  test('that comes late is credited after all', () => {
    for (const before of [facts({ session: 'expired' }), facts({ session: 'complete', hasFailed: true })])
      expect(applyFacts(before, buildPaid())).toMatchObject({ known: { state: 'paid' }, moves: [{ do: 'credit' }] });
  });

  test('of another amount is credited as it came, and reported to staff', () => {
    expect(applyFacts(buildPaid({ receivedMinor: 400n }))).toMatchObject({
      known: { state: 'paid', paidMinor: 400n, review: 'amount_differs' },
      moves: [{ do: 'credit', amountMinor: 400n }],
    });
  });

  test('in another currency is not credited, nor is anything taken for its refund', () => {
    const other = buildPaid({ currency: 'JPY' });
    const { known, moves } = applyFacts(other, { ...other, refunds: [refund('a', 1000n)] }, buildPaid());
    expect(moves).toEqual([]);
    expect(known).toMatchObject({ state: 'review', review: 'currency_differs', paidMinor: 0n });
  });
});

describe('money that goes back', () => {
  test('is never more than the customer was ever credited', () => {
    const { moves } = applyFacts(buildPaid({ refunds: [refund('a', 600n)], disputes: [dispute('held')] }));
    expect(moves.slice(1)).toEqual([
      { do: 'take', id: 'a', kind: 'refund', amountMinor: 600n, customerMinor: 600n },
      { do: 'take', id: 'd', kind: 'dispute', amountMinor: 1000n, customerMinor: 400n },
    ]);
  });

  test('comes back when the refund fails or the dispute is won, also by an appeal', () => {
    const refunds = [refund('a', 1000n)];
    const failed = applyFacts(buildPaid({ refunds }), buildPaid({ refunds: [refund('a', 1000n, 'failed')] }));
    expect(failed).toMatchObject({ known: { state: 'paid' } });
    expect(sumCredits(failed.moves)).toBe(1000n);
    const states = (['held', 'lost', 'held', 'won'] as const).map((state) => buildPaid({ disputes: [dispute(state)] }));
    const { known, moves } = applyFacts(...states);
    expect(moves.map((move) => move.do)).toEqual(['credit', 'take', 'lose', 'return']);
    expect(known.state).toBe('paid');
  });
});

test('for any number, delay and order of reports, all ends as after the last one, and nothing is done twice', () => {
  // The events of a payment, in order; each fetch is at one of these moments.
  const history = [
    facts(),
    facts({ session: 'complete' }),
    buildPaid(),
    buildPaid({ refunds: [refund('a', 300n, 'pending')] }),
    buildPaid({ refunds: [refund('a', 300n)] }),
    buildPaid({ refunds: [refund('a', 300n)], disputes: [dispute('warning', 'd', 500n)] }),
    buildPaid({ refunds: [refund('a', 300n)], disputes: [dispute('held', 'd', 500n)] }),
    buildPaid({ refunds: [refund('a', 300n, 'failed')], disputes: [dispute('held', 'd', 500n)] }),
    buildPaid({ refunds: [refund('a', 300n, 'failed'), refund('b', 200n)], disputes: [dispute('won', 'd', 500n)] }),
  ];
  const last = history.at(-1) as CardFacts;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...history), { maxLength: 20 }), (looks) => {
      const { known, moves } = applyFacts(...looks, last, ...looks);
      expect(known.state).toBe('partially_refunded');
      expect(sumCredits(moves)).toBe(800n);
      const named = moves.map((move) => `${move.do} ${'id' in move ? move.id : ''}`);
      expect(new Set(named).size).toBe(named.length);
    }),
    { numRuns: 500 },
  );
});
