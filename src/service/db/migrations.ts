/**
 * Lists the migrations of our own schema in order of their names. A migration that has shipped is never edited: add
 * another.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { adminMigrations } from './migrations/admin.ts';
import { asRunMigrations } from './migrations/as-run.ts';
import { cellMigrations } from './migrations/cells.ts';
import { clientMigrations } from './migrations/clients.ts';
import { cryptoMigrations } from './migrations/crypto.ts';
import { currencyMigrations } from './migrations/currencies.ts';
import { endpointMigrations } from './migrations/endpoints.ts';
import { eventMigrations } from './migrations/events.ts';
import { guessMigrations } from './migrations/guesses.ts';
import { invoiceMigrations } from './migrations/invoices.ts';
import { keySelectorMigrations } from './migrations/key-selectors.ts';
import { keyMigrations } from './migrations/keys.ts';
import { labelMigrations } from './migrations/labels.ts';
import { ledgerMigrations } from './migrations/ledger.ts';
import { meterMigrations } from './migrations/meter.ts';
import { notifyMigrations } from './migrations/notify.ts';
import { signUpMigrations } from './migrations/sign-ups.ts';
import { topupMigrations } from './migrations/topups.ts';
import { uptimeMigrations } from './migrations/uptime.ts';
import { welcomeMigrations } from './migrations/welcome.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-idempotency': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.idempotency (
        account_id text not null,
        key text not null,
        fingerprint text not null,
        status integer,
        headers jsonb not null default '{}',
        body text,
        created_at timestamptz not null default now(),
        primary key (account_id, key)
      )`.execute(db);
      await sql`create index idempotency_created_at on loopstream.idempotency (created_at)`.execute(db);
    },
  },
  '0002-idempotency-leases': {
    async up(db: Kysely<unknown>) {
      await sql`alter table loopstream.idempotency
        add column claimed_until timestamptz not null default now()`.execute(db);
    },
  },
  '0003-leases': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.leases (
        name text primary key,
        holder uuid not null,
        until timestamptz not null,
        asked boolean not null default false,
        note text
      )`.execute(db);
    },
  },
  '0004-account-deletions': {
    async up(db: Kysely<unknown>) {
      await sql`create table loopstream.account_deletions (
        account_id text primary key,
        asked_at timestamptz not null default now(),
        done_at timestamptz
      )`.execute(db);
    },
  },
  ...ledgerMigrations,
  ...cryptoMigrations,
  ...topupMigrations,
  ...invoiceMigrations,
  ...meterMigrations,
  ...clientMigrations,
  ...adminMigrations,
  ...notifyMigrations,
  ...signUpMigrations,
  '0015-idempotency-use': {
    async up(db: Kysely<unknown>) {
      // Counts the limits that an account has used within 24 hours, without a scan of a hundred thousand rows.
      await sql`create table loopstream.idempotency_use (
        account_id text not null,
        hour timestamptz not null,
        keys bigint not null default 0,
        bytes bigint not null default 0,
        primary key (account_id, hour)
      )`.execute(db);
    },
  },
  ...cellMigrations,
  ...currencyMigrations,
  ...guessMigrations,
  ...welcomeMigrations,
  ...eventMigrations,
  ...uptimeMigrations,
  ...endpointMigrations,
  ...keyMigrations,
  ...labelMigrations,
  ...keySelectorMigrations,
  ...asRunMigrations,
};
