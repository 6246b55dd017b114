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
