/** Queries crypto deposits with SQL: first for the API, then for the scanner. */
import { sql } from 'kysely';
import type { Db } from '../../db/pool.ts';
import type { IgnoredReason, PaymentState } from './spec.ts';

export interface DepositRow {
  id: string;
  account_id: string;
  network: string;
  asset: string;
  decimals: number;
  address: string;
  /** The form of the address that the scanner looks for. */
  address_key: string;
  key_id: string;
  address_index: number;
  /** Asked for, in the smallest unit; null: anything. */
  amount: bigint | null;
  /** The worth of `amount` at `rate`. */
  credits: bigint | null;
  /** See amounts.ts. */
  rate: bigint;
  expires_at: Date;
  created_at: Date;
}

export interface PaymentRow {
  network: string;
  txid: string;
  index: string;
  deposit_id: string;
  /** Null for a token that is not taken. */
  asset: string | null;
  contract: string | null;
  amount: bigint;
  /** When it was first known of: its block's time, or ours when that is earlier. */
  at: Date;
  /** It came after the quote had expired. */
  late: boolean;
  state: PaymentState;
  reason: IgnoredReason | null;
  height: number | null;
  block_hash: string | null;
  lost_height: number | null;
  reversals: number;
  /** Null until it is known: late payments have the rate of the time when they are credited. */
  rate: bigint | null;
  credits: bigint | null;
  /** The part that its reversal could not take back. */
  written_off: bigint;
}

/** Takes the next index of a key. Concurrent callers wait, and get the following one; a rollback returns the index. */
export async function takeIndex(trx: Db, keyId: string): Promise<number> {
  const { rows } = await sql<{ index: number }>`
    insert into loopstream.crypto_keys as k (key_id, next_index) values (${keyId}, 1)
    on conflict (key_id) do update set next_index = k.next_index + 1
    returning next_index - 1 as index`.execute(trx);
  return (rows[0] as { index: number }).index;
}

export async function insertDeposit(trx: Db, row: DepositRow): Promise<void> {
  await sql`insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key,
      key_id, address_index, amount, credits, rate, expires_at, created_at)
    values (${row.id}, ${row.account_id}, ${row.network}, ${row.asset}, ${row.decimals}, ${row.address},
      ${row.address_key}, ${row.key_id}, ${row.address_index}, ${row.amount}, ${row.credits}, ${row.rate},
      ${row.expires_at}, ${row.created_at})`.execute(trx);
}

export async function listDeposits(db: Db, accountId: string, id?: string): Promise<DepositRow[]> {
  const { rows } = await sql<DepositRow>`select * from loopstream.crypto_deposits
    where account_id = ${accountId} and (${id ?? null}::text is null or id = ${id ?? null})
    order by created_at, id`.execute(db);
  return rows;
}

/** Lists the payments of these deposits, in the order in which they came. */
export async function listPayments(db: Db, depositIds: readonly string[]): Promise<PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`select * from loopstream.crypto_payments
    where deposit_id = any(${depositIds}) order by at, txid, index`.execute(db);
  return rows;
}

/** Deposits that may still be paid at their rate and have not been. Other requests of the account wait for this one's end. */
export async function countOpen(trx: Db, accountId: string, now: Date): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`crypto ${accountId}`}, 0))`.execute(trx);
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from loopstream.crypto_deposits d
    where account_id = ${accountId} and expires_at > ${now}
      and not exists (select from loopstream.crypto_payments p where p.deposit_id = d.id)`.execute(trx);
  return (rows[0] as { count: number }).count;
}

export interface AddressPlace {
  height: number;
  hash: string;
}

/** Up to where each chain was read. */
export async function readScans(db: Db): Promise<Map<string, AddressPlace>> {
  const { rows } = await sql<AddressPlace & { network: string }>`
    select network, height, hash from loopstream.crypto_scans`.execute(db);
  return new Map(rows.map(({ network, ...place }) => [network, place]));
}

/** Nothing when somebody else has begun. */
export async function beginScan(db: Db, network: string, { height, hash }: AddressPlace): Promise<void> {
  await sql`with begun as (
      insert into loopstream.crypto_scans (network, height, hash) values (${network}, ${height}, ${hash})
      on conflict do nothing returning network, height, hash)
    insert into loopstream.crypto_blocks (network, height, hash) select * from begun`.execute(db);
}

/** Blocks that are kept of each chain: more than any reorganisation has changed. */
const KEPT_BLOCKS = 2_000;

/** False, and nothing has changed, when somebody else has moved it from `from`. */
export async function moveScan(
  trx: Db,
  network: string,
  from: AddressPlace,
  blocks: readonly AddressPlace[],
): Promise<boolean> {
  const to = blocks.at(-1) ?? from;
  const { numAffectedRows } = await sql`update loopstream.crypto_scans set height = ${to.height}, hash = ${to.hash}
    where network = ${network} and height = ${from.height} and hash = ${from.hash}`.execute(trx);
  if (numAffectedRows !== 1n) return false;
  await sql`delete from loopstream.crypto_blocks where network = ${network}
    and (height > ${from.height} or height < ${to.height - KEPT_BLOCKS})`.execute(trx);
  await sql`insert into loopstream.crypto_blocks (network, height, hash)
    select ${network}, * from unnest(${blocks.map(({ height }) => height)}::integer[],
      ${blocks.map(({ hash }) => hash)}::text[])`.execute(trx);
  return true;
}

