/**
 * Plans the collection of deposits: unsigned transactions for the operator of the service, whose keys are elsewhere.
 * Nothing is sent, and nothing is stored. Pure: no I/O, no clock.
 */
import type { AssetSetting } from './spec.ts';

/** The gas of a coin transfer (yellow paper, G_transaction). */
export const COIN_GAS = 21_000n;

export interface Fees {
  /** In wei for each unit of gas. */
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** An address of a deposit, as the node has it. */
export interface Holding {
  address: string;
  /** Below the account's key: `0/<index>`. */
  path: string;
  nonce: number;
  /** The balance of the coin, in wei. */
  balance: bigint;
  tokens: readonly { asset: AssetSetting; balance: bigint; gas: bigint; data: string }[];
}

/** JSON as wallets and signers take it; numbers as texts. */
export interface EvmTransaction {
  from: string;
  path: string;
  asset: string;
  /** The amount that arrives, in the asset's smallest unit. */
  amount: string;
  /** Wei that have to be sent to `from` first, so that it can pay for its gas. */
  missingWei: string;
  transaction: {
    type: 'eip1559';
    chainId: number;
    nonce: number;
    to: string;
    value: string;
    data: string;
    gas: string;
    maxFeePerGas: string;
    maxPriorityFeePerGas: string;
  };
}

export interface EvmGoal {
  chainId: number;
  /** The address that receives everything. */
  to: string;
  /** The asset that is the network's coin. */
  coin: string;
  fees: Fees;
}

/** Tokens first, which need the coin for their gas; the coin goes when all of that is paid for and something is left. */
export function planEvm({ address, path, nonce, balance, tokens }: Holding, goal: EvmGoal): EvmTransaction[] {
  const { chainId, to, coin, fees } = goal;
  const price = { maxFeePerGas: String(fees.maxFeePerGas), maxPriorityFeePerGas: String(fees.maxPriorityFeePerGas) };
  const plan: EvmTransaction[] = [];
  let left = balance;
  for (const { asset, balance: held, gas, data } of tokens) {
    if (held === 0n || asset.contract === undefined) continue;
    const cost = gas * fees.maxFeePerGas;
    const missing = cost > left ? cost - left : 0n;
    left = cost > left ? 0n : left - cost;
    plan.push({
      from: address,
      path,
      asset: asset.asset,
      amount: String(held),
      missingWei: String(missing),
      transaction: {
        type: 'eip1559',
        chainId,
        nonce: nonce + plan.length,
        to: asset.contract,
        value: '0',
        data,
        gas: String(gas),
        ...price,
      },
    });
  }
  const cost = COIN_GAS * fees.maxFeePerGas;
  if (left <= cost) return plan;
  const value = String(left - cost);
  plan.push({
    from: address,
    path,
    asset: coin,
    amount: value,
    missingWei: '0',
    transaction: {
      type: 'eip1559',
      chainId,
      nonce: nonce + plan.length,
      to,
      value,
      data: '0x',
      gas: String(COIN_GAS),
      ...price,
    },
  });
  return plan;
}

/** A balance beyond the transfers that were seen: coins that a contract sent on, above all (evm.ts has the limit). */
export interface SweepDifference {
  deposit: string;
  address: string;
  asset: string;
  balance: string;
  recorded: string;
}

// Virtual bytes of a transaction that spends native segwit outputs of one key (BIP 141), rounded up.
const INPUT_VBYTES = 68;
const REST_VBYTES = 11 + 43;
/** Outputs below it are not passed on by nodes. */
const DUST = 546n;
/** Inputs of one transaction: a tenth of what nodes pass on. */
const MAX_INPUTS = 140;

export interface Coin {
  txid: string;
  index: number;
  value: bigint;
}

export interface Bundle<T extends Coin> {
  inputs: T[];
  amount: bigint;
  fee: bigint;
}

/**
 * Transactions' worth of coins, the largest first; `feeRate` in satoshi for a virtual byte. A coin that costs more to spend
 * than it holds is left where it is.
 */
export function planBtc<T extends Coin>(coins: readonly T[], feeRate: number): Bundle<T>[] {
  const worth = coins.filter(({ value }) => value > BigInt(Math.ceil(INPUT_VBYTES * feeRate)));
  const sorted = worth.toSorted((a, b) => Number(b.value - a.value) || (a.txid < b.txid ? -1 : 1));
  const bundles: Bundle<T>[] = [];
  for (let i = 0; i < sorted.length; i += MAX_INPUTS) {
    const inputs = sorted.slice(i, i + MAX_INPUTS);
    const fee = BigInt(Math.ceil((inputs.length * INPUT_VBYTES + REST_VBYTES) * feeRate));
    const amount = inputs.reduce((sum, { value }) => sum + value, 0n) - fee;
    if (amount >= DUST) bundles.push({ inputs, amount, fee });
  }
  return bundles;
}
