/** The SQL of what staff do: whom they mean, what they have done, and whom they have locked. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export interface AccountRow {
  id: string;
  /** null of one that is deleted, of which the ledger is kept. */
  email: string | null;
}

/** By its id or its e-mail address; one that is deleted by its id alone. */
export async function findAccount(db: Db, named: string): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`
    select u.id::text as id, u.email from auth."user" u where u.id::text = ${named} or u.email = ${named.toLowerCase()}
    union all
    select ${named}::text, null from loopstream.ledger_balances b where b.account = ${`customer:${named}`}
      and not exists (select from auth."user" u where u.id::text = ${named})
    limit 1`.execute(db);
  return rows[0];
}

export interface Deed {
  staff: string;
  action: string;
  accountId: string;
  reason: string;
  transactionId?: string | undefined;
  credits?: bigint | undefined;
}

export async function writeDeed(db: Db, deed: Deed): Promise<void> {
  await sql`insert into loopstream.admin_audit (staff, action, account_id, reason, transaction_id, credits)
    values (${deed.staff}, ${deed.action}, ${deed.accountId}, ${deed.reason}, ${deed.transactionId ?? null},
      ${deed.credits ?? null})`.execute(db);
}

export interface DeedRow {
  at: Date;
  staff: string;
  action: string;
  account_id: string;
  reason: string;
  transaction_id: string | null;
  credits: bigint | null;
}

/** What was done to an account, or to all of them, the latest first. */
export async function listDeeds(db: Db, accountId: string | undefined, limit: number): Promise<DeedRow[]> {
  const { rows } = await sql<DeedRow>`select at, staff, action, account_id, reason, transaction_id, credits
    from loopstream.admin_audit where ${accountId === undefined} or account_id = ${accountId ?? ''}
    order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** False when it was locked already. */
export async function lock(db: Db, accountId: string, reason: string): Promise<boolean> {
  const { numAffectedRows } = await sql`insert into loopstream.account_suspensions (account_id, reason)
    values (${accountId}, ${reason}) on conflict (account_id) do nothing`.execute(db);
  return (numAffectedRows ?? 0n) > 0n;
}

/** False when it was not locked. */
export async function unlock(db: Db, accountId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from loopstream.account_suspensions
    where account_id = ${accountId}`.execute(db);
  return (numAffectedRows ?? 0n) > 0n;
}

/** The ids of all accounts that are locked. */
export async function listLocked(db: Db): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`select account_id from loopstream.account_suspensions`.execute(db);
  return rows.map(({ account_id }) => account_id);
}
