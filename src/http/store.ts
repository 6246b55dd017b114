/** The SQL of idempotency keys. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export interface StoredAnswer {
  fingerprint: string;
  /** null while the first request is at work. */
  status: number | null;
  headers: Record<string, string>;
  body: string | null;
}

/** A server that renews no lease for so long is taken for dead. */
export const LEASE_SECONDS = 10;
const LEASE = `interval '${LEASE_SECONDS} seconds'`;
const KEPT = "interval '24 hours'";

/**
 * Since when the key is meant for this request, when it is ours now; undefined when another request has it. A try that was
 * cut off, or failed, is gone on with: its time stays. One statement, so two cannot both get it.
 */
export async function claim(db: Db, accountId: string, key: string, fingerprint: string): Promise<Date | undefined> {
  const { rows } = await sql<{ created_at: Date }>`
    insert into loopstream.idempotency as i (account_id, key, fingerprint, claimed_until)
    values (${accountId}, ${key}, ${fingerprint}, now() + ${sql.raw(LEASE)})
    on conflict (account_id, key) do update
      set fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until, status = null, headers = '{}',
        body = null, created_at = case when i.created_at < now() - ${sql.raw(KEPT)} then now() else i.created_at end
      where i.created_at < now() - ${sql.raw(KEPT)}
         or (i.status is null and i.fingerprint = excluded.fingerprint and i.claimed_until <= now())
    returning created_at`.execute(db);
  return rows[0]?.created_at;
}

export async function renew(db: Db, accountId: string, key: string): Promise<void> {
  await sql`update loopstream.idempotency set claimed_until = now() + ${sql.raw(LEASE)}
    where account_id = ${accountId} and key = ${key} and status is null`.execute(db);
}

export const findAnswer = (db: Db, accountId: string, key: string): Promise<StoredAnswer | undefined> =>
  db
    .selectFrom('loopstream.idempotency')
    .select(['fingerprint', 'status', 'headers', 'body'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();

export async function keepAnswer(
  db: Db,
  accountId: string,
  key: string,
  answer: { status: number; headers: Record<string, string>; body: string },
): Promise<void> {
  await db
    .updateTable('loopstream.idempotency')
    .set({ status: answer.status, headers: JSON.stringify(answer.headers), body: answer.body })
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('status', 'is', null)
    .execute();
}

/** Ends the lease of a key whose request failed: the next one with the same body goes on with it. */
export async function release(db: Db, accountId: string, key: string): Promise<void> {
  await sql`update loopstream.idempotency set claimed_until = now()
    where account_id = ${accountId} and key = ${key} and status is null`.execute(db);
}

export async function forgetOld(db: Db): Promise<void> {
  await sql`delete from loopstream.idempotency where created_at < now() - ${sql.raw(KEPT)}`.execute(db);
}

/** Rejects when the database does not answer. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
