/**
 * Creates the ledger's tables. The database enforces the rules of a ledger for every writer: nothing is updated or
 * deleted, and balances move by entries alone. Each transaction sums to 0 when it is committed and takes no entries
 * later. The owner of the tables could still drop the triggers; `loopstream admin reconcile` shows changes made that
 * way.
 *
 * Errors have codes of their own (billing/ledger/store.ts knows them): LS001 append-only, LS002 an entry without its
 * transaction, LS003 a sum that is not 0, LS402 below the floor, LS409 a key used for something else.
 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedToOnly, refusal } from './append-only.ts';

const TABLES = [
  `create table loopstream.ledger_transactions (
    id uuid primary key default gen_random_uuid(),
    key text not null unique check (key <> ''),
    kind text not null
      check (kind in ('charge', 'topup', 'deposit', 'grant', 'refund', 'dispute', 'correction', 'writeoff')),
    account_id text,
    at timestamptz not null,
    posted_at timestamptz not null default now(),
    -- The database's transaction that it came with: only that one may add its entries.
    posted_in xid8 not null default pg_current_xact_id(),
    -- How far down it may take a customer; the balance's own floor without it.
    floor numeric(38, 0),
    details jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
  )`,
  `create index ledger_transactions_account on loopstream.ledger_transactions (account_id, at)`,
  `create table loopstream.ledger_entries (
    transaction_id uuid not null references loopstream.ledger_transactions,
    position smallint not null,
    account text not null check (account <> ''),
    credits numeric(38, 0) not null check (credits <> 0),
    -- Of a customer's account: 1 for its first entry and so on without a gap, and the balance after it.
    number bigint,
    balance numeric(38, 0),
    primary key (transaction_id, position)
  )`,
  `create unique index ledger_entries_number on loopstream.ledger_entries (account, number) where number is not null`,
  // Only what has a floor has a row: one for the revenue of all would be what every charge waits for.
  `create table loopstream.ledger_balances (
    account text primary key check (account like 'customer:%'),
    balance numeric(38, 0) not null default 0,
    entries bigint not null default 0,
    floor numeric(38, 0) not null default 0
  ) with (fillfactor = 50)`,
];

const APPEND_ONLY = [
  refusal('ledger_refuse', 'The ledger is only added to: % of % is refused.', 'lower(tg_op)', 'tg_table_name'),
  ...addedToOnly('ledger_transactions', 'append_only', 'ledger_refuse'),
  ...addedToOnly('ledger_entries', 'append_only', 'ledger_refuse'),
  `create trigger kept before delete or truncate on loopstream.ledger_balances
    for each statement execute function loopstream.ledger_refuse()`,
  `alter table loopstream.ledger_balances enable always trigger kept`,
  `create function loopstream.ledger_guard_balance() returns trigger language plpgsql as $$
  begin
    -- From an entry's trigger, or a new floor for a balance that stays what it is.
    if pg_trigger_depth() > 1 then return new; end if;
    if tg_op = 'UPDATE' and (new.account, new.balance, new.entries) = (old.account, old.balance, old.entries) then
      return new;
    end if;
    raise exception 'A balance moves by entries alone.' using errcode = 'LS001';
  end $$`,
  `create trigger by_entries before insert or update on loopstream.ledger_balances
    for each row execute function loopstream.ledger_guard_balance()`,
  `alter table loopstream.ledger_balances enable always trigger by_entries`,
];

const ENTRIES = [
  `create function loopstream.ledger_enter() returns trigger language plpgsql as $$
  declare
    t record;
  begin
    select x.floor, x.posted_in into t from loopstream.ledger_transactions x where x.id = new.transaction_id;
    if t.posted_in is distinct from pg_current_xact_id() then
      raise exception 'Entries come with their transaction, not later.' using errcode = 'LS002';
    end if;
    new.number := null;
    new.balance := null;
    if new.account not like 'customer:%' then return new; end if;
    -- The second time, where the account had no row before.
    for attempt in 1..2 loop
      update loopstream.ledger_balances b
        set balance = b.balance + new.credits, entries = b.entries + 1
        where b.account = new.account and (new.credits > 0 or b.balance + new.credits >= coalesce(t.floor, b.floor))
        returning b.entries, b.balance into new.number, new.balance;
      if found then return new; end if;
      insert into loopstream.ledger_balances (account) values (new.account) on conflict (account) do nothing;
    end loop;
    raise exception 'The balance of % would fall below its floor.', new.account using errcode = 'LS402';
  end $$`,
  `create trigger enter before insert on loopstream.ledger_entries
    for each row execute function loopstream.ledger_enter()`,
  `create function loopstream.ledger_balanced() returns trigger language plpgsql as $$
  declare
    of_transaction uuid;
    total numeric;
  begin
    if tg_table_name = 'ledger_entries' then of_transaction := new.transaction_id; else of_transaction := new.id; end if;
    select sum(e.credits) into total from loopstream.ledger_entries e where e.transaction_id = of_transaction;
    if total is distinct from 0 then
      raise exception 'The transaction % sums to %, not to 0.', of_transaction, total using errcode = 'LS003';
    end if;
    return null;
  end $$`,
  ...['ledger_transactions', 'ledger_entries'].flatMap((table) => [
    `create constraint trigger balanced after insert on loopstream.${table} deferrable initially deferred
      for each row execute function loopstream.ledger_balanced()`,
    `alter table loopstream.${table} enable always trigger balanced`,
  ]),
];

/** In one round trip each. A customer's row is locked before the key is claimed, always in this order, so that nothing deadlocks. */
const FUNCTIONS = [
  `create function loopstream.ledger_post(
    p_key text, p_kind text, p_account_id text, p_at timestamptz, p_details jsonb,
    p_accounts text[], p_credits numeric[], p_floor numeric,
    out id uuid, out posted boolean, out balance numeric
  ) language plpgsql as $$
  begin
    perform 1 from loopstream.ledger_balances b where b.account = any (p_accounts)
      order by b.account collate "C" for update;
    insert into loopstream.ledger_transactions as t (key, kind, account_id, at, details, floor)
      values (p_key, p_kind, p_account_id, p_at, p_details, p_floor)
      on conflict (key) do nothing returning t.id into id;
    posted := found;
    if posted then
      insert into loopstream.ledger_entries (transaction_id, position, account, credits)
        select ledger_post.id, e.position, e.account, e.credits
        from unnest(p_accounts, p_credits) with ordinality as e (account, credits, position) order by e.position;
    else
      select t.id into id from loopstream.ledger_transactions t
        where t.key = p_key and t.kind = p_kind and t.account_id is not distinct from p_account_id
          and (select (array_agg(e.account order by e.position), array_agg(e.credits order by e.position))
            from loopstream.ledger_entries e where e.transaction_id = t.id) = (p_accounts, p_credits);
      if not found then
        raise exception 'The key % stands for another transaction.', p_key using errcode = 'LS409';
      end if;
    end if;
    select b.balance into balance from loopstream.ledger_balances b where b.account = 'customer:' || p_account_id;
    balance := coalesce(balance, 0);
  end $$`,
  `create function loopstream.ledger_charge(
    p_key text, p_account_id text, p_credits numeric, p_at timestamptz, p_details jsonb, p_floor numeric,
    out id uuid, out posted boolean, out balance numeric, out charged numeric, out written_off numeric
  ) language plpgsql as $$
  declare
    customer text := 'customer:' || p_account_id;
    room numeric;
  begin
    select b.balance, b.balance - coalesce(p_floor, b.floor) into balance, room
      from loopstream.ledger_balances b where b.account = customer for update;
    balance := coalesce(balance, 0);
    insert into loopstream.ledger_transactions as t (key, kind, account_id, at, details, floor)
      values (p_key, 'charge', p_account_id, p_at, p_details, p_floor)
      on conflict (key) do nothing returning t.id into id;
    posted := found;
    if posted then
      charged := least(p_credits, greatest(0, coalesce(room, -p_floor, 0)));
      written_off := p_credits - charged;
      balance := balance - charged;
      insert into loopstream.ledger_entries (transaction_id, position, account, credits)
        select ledger_charge.id, e.position, e.account, e.credits
        from (values (1, customer, -charged), (2, 'revenue:streaming', p_credits), (3, 'writeoff', -written_off))
          as e (position, account, credits)
        where e.credits <> 0 order by e.position;
    else
      select t.id, coalesce(-sum(e.credits) filter (where e.account = customer), 0),
          coalesce(-sum(e.credits) filter (where e.account = 'writeoff'), 0)
        into id, charged, written_off
        from loopstream.ledger_transactions t join loopstream.ledger_entries e on e.transaction_id = t.id
        where t.key = p_key and t.kind = 'charge' and t.account_id = p_account_id
        group by t.id having sum(e.credits) filter (where e.account = 'revenue:streaming') = p_credits;
      if not found then
        raise exception 'The key % stands for another transaction.', p_key using errcode = 'LS409';
      end if;
    end if;
  end $$`,
];

export const ledgerMigrations: Record<string, Migration> = {
  '0005-ledger': {
    async up(db: Kysely<unknown>) {
      for (const statement of [...TABLES, ...APPEND_ONLY, ...ENTRIES, ...FUNCTIONS])
        await sql.raw(statement).execute(db);
    },
  },
};
