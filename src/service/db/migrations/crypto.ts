/** Creates the tables of crypto deposits. The ledger holds the money; these tables say how it came there. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const cryptoMigrations: Record<string, Migration> = {
  '0009-crypto': {
    async up(db: Kysely<unknown>) {
      // An index is given once, for ever: what was paid to an address must belong to one deposit.
      await sql`create table loopstream.crypto_keys (
        key_id text primary key,
        next_index integer not null
      )`.execute(db);
      await sql`create table loopstream.crypto_deposits (
        id text primary key,
        account_id text not null,
        network text not null,
        asset text not null,
        decimals integer not null,
        address text not null,
        address_key text not null unique,
        key_id text not null,
        address_index integer not null,
        amount numeric(38, 0) check (amount > 0),
        credits numeric(38, 0) check (credits > 0),
        rate numeric(38, 0) not null check (rate > 0),
        expires_at timestamptz not null,
        created_at timestamptz not null,
        unique (key_id, address_index)
      )`.execute(db);
      await sql`create index crypto_deposits_of_account on loopstream.crypto_deposits (account_id, created_at)`.execute(
        db,
      );
      // How far each chain was read, and by which blocks.
      await sql`create table loopstream.crypto_scans (
        network text primary key,
        height integer not null,
        hash text not null
      )`.execute(db);
      await sql`create table loopstream.crypto_blocks (
        network text not null,
        height integer not null,
        hash text not null,
        primary key (network, height)
      )`.execute(db);
      await sql`create table loopstream.crypto_payments (
        network text not null,
        txid text not null,
        index text not null,
        deposit_id text not null references loopstream.crypto_deposits,
        asset text,
        contract text,
        amount numeric(78, 0) not null check (amount > 0),
        at timestamptz not null,
        late boolean not null,
        state text not null,
        reason text,
        height integer,
        block_hash text,
        lost_height integer,
        reversals integer not null default 0,
        rate numeric(38, 0),
        credits numeric(38, 0),
        written_off numeric(38, 0) not null default 0,
        primary key (network, txid, index)
      )`.execute(db);
      await sql`create index crypto_payments_of_deposit on loopstream.crypto_payments (deposit_id)`.execute(db);
      await sql`create index crypto_payments_at_work on loopstream.crypto_payments (network)
        where state in ('seen', 'confirming', 'reorged') or (state = 'credited' and height is null)`.execute(db);
      await sql`create index crypto_payments_of_block on loopstream.crypto_payments (network, height)`.execute(db);
    },
  },
};
