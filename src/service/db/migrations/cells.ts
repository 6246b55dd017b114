/** Creates the table of the namespaces of accounts. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  // A null namespace is the API server's own one.
  `create table loopstream.account_cells (
    account_id text primary key,
    namespace text
  )`,
  // Accounts of before stay where they are, also those whose deletion is under way.
  `insert into loopstream.account_cells (account_id)
    select id::text from auth."user" union select account_id from loopstream.account_deletions`,
];

export const cellMigrations: Record<string, Migration> = {
  '0017-account-cells': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