/** The chain is another one above `to`. False as moveScan. */
export async function rewindScan(trx: Db, network: string, from: AddressPlace, to: AddressPlace): Promise<boolean> {
  const { numAffectedRows } = await sql`update loopstream.crypto_scans set height = ${to.height}, hash = ${to.hash}
    where network = ${network} and height = ${from.height} and hash = ${from.hash}`.execute(trx);
  if (numAffectedRows !== 1n) return false;
  await sql`delete from loopstream.crypto_blocks
    where network = ${network} and height > ${to.height}`.execute(trx);
  return true;
}

/** The latest blocks that were read, the highest first: at or below `height`. */
export async function listBlocks(db: Db, network: string, height: number, limit: number): Promise<AddressPlace[]> {
  const { rows } = await sql<AddressPlace>`select height, hash from loopstream.crypto_blocks
    where network = ${network} and height <= ${height} order by height desc limit ${limit}`.execute(db);
  return rows;
}

/** Addresses of deposits on these networks, made after `since`. */
export async function listAddresses(db: Db, networks: readonly string[], since = new Date(0)): Promise<string[]> {
  const { rows } = await sql<{ address_key: string }>`select address_key from loopstream.crypto_deposits
    where network = any(${networks}) and created_at >= ${since}`.execute(db);
  return rows.map(({ address_key }) => address_key);
}

export async function findDeposits(db: Db, addressKeys: readonly string[]): Promise<Map<string, DepositRow>> {
  const { rows } = await sql<DepositRow>`select * from loopstream.crypto_deposits
    where address_key = any(${addressKeys})`.execute(db);
  return new Map(rows.map((row) => [row.address_key, row]));
}

/** All deposits with addresses of this key, on any network. */
export async function allDeposits(db: Db, keyId: string): Promise<DepositRow[]> {
  const { rows } = await sql<DepositRow>`select * from loopstream.crypto_deposits
    where key_id = ${keyId} order by address_index`.execute(db);
  return rows;
}

/** Those of these transactions, which nobody else changes until the end of the transaction. */
export async function lockPayments(trx: Db, network: string, txids: readonly string[]): Promise<PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`select * from loopstream.crypto_payments
    where network = ${network} and txid = any(${txids}) order by txid, index for update`.execute(trx);
  return rows;
}

/** Locks a payment and returns its current row. */
export async function lockPayment(trx: Db, row: PaymentRow): Promise<PaymentRow | undefined> {
  const { rows } = await sql<PaymentRow>`select * from loopstream.crypto_payments
    where network = ${row.network} and txid = ${row.txid} and index = ${row.index} for update`.execute(trx);
  return rows[0];
}

/** Those in blocks above `height`. */
export async function lockPaymentsAbove(trx: Db, network: string, height: number): Promise<PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`select * from loopstream.crypto_payments
    where network = ${network} and height > ${height} order by txid, index for update`.execute(trx);
  return rows;
}

/** How many of a deposit's payments are of tokens that are not taken. */
export async function countIgnored(trx: Db, depositIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ deposit_id: string; count: number }>`select deposit_id, count(*)::integer as count
    from loopstream.crypto_payments where deposit_id = any(${depositIds}) and reason = 'wrong_token'
    group by deposit_id`.execute(trx);
  return new Map(rows.map(({ deposit_id, count }) => [deposit_id, count]));
}

/** Writes the mutable fields of a payment as the row has them; its immutable fields are written once. */
export async function writePayments(trx: Db, rows: readonly PaymentRow[]): Promise<void> {
  if (rows.length === 0) return;
  const list = JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
  await sql`insert into loopstream.crypto_payments
    select * from jsonb_populate_recordset(null::loopstream.crypto_payments, ${list}::jsonb)
    on conflict (network, txid, index) do update set state = excluded.state, reason = excluded.reason,
      height = excluded.height, block_hash = excluded.block_hash, lost_height = excluded.lost_height,
      reversals = excluded.reversals, rate = excluded.rate, credits = excluded.credits,
      written_off = excluded.written_off`.execute(trx);
}

/** Those of which something is still to come: on their way, or credited and no more in the chain. */
export async function paymentsAtWork(db: Db, network: string): Promise<PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`select * from loopstream.crypto_payments
    where network = ${network} and (state in ('seen', 'confirming', 'reorged') or (state = 'credited' and height is null))
    order by at, txid, index`.execute(db);
  return rows;
}

export async function depositsById(db: Db, ids: readonly string[]): Promise<DepositRow[]> {
  const { rows } = await sql<DepositRow>`select * from loopstream.crypto_deposits where id = any(${ids})`.execute(db);
  return rows;
}
