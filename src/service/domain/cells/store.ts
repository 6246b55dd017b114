/** Runs the SQL of the namespaces of accounts. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';

/** `namespace` is null for an account in the API server's own namespace, so that an installation may move as a whole. */
export interface CellRow {
  namespace: string | null;
}

/** Returns undefined for an account that has no namespace yet. */
export async function findCell(db: Db, accountId: string): Promise<CellRow | undefined> {
  const { rows } = await sql<CellRow>`select namespace from loopstream.account_cells
    where account_id = ${accountId}`.execute(db);
  return rows[0];
}

/** Records the namespace of an account that has none yet. Returns the recorded one: another server may have been first. */
export async function recordCell(db: Db, accountId: string, namespace: string | null): Promise<CellRow> {
  await sql`insert into loopstream.account_cells (account_id, namespace) values (${accountId}, ${namespace})
    on conflict (account_id) do nothing`.execute(db);
  return (await findCell(db, accountId)) ?? { namespace };
}

export interface CellCount extends CellRow {
  accounts: number;
}

export async function countAccounts(db: Db): Promise<CellCount[]> {
  const { rows } = await sql<CellCount>`select namespace, count(*)::integer as accounts from loopstream.account_cells
    group by namespace`.execute(db);
  return rows;
}
