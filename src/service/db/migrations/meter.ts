/**
 * Creates the tables of the meter's counts. The time itself stays in the streams' status until it is acknowledged
 * (resources/stream/sessions.ts).
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  // By the UID of the stream: a name may come again. Its row is what two meters wait for.
  `create table loopstream.meter_streams (
    stream_uid text primary key,
    stream_id text not null,
    account_id text not null,
    since timestamptz not null default now()
  )`,
  `create index meter_streams_account on loopstream.meter_streams (account_id)`,
  `create table loopstream.meter_sessions (
    stream_uid text not null references loopstream.meter_streams,
    session bigint not null,
    -- Whole seconds on air that are counted.
    seconds bigint not null check (seconds >= 0),
    -- The sum of seconds × credits per hour.
    cost numeric(38, 0) not null,
    credits numeric(38, 0) not null,
    charged_seconds bigint not null,
    charges integer not null,
    until timestamptz not null,
    primary key (stream_uid, session),
    check (credits * 3600 <= cost),
    check (charged_seconds <= seconds)
  ) with (fillfactor = 70)`,
  // Since when a pod has played in a profile: a stream may go from one to another while it is on air.
  `create table loopstream.meter_profiles (
    stream_uid text not null,
    pod_uid text not null,
    since timestamptz not null,
    profile text not null,
    primary key (stream_uid, pod_uid, since)
  )`,
  // One row for each account with streams: since when its credit is used up, and its last warning.
  `create table loopstream.meter_accounts (
    account_id text primary key,
    exhausted_at timestamptz,
    -- Hours of credit left, of the last warning; null for none.
    warned_hours integer
  )`,
];

export const meterMigrations: Record<string, Migration> = {
  '0006-meter': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
  '0012-meter-tenths': {
    async up(db: Kysely<unknown>) {
      await sql`alter table loopstream.meter_sessions
        drop constraint meter_sessions_check,
        alter column seconds type numeric(14, 1), alter column charged_seconds type numeric(14, 1)`.execute(db);
      await sql`update loopstream.meter_sessions set cost = cost * 10`.execute(db);
      // The sum of tenths of seconds × credits per hour.
      await sql`alter table loopstream.meter_sessions add constraint meter_sessions_cost check (credits * 36000 <= cost)`.execute(
        db,
      );
    },
  },
};
