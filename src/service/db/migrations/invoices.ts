/**
 * Creates the tables of invoices. The database itself keeps an issued invoice from changing and its number from being
 * used again. Numbers have no gaps, since the counter is raised in the transaction that stores the invoice.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedToOnly, refusal } from './append-only.ts';

const STATEMENTS = [
  `create table loopstream.invoices (
    id text primary key,
    account_id text not null,
    series text not null,
    sequence bigint not null check (sequence > 0),
    kind text not null check (kind in ('invoice', 'credit_note')),
    number text not null unique,
    -- When what it is for ended; null for a credit note by itself.
    period_until timestamptz,
    corrects text references loopstream.invoices,
    -- The same request makes one.
    key text unique,
    issued_at timestamptz not null,
    total_credits numeric(38, 0) not null,
    total_minor numeric(38, 0) not null,
    content jsonb not null,
    unique (series, sequence),
    unique (account_id, period_until)
  )`,
  `create index invoices_account on loopstream.invoices (account_id, issued_at)`,
  refusal('invoices_refuse', 'Invoices stay as they were issued: % is refused.', 'lower(tg_op)'),
  ...addedToOnly('invoices', 'immutable', 'invoices_refuse'),
  `create table loopstream.invoice_counters (
    series text primary key,
    last bigint not null
  )`,
  // How far an account is billed: all entries up to \`through\` and dated before \`until\`.
  `create table loopstream.invoice_progress (
    account_id text primary key,
    until timestamptz not null,
    through bigint not null
  )`,
  `create table loopstream.billing_addresses (
    account_id text primary key,
    address jsonb not null,
    updated_at timestamptz not null default now()
  )`,
];

export const invoiceMigrations: Record<string, Migration> = {
  '0008-invoices': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
