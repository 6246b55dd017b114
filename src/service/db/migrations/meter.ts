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
  '0022-meter-session-ends': {
    async up(db: Kysely<unknown>) {
      // An older meter, which may still run, writes none of them.
      await sql`alter table loopstream.meter_sessions
        add column started_at timestamptz, add column ended_at timestamptz,
        -- As the status of the stream has it; null where nobody knows.
        add column end_reason text,
        -- Of its credits, those that the account did not have.
        add column written_off numeric(38, 0) not null default 0`.execute(db);
      // Charges say when their time began. Whether a session was still open nobody knows: up to when it was counted says the rest.
      await sql`update loopstream.meter_sessions s set started_at = (t.details ->> 'from')::timestamptz
        from loopstream.ledger_transactions t
        where t.key = 'charge:' || s.stream_uid || ':' || s.session || ':1'`.execute(db);
      await sql`update loopstream.meter_sessions s set written_off = w.credits
        from (select split_part(t.key, ':', 2) as stream_uid, split_part(t.key, ':', 3)::bigint as session, -sum(e.credits) as credits
          from loopstream.ledger_entries e join loopstream.ledger_transactions t on t.id = e.transaction_id
          where e.account = 'writeoff' and t.key ~ '^charge:[^:]+:[0-9]{1,18}:[0-9]+$' group by 1, 2) w
        where s.stream_uid = w.stream_uid and s.session = w.session`.execute(db);
    },
  },
  '0023-meter-joined-sessions': {
    async up(db: Kysely<unknown>) {
      // The first session that the row stands for; null for no other one. An older meter, which may still run, writes none.
      await sql`alter table loopstream.meter_sessions add column first_session bigint`.execute(db);
    },
  },
};
