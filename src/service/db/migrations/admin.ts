/** Creates the append-only table of staff actions and the table of suspended accounts. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedToOnly, refusal } from './append-only.ts';

const STATEMENTS = [
  `create table loopstream.admin_audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    -- Who did it, as they call themselves: whoever has the database's password is trusted with that.
    staff text not null check (staff <> ''),
    action text not null,
    account_id text not null,
    reason text not null check (reason <> ''),
    -- Of what moved credit.
    transaction_id uuid references loopstream.ledger_transactions,
    credits numeric(38, 0)
  )`,
  `create index admin_audit_account on loopstream.admin_audit (account_id, id)`,
  refusal('admin_audit_refuse', 'What staff have done is only added to: % is refused.', 'lower(tg_op)'),
  ...addedToOnly('admin_audit', 'append_only', 'admin_audit_refuse'),
  // A row for as long as the account is locked.
  `create table loopstream.account_suspensions (
    account_id text primary key,
    since timestamptz not null default now(),
    reason text not null
  )`,
];

export const adminMigrations: Record<string, Migration> = {
  '0010-admin': {
    async up(db: Kysely<unknown>) {
      for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
    },
  },
};
