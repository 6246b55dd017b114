/**
 * Creates the tables of endpoints, which receive events, and of their deliveries.
 *
 * A trigger makes the deliveries of an event in the transaction that records it, so a writer of events needs to know nothing of endpoints,
 * and no server has to be there. For endpoints of people, it asks for a look at the object's events: messages follow from rules
 * (domain/endpoints/alerts/).
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  `create table loopstream.endpoints (
    id text primary key,
    account_id text not null,
    kind text not null,
    name text not null,
    -- A URL, or the address of a mailbox.
    target text not null,
    -- Of the kind template: method, headers and body.
    template jsonb,
    -- All that are sent: of an endpoint for all types, those that this release knows.
    types text[] not null,
    has_all_types boolean not null,
    -- Whether it may be told of money.
    with_billing boolean not null,
    object_ids text[],
    rule jsonb,
    state text not null,
    disabled_code text,
    code text,
    code_tries integer not null default 0,
    secret_version integer not null default 1,
    previous_secret_until timestamptz,
    -- Until then, first attempts of this endpoint are under way at one server.
    lane_until timestamptz,
    created_at timestamptz not null default now()
  )`,
  `create index endpoints_account on loopstream.endpoints (account_id)`,
  `create table loopstream.deliveries (
    id text primary key default 'dlv_' || replace(gen_random_uuid()::text, '-', ''),
    position bigint generated always as identity,
    endpoint_id text not null references loopstream.endpoints on delete cascade,
    account_id text not null,
    -- The id of the event, or of a message to people.
    message_id text not null,
    type text not null,
    -- Of a message to people; an event is read when it is sent.
    message jsonb,
    state text not null default 'waiting',
    attempts integer not null default 0,
    -- A first attempt, which goes in order. One that failed, or is asked for again, blocks nothing.
    is_first boolean not null default true,
    created_at timestamptz not null default now(),
    -- Since when attempts are counted: a replay begins anew.
    since timestamptz not null default now(),
    next_at timestamptz not null default now(),
    claimed_until timestamptz,
    answered_at timestamptz,
    answer_status integer,
    answer_body text,
    answer_code text,
    took_ms integer,
    unique (endpoint_id, message_id)
  ) with (fillfactor = 80)`,
  `create index deliveries_first on loopstream.deliveries (endpoint_id, position) where state = 'waiting' and is_first`,
  `create index deliveries_again on loopstream.deliveries (endpoint_id, next_at) where state = 'waiting' and not is_first`,
  `create index deliveries_listed on loopstream.deliveries (endpoint_id, position)`,
  `create index deliveries_created_at on loopstream.deliveries (created_at)`,
  // The state of what people were told of an object, and the time to look at its events again.
  `create table loopstream.alerts (
    endpoint_id text not null references loopstream.endpoints on delete cascade,
    account_id text not null,
    object_id text not null,
    -- The number of the last event that was looked at.
    seq bigint not null default 0,
    state jsonb not null default '{}',
    wake_at timestamptz,
    primary key (endpoint_id, object_id)
  )`,
  `create index alerts_due on loopstream.alerts (wake_at) where wake_at is not null`,
  // Rules read the events of one object.
  `create index events_object on loopstream.events (account_id, object_id, seq)`,
  `create function loopstream.queue_deliveries() returns trigger language plpgsql as $$
  begin
    insert into loopstream.deliveries (endpoint_id, account_id, message_id, type)
      select e.id, e.account_id, t.id, t.type from now_told t
        join loopstream.endpoints e on e.account_id = t.account_id and e.state = 'active' and e.kind = 'webhook'
          and t.type = any (e.types) and (e.object_ids is null or t.object_id = any (e.object_ids))
        order by t.position
      on conflict do nothing;
    if found then perform pg_notify('loopstream_deliveries', ''); end if;
    insert into loopstream.alerts (endpoint_id, account_id, object_id, seq, wake_at)
      select e.id, e.account_id, t.object_id, min(t.seq) - 1, now() from now_told t
        join loopstream.endpoints e on e.account_id = t.account_id and e.state = 'active' and e.kind <> 'webhook'
          -- An outage is known from all events of its stream, whatever types are named.
          and (t.type = any (e.types) or t.object = 'stream') and (e.object_ids is null or t.object_id = any (e.object_ids))
        group by e.id, e.account_id, t.object_id
      on conflict (endpoint_id, object_id) do update set wake_at = now();
    if found then perform pg_notify('loopstream_deliveries', ''); end if;
    return null;
  end $$`,
  `create trigger deliver after insert on loopstream.events referencing new table as now_told
    for each statement execute function loopstream.queue_deliveries()`,
  `create function loopstream.tell_deliveries() returns trigger language plpgsql as $$
  begin
    perform pg_notify('loopstream_deliveries', '');
    return null;
  end $$`,
  // A message to people, and what somebody asks to be sent again.
  `create trigger tell after insert or update of since on loopstream.deliveries
    for each statement when (pg_trigger_depth() = 0) execute function loopstream.tell_deliveries()`,
];

export const endpointMigrations: Record<string, Migration> = {
  '0026-endpoints': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
