/**
 * Creates the record of what streams played: the moves of their lists, the lists by their hash, and the words and lengths of the items. A later
 * edit or deletion of an upload leaves what was on air as it was.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  `create table loopstream.air_facts (
    stream_uid text not null,
    number bigint not null,
    account_id text not null,
    track text not null,
    started_at timestamptz not null,
    programme text not null,
    fact jsonb not null,
    primary key (stream_uid, number)
  )`,
  'create index air_facts_account on loopstream.air_facts (account_id)',
  'create index air_facts_started on loopstream.air_facts (started_at)',
  `create table loopstream.air_lists (
    stream_uid text not null,
    programme text not null,
    account_id text not null,
    seed bigint not null,
    track jsonb not null,
    uploads text[] not null,
    primary key (stream_uid, programme)
  )`,
  'create index air_lists_account on loopstream.air_lists (account_id)',
  `create table loopstream.air_items (
    account_id text not null,
    upload_id text not null,
    at timestamptz not null,
    hash text not null,
    item jsonb not null,
    primary key (account_id, upload_id, at)
  )`,
];

export const asRunMigrations: Record<string, Migration> = {
  '0032-as-run': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
