/**
 * Creates the outbox: what happened to the objects of accounts, kept for seven days.
 *
 * A row's place in the feed is the transaction that wrote it and its position. Rows become visible in the order of commits, not of
 * positions, so a reader takes only those of transactions below pg_snapshot_xmin: no row with a lower place can follow.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  `create table loopstream.events (
    xid xid8 not null default pg_current_xact_id(),
    position bigint generated always as identity,
    id text primary key,
    account_id text not null,
    type text not null,
    object text not null,
    object_id text not null,
    seq bigint not null,
    at timestamptz not null,
    recorded_at timestamptz not null default now(),
    data jsonb not null
  )`,
  `create index events_feed on loopstream.events (account_id, xid, position)`,
  `create index events_recorded_at on loopstream.events (recorded_at)`,
  // The last number of an object's events, and the mark of the state that was recorded last.
  `create table loopstream.event_objects (
    account_id text not null,
    object_id text not null,
    uid text not null,
    seq bigint not null default 0,
    mark text not null default '',
    told_at timestamptz not null default now(),
    primary key (account_id, object_id)
  )`,
  `create function loopstream.tell_events() returns trigger language plpgsql as $$
  begin
    perform pg_notify('loopstream_events', t.account_id) from (select distinct account_id from now_told) t;
    return null;
  end $$`,
  `create trigger tell after insert on loopstream.events referencing new table as now_told
    for each statement execute function loopstream.tell_events()`,
];

const MORE = [
  // The object as it was then. Null where it was gone, and for events of before.
  `alter table loopstream.events add column snapshot jsonb`,
  `alter table loopstream.event_objects add column object text`,
  // Keys are written by the auth library, in transactions of its own, and by commands: the event is written with the row.
  `create function loopstream.tell_key() returns trigger language plpgsql as $$
  declare
    iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  begin
    insert into loopstream.event_objects (account_id, object_id, uid, object, seq)
      values (new."referenceId", new.id::text, new.id::text, 'key', 1) on conflict do nothing;
    insert into loopstream.events (id, account_id, type, object, object_id, seq, at, data, snapshot)
      values ('evt_' || replace(new.id::text, '-', '') || '_created', new."referenceId", 'key.created', 'key', new.id::text, 1,
        new."createdAt", jsonb_build_object('name', coalesce(new.name, '')),
        jsonb_build_object('id', new.id::text, 'name', coalesce(new.name, ''), 'hint', coalesce(new.start, ''),
          'createdAt', to_char(new."createdAt" at time zone 'utc', iso),
          'expiresAt', to_char(new."expiresAt" at time zone 'utc', iso), 'lastUsedAt', null))
      on conflict (id) do nothing;
    return null;
  end $$`,
  `create trigger tell_key after insert on auth.apikey for each row execute function loopstream.tell_key()`,
];

export const eventMigrations: Record<string, Migration> = {
  '0021-events': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
  '0026-event-snapshots': {
    async up(db: Kysely<unknown>) {
      for (const statement of MORE) await sql.raw(statement).execute(db);
    },
  },
};
