/** Queries with SQL the accounts that staff name, the audit of their operations, and suspensions. */
import { sql } from 'kysely';
import type { Db } from '../../../db/pool.ts';

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

export interface StaffRecord {
  staff: string;
  action: string;
  accountId: string;
  reason: string;
  transactionId?: string | undefined;
  credits?: bigint | undefined;
}

export async function writeStaffRecord(db: Db, deed: StaffRecord): Promise<void> {
  await sql`insert into loopstream.admin_audit (staff, action, account_id, reason, transaction_id, credits)
    values (${deed.staff}, ${deed.action}, ${deed.accountId}, ${deed.reason}, ${deed.transactionId ?? null},
      ${deed.credits ?? null})`.execute(db);
}

export interface StaffRecordRow {
  at: Date;
  staff: string;
  action: string;
  account_id: string;
  reason: string;
  transaction_id: string | null;
  credits: bigint | null;
}

/** Lists the operations on an account, or on all of them, the latest first. */
export async function listStaffRecords(
  db: Db,
  accountId: string | undefined,
  limit: number,
): Promise<StaffRecordRow[]> {
  const { rows } = await sql<StaffRecordRow>`select at, staff, action, account_id, reason, transaction_id, credits
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

export interface FlagRow {
  account_id: string;
  flag: 'suspended' | 'negative' | 'dispute' | 'unpaid' | 'deposit';
  details: string;
}

/** Lists the flags of accounts that the tables hold; computed flags are no part of it. */
export async function listFlags(db: Db): Promise<FlagRow[]> {
  const { rows } = await sql<FlagRow>`
    select account_id, 'suspended' as flag, 'since ' || to_char(since at time zone 'UTC', 'YYYY-MM-DD') || ': ' || reason as details
      from loopstream.account_suspensions
    union all
    select substr(account, length('customer:') + 1), 'negative', balance || ' credits' from loopstream.ledger_balances
      where balance < 0
    union all
    select t.account_id, 'dispute', r.state || ', of top-up ' || t.id from loopstream.topup_reversals r
      join loopstream.topups t on t.id = r.topup_id where r.kind = 'dispute' and r.state <> 'returned'
    union all
    select account_id, 'unpaid', credits || ' credits, of ' || subject from loopstream.account_flags
    union all
    select d.account_id, 'deposit', p.reason || ', transaction ' || p.txid from loopstream.crypto_payments p
      join loopstream.crypto_deposits d on d.id = p.deposit_id where p.state = 'ignored' and p.reason = 'too_large'
    order by 1, 2, 3`.execute(db);
  return rows;
}

/**
 * Finds the accounts of the subjects that reconciling names (billing/audit/store.ts). Some subjects have none, or one that
 * is no longer known.
 */
export async function findAccounts(db: Db, subjects: readonly string[]): Promise<Map<string, string>> {
  if (subjects.length === 0) return new Map();
  const { rows } = await sql<{ subject: string; account_id: string }>`
    select w.subject, coalesce(
      case when w.subject like 'customer:%' then substr(w.subject, length('customer:') + 1) end,
      (select m.account_id from loopstream.meter_streams m where m.stream_uid = split_part(w.subject, ':', 1)),
      (select t.account_id from loopstream.topups t where t.id = w.subject),
      (select d.account_id from loopstream.crypto_deposits d where d.id = w.subject),
      (select t.account_id from loopstream.ledger_transactions t where t.id::text = w.subject),
      (select substr(b.account, length('customer:') + 1) from loopstream.ledger_balances b
        where b.account = 'customer:' || w.subject)) as account_id
    from unnest(${[...new Set(subjects)]}::text[]) as w (subject)`.execute(db);
  return new Map(rows.flatMap(({ subject, account_id }) => (account_id === null ? [] : [[subject, account_id]])));
}

/** For accounts that are not deleted, by their ids. */
export async function findEmails(db: Db, accountIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; email: string }>`select u.id::text as id, u.email from auth."user" u
    where u.id::text = any (${[...new Set(accountIds)]}::text[])`.execute(db);
  return new Map(rows.map(({ id, email }) => [id, email]));
}
