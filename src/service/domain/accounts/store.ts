/** Runs the SQL of credentials, and of accounts that are being deleted. */
import { sql } from 'kysely';
import { KEY_EXPIRY } from '../../auth/store.ts';
import type { Database, Db } from '../../db/pool.ts';

export interface KeyRow {
  id: string;
  name: string | null;
  labels: Record<string, string>;
  start: string | null;
  permissions: string | null;
  labelSelector: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  lastRequest: Date | null;
  lastAddress: string | null;
}

const keys = (db: Db, accountId: string) =>
  db
    .selectFrom('auth.apikey as k')
    .leftJoin('loopstream.key_policies as p', 'p.account_id', 'k.referenceId')
    .select(['k.id', 'k.name', 'k.labels', 'k.start', 'k.permissions', 'k.labelSelector', 'k.createdAt'])
    .select(['k.lastRequest', 'k.lastAddress', KEY_EXPIRY.as('expiresAt')])
    .where('k.referenceId', '=', accountId)
    .where('k.enabled', '=', true);

/** Leaves out revoked keys. */
export const listKeys = (db: Db, accountId: string): Promise<KeyRow[]> => keys(db, accountId).execute();

/** Counts the keys that are valid now. */
export async function countKeys(db: Db, accountId: string): Promise<number> {
  const valid = await keys(db, accountId).where(sql<boolean>`coalesce(${KEY_EXPIRY} > now(), true)`).execute();
  return valid.length;
}

export const findKey = (db: Db, accountId: string, id: string): Promise<KeyRow | undefined> =>
  keys(db, accountId).where(sql<string>`k.id::text`, '=', id).executeTakeFirst();

export interface KeyPatch {
  name?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  expiresAt?: Date | undefined;
}

/** Changes a key that was not revoked. An expiry is brought forward only, whichever of two requests comes first. */
export async function updateKey(db: Db, accountId: string, id: string, { name, labels, expiresAt }: KeyPatch) {
  await db
    .updateTable('auth.apikey')
    .set({
      updatedAt: sql<Date>`now()`,
      ...(name !== undefined && { name }),
      ...(labels !== undefined && { labels: JSON.stringify(labels) }),
      ...(expiresAt !== undefined && { expiresAt: sql<Date>`least("expiresAt", ${expiresAt})` }),
    })
    .where('referenceId', '=', accountId)
    .where('enabled', '=', true)
    .where(sql<string>`id::text`, '=', id)
    .execute();
}

/** Returns the longest life of the account's keys in days; null where it sets none. */
export async function findMaxKeyDays(db: Db, accountId: string): Promise<number | null> {
  const row = await db
    .selectFrom('loopstream.key_policies')
    .select('max_key_days')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.max_key_days ?? null;
}

export async function setMaxKeyDays(db: Db, accountId: string, days: number | null): Promise<void> {
  if (days === null) await db.deleteFrom('loopstream.key_policies').where('account_id', '=', accountId).execute();
  else
    await db
      .insertInto('loopstream.key_policies')
      .values({ account_id: accountId, max_key_days: days })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ max_key_days: days }))
      .execute();
}

export interface SessionRow {
  id: string;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: Date;
  expiresAt: Date;
}

