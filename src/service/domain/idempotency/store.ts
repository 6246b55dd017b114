/** Runs the SQL of idempotency keys. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';

export interface KeptResponse {
  /** HTTP status. */
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface IdempotencyRow {
  fingerprint: string;
  /** null while the first request runs. */
  status: number | null;
  headers: Record<string, string>;
  /** null if it exceeded the limit. */
  body: string | null;
}

/** Other servers treat a server as dead after this time without a renewal. */
export const LEASE_SECONDS = 10;
const LEASE = `interval '${LEASE_SECONDS} seconds'`;
const KEPT = "interval '24 hours'";

/** Condition for a request with this fingerprint to take the row `i` of `idempotency`. */
const free = (fingerprint: string) => sql`(i.created_at < now() - ${sql.raw(KEPT)}
  or (i.status is null and i.fingerprint = ${fingerprint} and i.claimed_until <= now()))`;

/**
 * Claims a key for a request and returns the time of its first claim. Returns undefined if another request holds the key, or if the
 * account has used `maxKeys`. An interrupted or failed try continues with its original time. One statement, so that two requests
 * cannot both claim it.
 */
export async function claimKey(
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

/** Counts the keys that an account used within 24 hours, and the bytes of their stored responses. */
export async function countKeyUse(db: Db, accountId: string): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: string; bytes: string }>`
    select coalesce(sum(u.keys), 0)::text as count, coalesce(sum(u.bytes), 0)::text as bytes
    ${usedLately(accountId)}`.execute(db);
  return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

export async function renewClaim(db: Db, accountId: string, key: string): Promise<void> {
  await sql`update loopstream.idempotency set claimed_until = now() + ${sql.raw(LEASE)}
    where account_id = ${accountId} and key = ${key} and status is null`.execute(db);
}

export const findResponse = (db: Db, accountId: string, key: string): Promise<IdempotencyRow | undefined> =>
  db
    .selectFrom('loopstream.idempotency')
    .select(['fingerprint', 'status', 'headers', 'body'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .executeTakeFirst();

/**
 * Stores a response. The body is left out if the account's bodies of the last 24 hours already have `maxBytes`; the status is
 * stored all the same.
 */
export async function storeResponse(
  db: Db,
  { accountId, key, answer, maxBytes }: { accountId: string; key: string; answer: KeptResponse; maxBytes: number },
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

/** Ends the lease of a key whose request failed: the next request with the same body continues it. */
export async function releaseClaim(db: Db, accountId: string, key: string): Promise<void> {
  await sql`update loopstream.idempotency set claimed_until = now()
    where account_id = ${accountId} and key = ${key} and status is null`.execute(db);
}

export async function deleteOldKeys(db: Db): Promise<void> {
  await sql`delete from loopstream.idempotency where created_at < now() - ${sql.raw(KEPT)}`.execute(db);
  await sql`delete from loopstream.idempotency_use where hour < now() - 2 * ${sql.raw(KEPT)}`.execute(db);
}
