/** The SQL of OAuth clients and of which of them are verified. */
import { sql } from 'kysely';
import type { Db } from '../db/pool.ts';

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

export async function setVerified(db: Db, clientId: string, isVerified: boolean): Promise<void> {
  if (isVerified)
    await db
      .insertInto('loopstream.verified_clients')
      .values({ client_id: clientId })
      .onConflict((of) => of.doNothing())
      .execute();
  else await db.deleteFrom('loopstream.verified_clients').where('client_id', '=', clientId).execute();
}

export async function isVerified(db: Db, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('loopstream.verified_clients')
    .select('client_id')
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row !== undefined;
}
