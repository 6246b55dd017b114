/**
 * Plans the sweep of an EVM network: asks the node for each address's balance and the current cost of a transaction.
 */
import type { Hex } from 'viem';
import { hexToBigInt, hexToNumber, numberToHex, padHex } from 'viem/utils';
import type { Db } from '../../db/pool.ts';
import { ChainError } from './chain.ts';
import { createRpc } from './rpc.ts';
import { type AssetSetting, type EvmNetwork, listAssets } from './spec.ts';
import * as store from './store.ts';
import { type EvmTransaction, type Holding, planEvm, type SweepDifference } from './sweep.ts';

/** transfer(address,uint256) and balanceOf(address): ERC-20. */
const TRANSFER = '0xa9059cbb';
const BALANCE = '0x70a08231';
/** The gas of a token transfer when the node cannot estimate it. */
const TOKEN_GAS = 100_000n;
/** Addresses that are asked about at the same time. */
const AT_ONCE = 50;

export interface EvmPlan {
  network: string;
  chainId: number;
  to: string;
  transactions: EvmTransaction[];
  differences: SweepDifference[];
}

const word = (hex: Hex): string => padHex(hex).slice(2);

export async function sweepEvm(db: Db, network: EvmNetwork, keyId: string, to: string): Promise<EvmPlan> {
  const ask = createRpc(network);
  const assets = listAssets(network);
  const coin = assets.find(({ contract }) => contract === undefined)?.asset ?? 'the coin';
  const chainId = hexToNumber(await ask<Hex>('eth_chainId', []));
  if (chainId !== network.chainId)
    throw new ChainError(`The node of ${network.network} belongs to another chain (id ${chainId}).`);

  const block = await ask<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', ['latest', false]);
  const maxPriorityFeePerGas = hexToBigInt(await ask<Hex>('eth_maxPriorityFeePerGas', []));
  // Twice the base fee holds for six full blocks.
  const fees = { maxPriorityFeePerGas, maxFeePerGas: 2n * hexToBigInt(block.baseFeePerGas) + maxPriorityFeePerGas };

  async function readToken(address: string, asset: AssetSetting) {
    const call = { to: asset.contract, data: `${BALANCE}${word(address as Hex)}` };
    const balance = hexToBigInt(await ask<Hex>('eth_call', [call, 'latest']));
    const data = `${TRANSFER}${word(to as Hex)}${word(numberToHex(balance))}`;
    if (balance === 0n) return { asset, balance, gas: 0n, data };
    const gas = await ask<Hex>('eth_estimateGas', [{ from: address, to: asset.contract, data }]).then(
      // A little more: what it takes depends on what the contract holds when it comes to it.
      (estimate) => (hexToBigInt(estimate) * 6n) / 5n,
      () => TOKEN_GAS,
    );
    return { asset, balance, gas, data };
  }

  async function readHolding({ address, address_index: index }: store.DepositRow): Promise<Holding> {
    const tokens = assets.filter(({ contract }) => contract !== undefined);
    const [balance, nonce, ...held] = await Promise.all([
      ask<Hex>('eth_getBalance', [address, 'latest']),
      ask<Hex>('eth_getTransactionCount', [address, 'latest']),
      ...tokens.map((asset) => readToken(address, asset)),
    ]);
    const path = `0/${index}`;
    return { address, path, nonce: hexToNumber(nonce), balance: hexToBigInt(balance), tokens: held };
  }

  /** Compares the balance with the transfers seen in the blocks that were read. */
  function findDifferences(row: store.DepositRow, { balance, tokens }: Holding, payments: readonly store.PaymentRow[]) {
    const held = [{ asset: coin, balance }, ...tokens.map((one) => ({ asset: one.asset.asset, balance: one.balance }))];
    return held.flatMap(({ asset, balance }): SweepDifference[] => {
      const seen = payments.filter(
        (one) => one.network === network.network && one.asset === asset && one.height !== null,
      );
      const recorded = seen.reduce((sum, { amount }) => sum + amount, 0n);
      if (balance <= recorded) return [];
      return [{ deposit: row.id, address: row.address, asset, balance: String(balance), recorded: String(recorded) }];
    });
  }

  const rows = await store.allDeposits(db, keyId);
  const plan: EvmPlan = { network: network.network, chainId, to, transactions: [], differences: [] };
  for (let i = 0; i < rows.length; i += AT_ONCE) {
    const some = rows.slice(i, i + AT_ONCE);
    const ids = some.map(({ id }) => id);
    const payments = Map.groupBy(await store.listPayments(db, ids), ({ deposit_id }) => deposit_id);
    for (const [n, holding] of (await Promise.all(some.map(readHolding))).entries()) {
      const row = some[n] as store.DepositRow;
      plan.transactions.push(...planEvm(holding, { chainId, to, coin, fees }));
      plan.differences.push(...findDifferences(row, holding, payments.get(row.id) ?? []));
    }
  }
  return plan;
}
