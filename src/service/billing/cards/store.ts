/** Queries top-ups with SQL. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import type { KnownPayment, Reversal, State } from './settle.ts';

export interface TopUpRow {
  id: string;
  accountId: string;
  amountMinor: bigint;
  currency: string;
  state: State;
  paidMinor: bigint;
  review: KnownPayment['review'];
  sessionId: string | null;
  paymentIntentId: string | null;
  checkoutUrl: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** Booked in the units of the provider as they were, by an earlier version. */
  paidAsSent: boolean;
  /** The amount that went back for good. */
  reversedMinor: bigint;
}

/** The parts of a reversal that the customer bore and that was missing. */
export interface KeptReversal extends Reversal {
  takenCredits: bigint;
  writtenOffCredits: bigint;
}

const columns = sql.raw(`t.id, t.account_id as "accountId", t.amount_minor as "amountMinor", t.currency, t.state,
  t.paid_minor as "paidMinor", t.paid_as_sent as "paidAsSent", t.review, t.session_id as "sessionId", t.payment_intent_id as "paymentIntentId",
  t.checkout_url as "checkoutUrl", t.created_at as "createdAt", t.expires_at as "expiresAt",
  coalesce((select sum(r.amount_minor) from loopstream.topup_reversals r
    where r.topup_id = t.id and r.state <> 'returned'), 0) as "reversedMinor"`);

export const inTransaction = <T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> => db.transaction().execute(work);

export type NewTopUp = Pick<TopUpRow, 'id' | 'accountId' | 'amountMinor' | 'currency' | 'createdAt' | 'expiresAt'>;

/** The row as it is then: one that an earlier try has made stays as it is. */
export async function insertTopUp(db: Db, row: NewTopUp): Promise<TopUpRow> {
  await sql`insert into loopstream.topups (id, account_id, amount_minor, currency, created_at, expires_at)
    values (${row.id}, ${row.accountId}, ${row.amountMinor}, ${row.currency}, ${row.createdAt}, ${row.expiresAt})
    on conflict (id) do nothing`.execute(db);
  return (await findTopUp(db, row.id)) as TopUpRow;
}

export async function findTopUp(db: Db, id: string): Promise<TopUpRow | undefined> {
  const { rows } = await sql<TopUpRow>`select ${columns} from loopstream.topups t where t.id = ${id}`.execute(db);
  return rows[0];
}

export async function listTopUps(db: Db, accountId: string): Promise<TopUpRow[]> {
  const { rows } = await sql<TopUpRow>`select ${columns} from loopstream.topups t
    where t.account_id = ${accountId} order by t.created_at, t.id`.execute(db);
  return rows;
}

/** The next caller that settles it waits until this transaction has ended. */
export async function lockTopUp(trx: Db, id: string): Promise<TopUpRow | undefined> {
  await sql`select 1 from loopstream.topups where id = ${id} for update`.execute(trx);
  return findTopUp(trx, id);
}

export async function listReversals(trx: Db, topUpId: string): Promise<KeptReversal[]> {
  const { rows } = await sql<KeptReversal>`select id, kind, amount_minor as "amountMinor", state,
      taken_credits as "takenCredits", written_off_credits as "writtenOffCredits"
    from loopstream.topup_reversals where topup_id = ${topUpId} order by id`.execute(trx);
  return rows;
}

export async function keepReversal(trx: Db, topUpId: string, one: KeptReversal): Promise<void> {
  await sql`insert into loopstream.topup_reversals
      (id, topup_id, kind, amount_minor, state, taken_credits, written_off_credits)
    values (${one.id}, ${topUpId}, ${one.kind}, ${one.amountMinor}, ${one.state},
      ${one.takenCredits}, ${one.writtenOffCredits})
    on conflict (id) do update set state = excluded.state`.execute(trx);
}

export type TopUpState = Pick<TopUpRow, 'state' | 'paidMinor' | 'review' | 'checkoutUrl'> & {
  sessionId: string;
  paymentIntentId: string | null;
};

export async function updateTopUp(trx: Db, id: string, learned: TopUpState): Promise<void> {
  await sql`update loopstream.topups set state = ${learned.state}, paid_minor = ${learned.paidMinor},
      review = ${learned.review}, checkout_url = ${learned.checkoutUrl},
      session_id = coalesce(session_id, ${learned.sessionId}),
      payment_intent_id = coalesce(payment_intent_id, ${learned.paymentIntentId}), looked_at = now()
    where id = ${id}`.execute(trx);
}

/**
 * Returns the amount that a customer can still be charged, and locks the balance until the transaction ends. 0 when
 * there is none.
 */
export async function lockRoom(trx: Db, accountId: string): Promise<bigint> {
  const { rows } = await sql<{ room: bigint }>`select greatest(0, balance - floor) as room
    from loopstream.ledger_balances where account = ${`customer:${accountId}`} for update`.execute(trx);
  return rows[0]?.room ?? 0n;
}

/** Flags the account for staff: so many used credits are unpaid. */
export async function flagAccount(trx: Db, accountId: string, subject: string, credits: bigint): Promise<void> {
  await sql`insert into loopstream.account_flags (account_id, reason, subject, credits)
    values (${accountId}, 'unpaid_credits_used', ${subject}, ${credits}) on conflict do nothing`.execute(trx);
}

/** Those that are not over and were not asked about for so long, the longest first. */
export async function listUnsettled(db: Db, quietSeconds: number, limit: number): Promise<TopUpRow[]> {
  const { rows } = await sql<TopUpRow>`select ${columns} from loopstream.topups t
    where t.state in ('open', 'processing') and t.looked_at < now() - make_interval(secs => ${quietSeconds})
    order by t.looked_at limit ${limit}`.execute(db);
  return rows;
}

/** Asked in vain: the others come first next time. */
export async function markChecked(db: Db, id: string): Promise<void> {
  await sql`update loopstream.topups set looked_at = now() where id = ${id}`.execute(db);
}

/** One that never came to have a page to pay at, and that nobody can pay therefore. */
export async function expireUnmade(db: Db, id: string): Promise<void> {
  await sql`update loopstream.topups set state = 'expired', looked_at = now()
    where id = ${id} and session_id is null and state = 'open' and expires_at < now()`.execute(db);
}

export async function readUntil(db: Db): Promise<Date | undefined> {
  const { rows } = await sql<{ read_until: Date }>`select read_until from loopstream.topup_events`.execute(db);
  return rows[0]?.read_until;
}

export async function keepReadUntil(db: Db, at: Date): Promise<void> {
  await sql`insert into loopstream.topup_events (read_until) values (${at})
    on conflict (one) do update set read_until = greatest(loopstream.topup_events.read_until, excluded.read_until)`.execute(
    db,
  );
}
