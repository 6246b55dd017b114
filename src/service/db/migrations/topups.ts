/** Creates the tables of card top-ups: the state of each payment, and the money that went back. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const STATEMENTS = [
  `create table loopstream.topups (
    id text primary key,
    account_id text not null,
    amount_minor numeric(38, 0) not null check (amount_minor > 0),
    currency text not null,
    state text not null default 'open',
    paid_minor numeric(38, 0) not null default 0 check (paid_minor >= 0),
    -- Why staff should look at it.
    review text,
    session_id text unique,
    payment_intent_id text unique,
    checkout_url text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    -- When Stripe was last asked about it.
    looked_at timestamptz not null default now()
  )`,
  `create index topups_account on loopstream.topups (account_id, created_at)`,
  `create index topups_unsettled on loopstream.topups (looked_at) where state in ('open', 'processing')`,
  // A reversal returns the parts that the customer and the write-off bore in the same proportion.
  `create table loopstream.topup_reversals (
    id text primary key,
    topup_id text not null references loopstream.topups,
    kind text not null check (kind in ('refund', 'dispute')),
    amount_minor numeric(38, 0) not null check (amount_minor > 0),
    state text not null check (state in ('taken', 'lost', 'returned')),
    taken_credits numeric(38, 0) not null default 0 check (taken_credits >= 0),
    written_off_credits numeric(38, 0) not null default 0 check (written_off_credits >= 0)
  )`,
  `create index topup_reversals_topup on loopstream.topup_reversals (topup_id)`,
  // Accounts that staff should check: money went back that had been used already.
  `create table loopstream.account_flags (
    account_id text not null,
    reason text not null,
    subject text not null,
    credits numeric(38, 0) not null,
    at timestamptz not null default now(),
    primary key (account_id, reason, subject)
  )`,
  // How far Stripe's events have been read by the job.
  `create table loopstream.topup_events (
    one boolean primary key default true check (one),
    read_until timestamptz not null
  )`,
];

export const topupMigrations: Record<string, Migration> = {
  '0007-topups': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
