/** Indexes the welcome grants of the ledger, which are few, so that those of a day are counted without a scan of all transactions. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const welcomeMigrations: Record<string, Migration> = {
  '0020-welcome-grants': {
    async up(db: Kysely<unknown>) {
      await sql`create index ledger_transactions_welcome on loopstream.ledger_transactions (posted_at)
        where key like 'welcome:%'`.execute(db);
    },
  },
};
