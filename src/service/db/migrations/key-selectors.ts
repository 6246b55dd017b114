/** Adds the label selector of a key, also to what events tell of a new one. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  `alter table auth.apikey add column "labelSelector" text`,
  `create or replace function loopstream.tell_key() returns trigger language plpgsql as $$
  declare
    iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  begin
    insert into loopstream.event_objects (account_id, object_id, uid, object, seq)
      values (new."referenceId", new.id::text, new.id::text, 'key', 1) on conflict do nothing;
    insert into loopstream.events (id, account_id, type, object, object_id, seq, at, data, snapshot)
      values ('evt_' || replace(new.id::text, '-', '') || '_created', new."referenceId", 'key.created', 'key', new.id::text, 1,
        new."createdAt", jsonb_build_object('name', coalesce(new.name, '')),
        jsonb_build_object('id', new.id::text, 'name', coalesce(new.name, ''), 'labels', new.labels, 'hint', coalesce(new.start, ''),
          'scopes', new.permissions::jsonb -> 'scopes', 'labelSelector', new."labelSelector",
          'createdAt', to_char(new."createdAt" at time zone 'utc', iso),
          'expiresAt', to_char(new."expiresAt" at time zone 'utc', iso), 'lastUsedAt', null, 'lastUsedAddress', null))
      on conflict (id) do nothing;
    return null;
  end $$`,
];

export const keySelectorMigrations: Record<string, Migration> = {
  '0031-key-selectors': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
