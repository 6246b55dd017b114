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

/** No request works this long: one that has not ended by then was cut off with its server, and may be tried again. */
const ABANDONED = "interval '5 minutes'";
const KEPT = "interval '24 hours'";

/** True when the key is ours now; false when another request has it. One statement, so two cannot both get it. */
export async function claim(db: Db, accountId: string, key: string, fingerprint: string): Promise<boolean> {
  const { rows } = await sql`
    insert into loopstream.idempotency as i (account_id, key, fingerprint) values (${accountId}, ${key}, ${fingerprint})
    on conflict (account_id, key) do update
      set fingerprint = excluded.fingerprint, status = null, headers = '{}', body = null, created_at = now()
      where i.created_at < now() - ${sql.raw(KEPT)}
         or (i.status is null and i.fingerprint = excluded.fingerprint and i.created_at < now() - ${sql.raw(ABANDONED)})
    returning 1`.execute(db);
  return rows.length > 0;
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
    .execute();
}

/** Gives a key back whose request came to nothing. */
export async function release(db: Db, accountId: string, key: string): Promise<void> {
  await db
    .deleteFrom('loopstream.idempotency')
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('status', 'is', null)
    .execute();
}

export async function forgetOld(db: Db): Promise<void> {
  await sql`delete from loopstream.idempotency where created_at < now() - ${sql.raw(KEPT)}`.execute(db);
}

/** Rejects when the database does not answer. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