/** Leaves out expired sessions. */
export const listSessions = (db: Db, userId: string): Promise<SessionRow[]> =>
  db
    .selectFrom('auth.session')
    .select(['id', 'ipAddress', 'userAgent', 'createdAt', 'expiresAt'])
    .where('userId', '=', userId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .execute();

export const findSession = (db: Db, userId: string, id: string): Promise<{ createdAt: Date } | undefined> =>
  db
    .selectFrom('auth.session')
    .select('createdAt')
    .where('userId', '=', userId)
    .where(sql<string>`id::text`, '=', id)
    .executeTakeFirst();

/** Returns false if the user has no such session. */
export async function endSession(db: Db, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('auth.session')
    .where('userId', '=', userId)
    .where(sql<string>`id::text`, '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function endOtherSessions(db: Db, userId: string, id: string): Promise<void> {
  await db.deleteFrom('auth.session').where('userId', '=', userId).where(sql<string>`id::text`, '!=', id).execute();
}

export interface AppRow {
  id: string;
  clientId: string;
  name: string | null;
  uri: string | null;
  /** The auth library stores lists as JSON or as the list itself. */
  scopes: unknown;
  verifiedAt: Date | null;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** Lists connected clients. A client that asked for more scopes later has one consent for each time. */
export const listApps = (db: Db, userId: string): Promise<AppRow[]> =>
  db
    .selectFrom('auth.oauthConsent as c')
    .innerJoin('auth.oauthClient as o', 'o.clientId', 'c.clientId')
    .leftJoin('loopstream.verified_clients as v', 'v.client_id', 'c.clientId')
    .select(['c.id', 'c.clientId', 'o.name', 'o.uri', 'c.scopes', 'c.createdAt', 'v.verified_at as verifiedAt'])
    .select((from) =>
      from
        .selectFrom('auth.oauthRefreshToken as t')
        .select(({ fn }) => fn.max('t.createdAt').as('at'))
        .whereRef('t.clientId', '=', 'c.clientId')
        .whereRef('t.userId', '=', 'c.userId')
        .as('lastUsedAt'),
    )
    .where('c.userId', '=', userId)
    .execute();

/** Revokes all consents and tokens of a client. Returns false if there were none. */
export const cutOff = (db: Db, userId: string, clientId: string): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    // The consent goes first: a concurrent refresh checks it.
    const { numDeletedRows } = await tx
      .deleteFrom('auth.oauthConsent')
      .where('userId', '=', userId)
      .where('clientId', '=', clientId)
      .executeTakeFirst();
    await tx
      .deleteFrom('auth.oauthAccessToken')
      .where('userId', '=', userId)
      .where('clientId', '=', clientId)
      .execute();
    await tx
      .deleteFrom('auth.oauthRefreshToken')
      .where('userId', '=', userId)
      .where('clientId', '=', clientId)
      .execute();
    return numDeletedRows > 0n;
  });

export type PasskeyRow = Pick<Database['auth.passkey'], 'id' | 'name' | 'backedUp' | 'createdAt'>;

/** Lists passkeys, oldest first, without their public keys. */
export const listPasskeys = (db: Db, userId: string): Promise<PasskeyRow[]> =>
  db
    .selectFrom('auth.passkey')
    .select(['id', 'name', 'backedUp', 'createdAt'])
    .where('userId', '=', userId)
    .orderBy('createdAt')
    .execute();

export type OutsideRow = Pick<Database['auth.account'], 'providerId' | 'accountId' | 'createdAt'>;

/** Lists the accounts at other providers that the user signs in with. */
export const listOutside = (db: Db, userId: string): Promise<OutsideRow[]> =>
  db
    .selectFrom('auth.account')
    .select(['providerId', 'accountId', 'createdAt'])
    .where('userId', '=', userId)
    .where('providerId', '!=', 'credential')
    .orderBy('createdAt')
    .execute();

export interface OwnerRow {
  email: string;
  /** Hash of the password; null for users who only sign in with another provider. */
  hash: string | null;
  /** Start of the session, and its method (a passkey or another). */
  since: Date | null;
  begunBy: string | null;
}

/** Reads the proofs that the owner makes the request. */
export const findOwner = (db: Db, userId: string, sessionId: string): Promise<OwnerRow | undefined> =>
  db
    .selectFrom('auth.user as u')
    .leftJoin('auth.account as a', (join) => join.onRef('a.userId', '=', 'u.id').on('a.providerId', '=', 'credential'))
    .leftJoin('auth.session as s', (join) =>
      join.onRef('s.userId', '=', 'u.id').on(sql<string>`s.id::text`, '=', sessionId),
    )
    .select(['u.email', 'a.password as hash', 's.createdAt as since', 's.begunBy'])
    .where('u.id', '=', userId)
    .executeTakeFirst();

/**
 * Revokes all access to the account and records its deletion, in one transaction. Foreign keys delete sessions, consents and tokens
 * with the user; keys have no such reference.
 */
export const beginDeletion = (db: Db, accountId: string): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await sql`insert into loopstream.account_deletions (account_id) values (${accountId})
      on conflict (account_id) do nothing`.execute(tx);
    await tx.deleteFrom('auth.apikey').where('referenceId', '=', accountId).execute();
    await tx.deleteFrom('loopstream.key_policies').where('account_id', '=', accountId).execute();
    for (const table of ['auth.oauthAccessToken', 'auth.oauthRefreshToken', 'auth.oauthConsent'] as const)
      await tx.deleteFrom(table).where('userId', '=', accountId).execute();
    // Links of mails that nobody followed yet.
    await tx.deleteFrom('auth.verification').where('value', '=', accountId).execute();
    await tx.deleteFrom('auth.user').where('id', '=', accountId).execute();
  });

/** Lists accounts with a recorded deletion. A request that started before the deletion may have created objects after it. */
export async function listDeletions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`select account_id from loopstream.account_deletions
    where done_at is null or asked_at > now() - interval '1 hour' order by asked_at limit 100`.execute(db);
  return rows.map(({ account_id }) => account_id);
}

export async function endDeletion(db: Db, accountId: string): Promise<void> {
  await sql`delete from loopstream.idempotency where account_id = ${accountId}`.execute(db);
  await sql`delete from loopstream.idempotency_use where account_id = ${accountId}`.execute(db);
  await sql`update loopstream.account_deletions set done_at = now()
    where account_id = ${accountId} and done_at is null`.execute(db);
}
