/** The SQL of people and keys that does not go through the auth library. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

export interface KeyRow {
  id: string;
  userId: string;
  enabled: boolean;
  expiresAt: Date | null;
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
    .select(['k.id', 'k.referenceId as userId', 'k.enabled', 'k.expiresAt'])
    .where('k.key', '=', hash)
    .executeTakeFirst();

/** A public key of ours, as a JWK; `retiredAt` is since when, or from when on, it signs no more. */
export interface SigningKeyRow {
  id: string;
  publicKey: string;
  alg: string | null;
  retiredAt: Date | null;
}

export const findSigningKeys = (db: Db): Promise<SigningKeyRow[]> =>
  db.selectFrom('auth.jwks').select(['id', 'publicKey', 'alg', 'expiresAt as retiredAt']).execute();

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
