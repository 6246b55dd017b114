/** Plans the sweep of Bitcoin: partially signed transactions (BIP 174) without any signature yet. */

import { p2wpkh, Transaction } from '@scure/btc-signer';
import pMap from 'p-map';
import type { Db } from '../../db/pool.ts';
import { createEsplora } from './esplora.ts';
import { type AddressMaker, bitcoinNetwork } from './keys.ts';
import type { BtcNetwork } from './spec.ts';
import * as store from './store.ts';
import { type Coin, planBtc } from './sweep.ts';

/** Blocks within which it is to be in one; there is no hurry. */
const FEE_BLOCKS = 6;
/** The fee rate when the server gives none. */
const FALLBACK_RATE = 10;
/** Addresses that are asked about at the same time. */
const AT_ONCE = 4;

export interface BtcPlan {
  network: string;
  to: string;
  /** In satoshi for a virtual byte. */
  feeRate: number;
  transactions: { amount: string; fee: string; inputs: number; psbt: string }[];
}

interface OwnCoin extends Coin {
  addressIndex: number;
}

/** Coins with all their confirmations. Throws for an address of another network. */
export async function sweepBtc(db: Db, network: BtcNetwork, addresses: AddressMaker, to: string): Promise<BtcPlan> {
  const esplora = createEsplora(network);
  const chain = bitcoinNetwork(network);
  const enough = (await esplora.height()) - network.confirmations + 1;
  const feeRate = (await esplora.feeRate(FEE_BLOCKS)) ?? FALLBACK_RATE;

  async function readCoins({ address, address_index: addressIndex }: store.DepositRow): Promise<OwnCoin[]> {
    return (await esplora.unspent(address)).flatMap(({ txid, vout, value, status }) =>
      status.confirmed && status.block_height <= enough
        ? [{ txid, index: vout, value: BigInt(value), addressIndex }]
        : [],
    );
  }

  function buildPsbt(inputs: readonly OwnCoin[], amount: bigint): string {
    const transaction = new Transaction();
    for (const { txid, index, value, addressIndex } of inputs) {
      const publicKey = addresses.publicKey(addressIndex);
      const { script } = p2wpkh(publicKey, chain);
      // The path is from the account's key on: nothing of what is above it is known here.
      const derivation = { fingerprint: addresses.fingerprint, path: [0, addressIndex] };
      transaction.addInput({
        txid,
        index,
        witnessUtxo: { script, amount: value },
        bip32Derivation: [[publicKey, derivation]],
      });
    }
    transaction.addOutputAddress(to, amount, chain);
    return Buffer.from(transaction.toPSBT()).toString('base64');
  }

  const rows = await store.allDeposits(db, addresses.keyId);
  const coins = (await pMap(rows, readCoins, { concurrency: AT_ONCE })).flat();
  const transactions = planBtc(coins, feeRate).map(({ inputs, amount, fee }) => ({
    amount: String(amount),
    fee: String(fee),
    inputs: inputs.length,
    psbt: buildPsbt(inputs, amount),
  }));
  return { network: network.network, to, feeRate, transactions };
}
