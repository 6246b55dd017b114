/**
 * Creates the record of when streams went on and off air, which outlives their events. A row never changes: the UID of a stream and the
 * number of a transition name it for good, so that writing it again, as after a restored backup, changes nothing.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const uptimeMigrations: Record<string, Migration> = {
  '0025-uptime': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.air_changes (
        stream_uid text not null,
        number bigint not null,
        account_id text not null,
        stream_id text not null,
        at timestamptz not null,
        state text not null,
        code text,
        message text,
        fix text,
        primary key (stream_uid, number)
      )`.execute(db);
      await sql`create index air_changes_account on loopstream.air_changes (account_id)`.execute(db);
      await sql`create index air_changes_at on loopstream.air_changes (at)`.execute(db);
    },
  },

  /** Adds a column for viewers: null where a change says nothing of it, as all of an earlier release do. */
  '0027-uptime-of-viewers': {
    async up(db: Kysely<unknown>) {
      await sql`alter table loopstream.air_changes add column viewers text`.execute(db);
    },
  },
};
