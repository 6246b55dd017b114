/**
 * Decides the next state of a top-up from its known state and Stripe's current facts. Pure: no I/O, no clock.
 *
 * An event of Stripe only triggers this: the whole payment is then fetched anew. The facts may be old, since two fetches
 * can overtake each other. So the state only moves forward: facts older than the row change nothing.
 *
 *   open → processing → paid → partially_refunded → refunded
 *   open → expired, processing → failed    (and to paid after all, when the money came late)
 *   paid → disputed → charged_back (lost) or paid (won)
 *   open → review                          (paid in a currency that was not asked for: no credit, staff decide)
 *
 * The credited amount is the one that Stripe has received, even if it differs from the requested one.
 */

export const STATES = [
  'open',
  'processing',
  'paid',
  'failed',
  'expired',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'review',
] as const;
export type State = (typeof STATES)[number];

/** The payment as Stripe reports it now; amounts in minor units, of Stripe until post-top-up.ts counts them in ours. */
export interface CardFacts {
  session: 'open' | 'complete' | 'expired';
  /** The amount received, and its currency (ISO 4217, upper case). */
  receivedMinor: bigint;
  currency: string;
  /** The way of paying takes days, and the money did not come. */
  hasFailed: boolean;
  refunds: readonly { id: string; amountMinor: bigint; state: 'pending' | 'done' | 'failed' }[];
  /** `warning`: the bank only asks, and nothing has been taken from us. */
  disputes: readonly { id: string; amountMinor: bigint; state: 'warning' | 'held' | 'lost' | 'won' }[];
}

/** Money that went back: a refund, or a dispute for as long as the bank holds it. */
export interface Reversal {
  id: string;
  kind: 'refund' | 'dispute';
  amountMinor: bigint;
  /** `returned`: it came back to us, because the refund failed or the dispute was won. */
  state: 'taken' | 'lost' | 'returned';
}

export interface KnownPayment {
  amountMinor: bigint;
  currency: string;
  state: State;
  paidMinor: bigint;
  /** The reason why staff should check it; null while nothing is odd. */
  review: 'amount_differs' | 'currency_differs' | null;
  reversals: readonly Reversal[];
}

export type Move =
  | { do: 'credit'; amountMinor: bigint }
  /** `customerMinor`: the part that the customer has to bear; no more than was ever credited. */
  | { do: 'take'; id: string; kind: Reversal['kind']; amountMinor: bigint; customerMinor: bigint }
  | { do: 'return'; id: string; kind: Reversal['kind'] }
  | { do: 'lose'; id: string };

const sum = (numbers: readonly bigint[]): bigint => numbers.reduce((total, number) => total + number, 0n);
const ofKind = (reversals: readonly Reversal[], kind: Reversal['kind']) => reversals.filter((one) => one.kind === kind);

/** Returns the new state, and the postings for the ledger, in this order. */
export function settle(known: KnownPayment, facts: CardFacts): { known: KnownPayment; moves: Move[] } {
  const isOther = facts.receivedMinor > 0n && facts.currency !== known.currency;
  if (isOther || known.review === 'currency_differs')
    return { known: { ...known, state: deriveState(known, facts), review: 'currency_differs' }, moves: [] };
  const moves: Move[] = [];
  const isNew = known.paidMinor === 0n && facts.receivedMinor > 0n;
  if (isNew) moves.push({ do: 'credit', amountMinor: facts.receivedMinor });
  const paidMinor = isNew ? facts.receivedMinor : known.paidMinor;
  const reversals = reverse(known.reversals, paidMinor, facts, moves);
  const differs = paidMinor > 0n && paidMinor !== known.amountMinor;
  const next: KnownPayment = { ...known, paidMinor, reversals, review: differs ? 'amount_differs' : known.review };
  return { known: { ...next, state: deriveState(next, facts) }, moves };
}

/** Before the payment is known, nothing of it can be reversed; older facts may lack it. */
function reverse(before: readonly Reversal[], paidMinor: bigint, facts: CardFacts, moves: Move[]): Reversal[] {
  if (paidMinor === 0n) return [...before];
  const byId = new Map(before.map((one) => [one.id, one]));
  const put = (reversal: Reversal) => byId.set(reversal.id, reversal);
  const take = (kind: Reversal['kind'], id: string, amountMinor: bigint) => {
    const gone = sum([...byId.values()].filter(({ state }) => state !== 'returned').map((one) => one.amountMinor));
    const left = paidMinor > gone ? paidMinor - gone : 0n;
    moves.push({ do: 'take', id, kind, amountMinor, customerMinor: amountMinor < left ? amountMinor : left });
    put({ id, kind, amountMinor, state: 'taken' });
  };
  const giveBack = (reversal: Reversal) => {
    moves.push({ do: 'return', id: reversal.id, kind: reversal.kind });
    put({ ...reversal, state: 'returned' });
  };
  /** It ended before its first event: an older fetch that still shows it must find that. */
  const over = (kind: Reversal['kind'], id: string, amountMinor: bigint) =>
    put({ id, kind, amountMinor, state: 'returned' });
  for (const { id, amountMinor, state } of facts.refunds) {
    const one = byId.get(id);
    if (state === 'done' && !one) take('refund', id, amountMinor);
    if (state === 'failed' && !one) over('refund', id, amountMinor);
    if (state === 'failed' && one?.state === 'taken') giveBack(one);
  }
  for (const { id, amountMinor, state } of facts.disputes) {
    if ((state === 'held' || state === 'lost') && !byId.has(id)) take('dispute', id, amountMinor);
    const one = byId.get(id);
    if (state === 'lost' && one?.state === 'taken') {
      moves.push({ do: 'lose', id });
      put({ ...one, state: 'lost' });
    }
    // A dispute that was lost may be won yet, by an appeal.
    if (state === 'won' && !one) over('dispute', id, amountMinor);
    if (state === 'won' && one && one.state !== 'returned') giveBack(one);
  }
  return [...byId.values()];
}

function deriveState(
  { paidMinor, reversals, state, review }: KnownPayment,
  { session, hasFailed, ...facts }: CardFacts,
): State {
  if (review === 'currency_differs' || (paidMinor === 0n && facts.receivedMinor > 0n)) return 'review';
  if (paidMinor === 0n) {
    if (session === 'expired') return 'expired';
    if (state === 'expired' || state === 'failed') return state;
    if (session === 'open') return state;
    return hasFailed ? 'failed' : 'processing';
  }
  const disputes = ofKind(reversals, 'dispute');
  if (disputes.some((one) => one.state === 'taken')) return 'disputed';
  if (disputes.some((one) => one.state === 'lost')) return 'charged_back';
  const refunded = sum(
    ofKind(reversals, 'refund')
      .filter((one) => one.state === 'taken')
      .map((one) => one.amountMinor),
  );
  if (refunded === 0n) return 'paid';
  return refunded < paidMinor ? 'partially_refunded' : 'refunded';
}
