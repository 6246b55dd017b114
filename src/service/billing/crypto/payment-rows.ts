/** Updates the rows of payments from the transfers that a chain shows. Pure: no I/O, no clock. */
import { creditsFor, MAX_CREDITS } from './amounts.ts';
import type { Transfer } from './chain.ts';
import { beginPayment, losePayment, type TransferSighting, updatePayment } from './payment-states.ts';
import { type AssetSetting, assetFor, type IgnoredReason, MAX_IGNORED, type NetworkSetting } from './spec.ts';
import type { DepositRow, PaymentRow } from './store.ts';

/** A transfer, and where it was seen. */
export interface SeenTransfer extends Transfer {
  block: { height: number; hash: string; time: Date } | undefined;
}

export interface KnownDeposits {
  network: NetworkSetting;
  creditsPerUnit: bigint;
  now: Date;
  /** By the keys of their addresses. */
  deposits: ReadonlyMap<string, DepositRow>;
  /** The payments of the same transactions. */
  payments: readonly PaymentRow[];
  /** By the ids of deposits: how many of their payments are of tokens that are not taken. */
  ignored: ReadonlyMap<string, number>;
}

const getKey = ({ txid, index }: { txid: string; index: string }): string => `${txid} ${index}`;

/** Why an amount is not credited; undefined when it is. */
export function findIgnoredReason(amount: bigint, asset: AssetSetting, rate: bigint | null, creditsPerUnit: bigint) {
  if (amount < BigInt(asset.minimum ?? 0)) return 'dust';
  if (rate === null) return undefined;
  const credits = creditsFor(amount, { rate, decimals: asset.decimals, creditsPerUnit });
  if (credits === 0n) return 'dust';
  return credits > MAX_CREDITS ? 'too_large' : undefined;
}

/** A transfer that nothing is known of. */
function first(seen: SeenTransfer, deposit: DepositRow, { network, now, creditsPerUnit }: KnownDeposits): PaymentRow {
  const asset = assetFor(network, seen.contract);
  // A block's time may be off by hours, and is then not to be in the customer's disfavour.
  const at = seen.block && seen.block.time < now ? seen.block.time : now;
  const late = at > deposit.expires_at;
  // The quote is for one asset on one network; what came in another way is worth what it is worth when it is credited.
  const isAsked = asset?.asset === deposit.asset && network.network === deposit.network;
  const rate = isAsked && !late ? deposit.rate : null;
  const reason: IgnoredReason | undefined =
    asset === undefined ? 'wrong_token' : findIgnoredReason(seen.amount, asset, rate, creditsPerUnit);
  const { height, state, lostHeight, reversals } = beginPayment(toSighting(seen), reason);
  return {
    network: network.network,
    txid: seen.txid,
    index: seen.index,
    deposit_id: deposit.id,
    asset: asset?.asset ?? null,
    contract: seen.contract ?? null,
    amount: seen.amount,
    at,
    late,
    state,
    reason: reason ?? null,
    height,
    block_hash: seen.block?.hash ?? null,
    lost_height: lostHeight,
    reversals,
    rate,
    credits: null,
    written_off: 0n,
  };
}

const toSighting = ({ block }: SeenTransfer): TransferSighting =>
  block === undefined ? 'pending' : { height: block.height };

/** Returns the part of a row that the state machine uses. */
export const toPayment = (row: PaymentRow) => ({
  state: row.state,
  height: row.height,
  lostHeight: row.lost_height,
  reversals: row.reversals,
});

function again(seen: SeenTransfer, row: PaymentRow): PaymentRow {
  const { state, height, lostHeight } = updatePayment(toPayment(row), toSighting(seen));
  const blockHash = height === null ? null : (seen.block?.hash ?? row.block_hash);
  return { ...row, state, height, lost_height: lostHeight, block_hash: blockHash };
}

/** The row of a payment whose block has left the chain. */
export function loseRow(row: PaymentRow): PaymentRow {
  const { state, height, lostHeight } = losePayment(toPayment(row));
  return { ...row, state, height, lost_height: lostHeight, block_hash: null };
}

const isSame = (a: PaymentRow, b: PaymentRow): boolean =>
  a.state === b.state && a.height === b.height && a.block_hash === b.block_hash && a.lost_height === b.lost_height;

/** The rows that are new or not as they were. Transfers to addresses of no deposit are nobody's. */
export function updateRows(all: readonly SeenTransfer[], known: KnownDeposits): PaymentRow[] {
  const rows = new Map(known.payments.map((row) => [getKey(row), row]));
  const ignored = new Map(known.ignored);
  const changed = new Map<string, PaymentRow>();
  for (const seen of all) {
    const deposit = known.deposits.get(seen.to);
    if (deposit === undefined || seen.amount <= 0n) continue;
    const key = getKey(seen);
    const before = rows.get(key);
    const row = before ? again(seen, before) : first(seen, deposit, known);
    if (before && isSame(before, row)) continue;
    if (!before && row.reason === 'wrong_token') {
      const count = ignored.get(deposit.id) ?? 0;
      if (count >= MAX_IGNORED) continue;
      ignored.set(deposit.id, count + 1);
    }
    rows.set(key, row);
    changed.set(key, row);
  }
  return [...changed.values()];
}
