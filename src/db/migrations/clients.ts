/** Which OAuth clients somebody here has looked into. The auth library's own table is left as it makes it. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const clientMigrations: Record<string, Migration> = {
  '0011-verified-clients': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.verified_clients (
        client_id text primary key,
        verified_at timestamptz not null default now()
      )`.execute(db);
    },
  },
};
