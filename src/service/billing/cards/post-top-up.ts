/**
 * Posts a settled top-up to the ledger and to its row: all of it or nothing, in one transaction of the database.
 *
 * When money goes back (a refund, or a dispute for as long as the bank holds it), the customer returns the credits that it
 * bought. Used credits are gone, and no balance falls below its floor. The missing part goes to `writeoff`, which is our
 * loss, and the account is flagged for staff (loopstream.account_flags). This does not stop streams; an empty balance does.
 * When the refund fails or the dispute is won, each side gets its part back.
 *
 *   paid             cash:card −      customer +
 *   refund           customer −, writeoff −      cash:card +
 *   dispute          customer −, writeoff −      disputes +     (lost: disputes −, cash:card +)
 */

import type { Db } from '../../db/pool.ts';
import { customer, type Ledger, type LedgerLine, type LedgerTransaction } from '../ledger/ledger.ts';
import { toCredits } from '../ledger/money.ts';
import { readCurrencyDigits } from '../ledger/store.ts';
import { fromCharge } from './currencies.ts';
import { type CardFacts, type Move, settle } from './settle.ts';
import * as store from './store.ts';
import type { CardPayment } from './stripe.ts';

const CASH = 'cash:card';
const DISPUTES = 'disputes';

export interface PostDeps {
  db: Db;
  ledger: Pick<Ledger, 'post'>;
}

type KeptTopUp = Map<string, store.KeptReversal>;

/** Drops zero amounts: the ledger accepts no such entries. */
const buildEntries = (...entries: [account: string, credits: bigint][]): LedgerLine[] =>
  entries.filter(([, credits]) => credits !== 0n).map(([account, credits]) => ({ account, credits }));

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Settles a top-up by Stripe's facts, and returns its new row. Undefined when there is none, or when it is paid at
 * another page than this one.
 */
export function settleTopUp(
  { db, ledger }: PostDeps,
  id: string,
  looked: CardPayment,
  now: Date,
): Promise<store.TopUpRow | undefined> {
  return store.inTransaction(db, async (trx) => {
    const row = await store.lockTopUp(trx, id);
    if (!row || (row.sessionId !== null && row.sessionId !== looked.sessionId)) return undefined;
    const before = await store.listReversals(trx, id);
    const facts = row.paidAsSent
      ? looked.facts
      : countFacts(looked.facts, row, await readCurrencyDigits(trx, row.currency));
    const { known, moves } = settle({ ...row, reversals: before }, facts);
    const reversals: KeptTopUp = new Map(before.map((one) => [one.id, one]));
    for (const move of moves) {
      const transaction = await prepare(trx, row, move, reversals);
      const details = { topUpID: id, ...('id' in move && { stripeID: move.id }) };
      await ledger.post({ ...transaction, accountId: row.accountId, at: now, details }, { trx });
    }
    for (const reversal of known.reversals) {
      const parts = reversals.get(reversal.id) ?? { takenCredits: 0n, writtenOffCredits: 0n };
      await store.keepReversal(trx, id, { ...parts, ...reversal });
    }
    const { sessionId, paymentIntentId } = looked;
    const checkoutUrl = known.state === 'open' ? looked.checkoutUrl : null;
    await store.updateTopUp(trx, id, { ...known, sessionId, paymentIntentId, checkoutUrl });
    return store.findTopUp(trx, id);
  });
}

/** Counts the facts of Stripe in the minor unit of the ledger. A payment in another currency waits for staff as it is. */
function countFacts(facts: CardFacts, { currency }: store.TopUpRow, digits: number): CardFacts {
  if (facts.currency !== currency) return facts;
  const count = <T extends { amountMinor: bigint }>(one: T): T => ({
    ...one,
    amountMinor: fromCharge(one.amountMinor, currency, digits),
  });
  return {
    ...facts,
    receivedMinor: fromCharge(facts.receivedMinor, currency, digits),
    // A sum below the minor unit of the ledger is no entry of it.
    refunds: facts.refunds.map(count).filter(({ amountMinor }) => amountMinor > 0n),
    disputes: facts.disputes.map(count).filter(({ amountMinor }) => amountMinor > 0n),
  };
}

type Prepared = Pick<LedgerTransaction, 'key' | 'kind' | 'entries'>;

async function prepare(trx: Db, row: store.TopUpRow, move: Move, reversals: KeptTopUp): Promise<Prepared> {
  const account = customer(row.accountId);
  if (move.do === 'credit') {
    const credits = toCredits(move.amountMinor);
    return { key: `topup:${row.id}`, kind: 'topup', entries: buildEntries([account, credits], [CASH, -credits]) };
  }
  if (move.do === 'take') {
    const { id, kind, amountMinor } = move;
    const all = toCredits(amountMinor);
    const taken = min(toCredits(move.customerMinor), await store.lockRoom(trx, row.accountId));
    const missing = all - taken;
    reversals.set(id, { id, kind, amountMinor, state: 'taken', takenCredits: taken, writtenOffCredits: missing });
    if (missing > 0n) await store.flagAccount(trx, row.accountId, id, missing);
    const to = kind === 'refund' ? CASH : DISPUTES;
    return { key: `${kind}:${id}`, kind, entries: buildEntries([account, -taken], ['writeoff', -missing], [to, all]) };
  }
  const { takenCredits, writtenOffCredits, kind, state } = reversals.get(move.id) as store.KeptReversal;
  const all = takenCredits + writtenOffCredits;
  if (move.do === 'lose') {
    reversals.set(move.id, { ...(reversals.get(move.id) as store.KeptReversal), state: 'lost' });
    return { key: `dispute-lost:${move.id}`, kind, entries: buildEntries([DISPUTES, -all], [CASH, all]) };
  }
  const from = kind === 'refund' || state === 'lost' ? CASH : DISPUTES;
  return {
    key: `${kind}-returned:${move.id}`,
    kind,
    entries: buildEntries([account, takenCredits], ['writeoff', writtenOffCredits], [from, -all]),
  };
}
