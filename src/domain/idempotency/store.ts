/** The SQL of idempotency keys. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';

export interface KeptAnswer {
  /** Of HTTP. */
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface StoredAnswer {
  fingerprint: string;
  /** null while the first request is at work. */
  status: number | null;
  headers: Record<string, string>;
  /** null where there was no room for it. */
  body: string | null;
}

/** A server that renews no lease for so long is taken for dead. */
export const LEASE_SECONDS = 10;
const LEASE = `interval '${LEASE_SECONDS} seconds'`;
const KEPT = "interval '24 hours'";

/** Whether the row of `idempotency` as `i` may be taken by a request with this fingerprint. */
const free = (fingerprint: string) => sql`(i.created_at < now() - ${sql.raw(KEPT)}
  or (i.status is null and i.fingerprint = ${fingerprint} and i.claimed_until <= now()))`;

/**
 * Since when the key is meant for this request, when it is ours now; undefined when another request has it, or when the account has
 * used `maxKeys` of them: then there is no row. A try that was cut off, or failed, is gone on with: its time stays. One statement, so
 * two cannot both get it.
 */
export async function claim(
  db: Db,
  { accountId, key, fingerprint, maxKeys }: { accountId: string; key: string; fingerprint: string; maxKeys: number },
): Promise<Date | undefined> {
  const { rows } = await sql<{ created_at: Date }>`
    with claimed as (
      insert into loopstream.idempotency as i (account_id, key, fingerprint, claimed_until)
      select ${accountId}, ${key}, ${fingerprint}, now() + ${sql.raw(LEASE)}
      where exists (select from loopstream.idempotency where account_id = ${accountId} and key = ${key})
        or coalesce((select sum(u.keys) ${usedLately(accountId)}), 0) < ${maxKeys}
      on conflict (account_id, key) do update
        set fingerprint = excluded.fingerprint, claimed_until = excluded.claimed_until, status = null, headers = '{}',
          body = null, created_at = case when i.created_at < now() - ${sql.raw(KEPT)} then now() else i.created_at end
        where ${free(fingerprint)}
      returning created_at, xmax = 0 as is_new
    ), counted as (
      insert into loopstream.idempotency_use as u (account_id, hour, keys)
      select ${accountId}, date_trunc('hour', now()), 1 from claimed where is_new
      on conflict (account_id, hour) do update set keys = u.keys + 1
    )
    select created_at from claimed`.execute(db);
  return rows[0]?.created_at;
}

const usedLately = (accountId: string) => sql`from loopstream.idempotency_use u
  where u.account_id = ${accountId} and u.hour > now() - ${sql.raw(KEPT)}`;

/** How many keys an account has used within 24 hours, and the bytes of what was answered to them. */
export async function keyedUse(db: Db, accountId: string): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: string; bytes: string }>`
    select coalesce(sum(u.keys), 0)::text as count, coalesce(sum(u.bytes), 0)::text as bytes
    ${usedLately(accountId)}`.execute(db);
  return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
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

/**
 * Keeps an answer. Its body is left out where the bodies of the account's answers within 24 hours have `maxBytes` already: that it was
 * answered, and with which status, is kept all the same.
 */
export async function keepAnswer(
  db: Db,
  { accountId, key, answer, maxBytes }: { accountId: string; key: string; answer: KeptAnswer; maxBytes: number },
): Promise<void> {
  const { status, headers, body } = answer;
  const size = Buffer.byteLength(body);
  await sql`
    with used as (select coalesce(sum(u.bytes), 0) + ${size}::bigint <= ${maxBytes}::bigint as fits ${usedLately(accountId)}),
    kept as (
      update loopstream.idempotency
      set status = ${status}, headers = ${JSON.stringify(headers)}::jsonb,
        body = case when (select fits from used) then ${body}::text end
      where account_id = ${accountId} and key = ${key} and status is null
      returning body
    )
    insert into loopstream.idempotency_use as u (account_id, hour, bytes)
    select ${accountId}, date_trunc('hour', now()), ${size}::bigint from kept where body is not null
    on conflict (account_id, hour) do update set bytes = u.bytes + excluded.bytes`.execute(db);
}

/** Ends the lease of a key whose request failed: the next one with the same body goes on with it. */
export async function release(db: Db, accountId: string, key: string): Promise<void> {
  await sql`update loopstream.idempotency set claimed_until = now()
    where account_id = ${accountId} and key = ${key} and status is null`.execute(db);
}

export async function forgetOld(db: Db): Promise<void> {
  await sql`delete from loopstream.idempotency where created_at < now() - ${sql.raw(KEPT)}`.execute(db);
  await sql`delete from loopstream.idempotency_use where hour < now() - 2 * ${sql.raw(KEPT)}`.execute(db);
}
