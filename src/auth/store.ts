/** The SQL of people, keys and clients that does not go through the auth library. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export interface KeyRow {
  id: string;
  userId: string;
  enabled: boolean;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

export interface UserRow {
  id: string;
  email: string;
  firstName: string;
  lastName: string | null;
  createdAt: Date;
}

/** The key with this hash, if its user exists. */
export const findKey = (db: Db, hash: string): Promise<KeyRow | undefined> =>
  db
    .selectFrom('auth.apikey as k')
    .innerJoin('auth.user as u', (join) => join.on('u.id', '=', sql<string>`k."referenceId"::uuid`))
    .select(['k.id', 'k.referenceId as userId', 'k.enabled', 'k.expiresAt', 'k.lastRequest as lastUsedAt'])
    .where('k.key', '=', hash)
    .executeTakeFirst();

/** The keys were used at that time, or a little before it. */
export async function markKeysUsed(db: Db, ids: string[], at: Date): Promise<void> {
  await db
    .updateTable('auth.apikey')
    .set({ lastRequest: at })
    .where('id', 'in', ids)
    .where((where) => where.or([where('lastRequest', 'is', null), where('lastRequest', '<', at)]))
    .execute();
}

/** Whether a refresh token with this hash was exchanged, or given back, before. */
export async function wasRefreshTokenUsed(db: Db, hash: string): Promise<boolean> {
  const row = await db
    .selectFrom('auth.oauthRefreshToken')
    .select('revoked')
    .where('token', '=', hash)
    .executeTakeFirst();
  return Boolean(row?.revoked);
}

/** A public key of ours, as a JWK; `retiredAt` is since when, or from when on, it signs no more. */
export interface SigningKeyRow {
  id: string;
  publicKey: string;
  alg: string | null;
  retiredAt: Date | null;
}

export const findSigningKeys = (db: Db): Promise<SigningKeyRow[]> =>
  db.selectFrom('auth.jwks').select(['id', 'publicKey', 'alg', 'expiresAt as retiredAt']).execute();

/** The keys sign no more; what they have signed is good until it is over. The next token is signed with a new one. */
export async function retireSigningKeys(db: Db): Promise<void> {
  await sql`update auth.jwks set "expiresAt" = now() where "expiresAt" is null or "expiresAt" > now()`.execute(db);
}

/** Nothing that they have signed is good any more, as soon as servers look at the keys again. */
export async function dropSigningKeys(db: Db): Promise<void> {
  await sql`delete from auth.jwks`.execute(db);
}

/**
 * Clears away what is over: sessions, codes, refresh tokens, keys that were retired `overlapSeconds` ago, and clients that
 * nobody has let in since they registered `unusedClientDays` ago, and nobody here has verified.
 */
export async function forgetOldAccess(
  db: Db,
  { unusedClientDays, overlapSeconds }: { unusedClientDays: number; overlapSeconds: number },
): Promise<void> {
  await sql`delete from auth.session where "expiresAt" < now()`.execute(db);
  await sql`delete from auth.verification where "expiresAt" < now()`.execute(db);
  await sql`delete from auth."oauthRefreshToken" where "expiresAt" < now()`.execute(db);
  await sql`delete from auth.jwks where "expiresAt" < now() - make_interval(secs => ${overlapSeconds})`.execute(db);
  await sql`delete from auth."oauthClient" c
    where c."createdAt" < now() - make_interval(days => ${unusedClientDays})
      and not exists (select from loopstream.verified_clients v where v.client_id = c."clientId")
      and not exists (select from auth."oauthConsent" o where o."clientId" = c."clientId")
      and not exists (select from auth."oauthRefreshToken" r where r."clientId" = c."clientId")`.execute(db);
}

/** Whether this person lets this client act, as things are now. */
export async function isConsented(db: Db, userId: string, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('auth.oauthConsent as c')
    .innerJoin('auth.user as u', 'u.id', 'c.userId')
    .innerJoin('auth.oauthClient as o', 'o.clientId', 'c.clientId')
    .select('c.id')
    .where('c.userId', '=', userId)
    .where('c.clientId', '=', clientId)
    .where((where) => where.or([where('o.disabled', 'is', null), where('o.disabled', '=', false)]))
    .executeTakeFirst();
  return row !== undefined;
}

/** False when there is no such key. */
export async function disableKey(db: Db, id: string): Promise<boolean> {
  const result = await db.updateTable('auth.apikey').set({ enabled: false }).where('id', '=', id).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

const userColumns = ['id', 'email', 'firstName', 'lastName', 'createdAt'] as const;

export const findUser = (db: Db, id: string): Promise<UserRow | undefined> =>
  db.selectFrom('auth.user').select(userColumns).where('id', '=', id).executeTakeFirst();

export const findUserByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('auth.user').select(userColumns).where('email', '=', email.toLowerCase()).executeTakeFirst();

/** A registered OAuth client. */
export interface ClientRow {
  clientId: string;
  name: string | null;
  uri: string | null;
  createdAt: Date | null;
  /** As the auth library keeps lists: JSON, or the list itself. */
  redirectUris: unknown;
  verifiedAt: Date | null;
  /** How many people let it act. */
  people: number;
}

const clients = (db: Db) =>
  db
    .selectFrom('auth.oauthClient as c')
    .leftJoin('loopstream.verified_clients as v', 'v.client_id', 'c.clientId')
    .select(['c.clientId', 'c.name', 'c.uri', 'c.createdAt', 'c.redirectUris', 'v.verified_at as verifiedAt'])
    .select((from) =>
      from
        .selectFrom('auth.oauthConsent as o')
        .select(sql<number>`count(distinct o."userId")::int4`.as('n'))
        .whereRef('o.clientId', '=', 'c.clientId')
        .as('people'),
    )
    .$castTo<ClientRow>();

/** Newest first. */
export const listClients = (db: Db, limit: number): Promise<ClientRow[]> =>
  clients(db).orderBy('c.createdAt', 'desc').limit(limit).execute();

export const findClient = (db: Db, clientId: string): Promise<ClientRow | undefined> =>
  clients(db).where('c.clientId', '=', clientId).executeTakeFirst();

/** Marks the client as one that somebody here has looked into, or takes the mark away. */
export async function setVerified(db: Db, clientId: string, isVerified: boolean): Promise<void> {
  if (isVerified)
    await db
      .insertInto('loopstream.verified_clients')
      .values({ client_id: clientId })
      .onConflict((of) => of.doNothing())
      .execute();
  else await db.deleteFrom('loopstream.verified_clients').where('client_id', '=', clientId).execute();
}

/** Whether somebody here has looked into the client. */
export async function isVerified(db: Db, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('loopstream.verified_clients')
    .select('client_id')
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row !== undefined;
}
