/** Tests the sweep plan, signed by the wallet that the server does not have: all money arrives at its target. */
import { Address, Transaction } from '@scure/btc-signer';
import { type Hex, type TransactionSerializableEIP1559, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bitcoinNetwork } from '../../../src/service/billing/crypto/keys.ts';
import type { BtcPlan } from '../../../src/service/billing/crypto/sweep-btc.ts';
import type { EvmPlan } from '../../../src/service/billing/crypto/sweep-evm.ts';
import { startEsplora } from '../../kit/fake/esplora.ts';
import { startTestDeposits, startTestEvm } from '../../kit/make/crypto.ts';
import { derivePublicKey, deriveWallet } from '../../kit/make/crypto-settings.ts';
import { transferData } from '../../kit/make/evm-token.ts';
import { whyNoAnvil } from '../../kit/real/anvil.ts';

const ETH = 10n ** 18n;
const COLD = '0x00000000000000000000000000000000c01dc01d';

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`of an EVM network${whyNot ? ` (${whyNot})` : ''}`, () => {
  test('moves coins and tokens, says what gas is missing, and names what came past the scanner', async () => {
    const it = await startTestEvm();
    onTestFinished(() => it.stop());
    const [coins, both, poor] = [await it.deposit('a'), await it.deposit('b'), await it.deposit('c')];
    await it.anvil.send(coins.address, ETH);
    await it.anvil.send(both.address, ETH);
    for (const { address } of [both, poor])
      await it.anvil.send(it.token, 0n, { data: transferData(address, 7_000_000n) });
    await it.anvil.mine(3);
    await it.scan();
    // Simulates coins sent by a contract.
    await it.anvil.rpc('anvil_setBalance', coins.address, toHex(3n * ETH));
    const plan = (await it.sweep(COLD)) as EvmPlan;
    expect(plan.differences).toEqual([
      { deposit: coins.id, address: coins.address, asset: 'ETH', balance: String(3n * ETH), recorded: String(ETH) },
    ]);
    expect(plan.transactions.map(({ from, asset, transaction }) => [from, asset, transaction.nonce])).toEqual([
      [coins.address, 'ETH', 0],
      [both.address, 'USDT', 0],
      [both.address, 'ETH', 1],
      [poor.address, 'USDT', 0],
    ]);
    const missing = plan.transactions.map(({ missingWei }) => BigInt(missingWei));
    expect(missing.map((wei) => wei > 0n)).toEqual([false, false, false, true]);

    await it.anvil.send(poor.address, missing[3] ?? 0n);
    await it.anvil.mine();
    for (const { path, from, transaction } of plan.transactions) {
      const wallet = privateKeyToAccount(toHex(deriveWallet(`m/44'/60'/0'/${path}`).privateKey as Uint8Array));
      expect(wallet.address).toBe(from);
      const { value, gas, maxFeePerGas, maxPriorityFeePerGas, to, data, ...rest } = transaction;
      const big = { value: BigInt(value), gas: BigInt(gas), maxFeePerGas: BigInt(maxFeePerGas) };
      const tip = { maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) };
      const unsigned = { ...rest, ...big, ...tip, to: to as Hex, data: data as Hex } as TransactionSerializableEIP1559;
      await it.anvil.rpc('eth_sendRawTransaction', await wallet.signTransaction(unsigned));
    }
    await it.anvil.mine();
    const held = BigInt(await it.anvil.rpc<Hex>('eth_getBalance', COLD, 'latest'));
    expect(held > 4n * ETH - ETH / 100n && held < 4n * ETH).toBe(true);
    const call = { to: it.token, data: `0x70a08231${COLD.slice(2).padStart(64, '0')}` };
    expect(BigInt(await it.anvil.rpc<Hex>('eth_call', call, 'latest'))).toBe(14_000_000n);
    for (const wrong of [
      '0x12',
      'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
      '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB49',
    ])
      await expect(it.sweep(wrong)).rejects.toThrow('--to must be an address of the network.');
  });
});

test('of Bitcoin is a PSBT that the wallet can sign as it is', async () => {
  const esplora = await startEsplora();
  const it = await startTestDeposits({
    network: 'bitcoin',
    kind: 'btc',
    chain: 'regtest',
    esploraUrl: esplora.url,
    confirmations: 2,
    xpub: derivePublicKey("m/84'/1'/0'", { private: 0x045f18bc, public: 0x045f1cf6 }),
  });
  onTestFinished(async () => {
    await it.stop();
    await esplora.stop();
  });
  await it.scan();
  const [first, second] = [await it.deposit('a'), await it.deposit('b')];
  for (const value of [50_000, 100]) esplora.pay({ address: first.address, value });
  esplora.pay({ address: second.address, value: 70_000 });
  esplora.mine(2);
  // A payment with too few confirmations.
  esplora.pay({ address: second.address, value: 90_000 });
  esplora.mine(1);
  const network = bitcoinNetwork({ chain: 'regtest' });
  const to = Address(network).encode({ type: 'wpkh', hash: new Uint8Array(20).fill(3) });
  const plan = (await it.sweep(to)) as BtcPlan;
  expect(plan).toMatchObject({ feeRate: 4.051, transactions: [{ inputs: 2 }] });
  const [{ psbt, amount, fee } = { psbt: '', amount: '', fee: '' }] = plan.transactions;
  expect(BigInt(amount) + BigInt(fee)).toBe(120_000n);

  const transaction = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
  for (let n = 0; n < transaction.inputsLength; n += 1) {
    const [, { path }] = transaction.getInput(n).bip32Derivation?.[0] ?? [new Uint8Array(), { path: [] as number[] }];
    const key = deriveWallet(`m/84'/1'/0'/${path.join('/')}`).privateKey as Uint8Array;
    expect(transaction.signIdx(key, n)).toBe(true);
  }
  transaction.finalize();
  expect(transaction.fee).toBe(BigInt(fee));
  expect(transaction.vsize).toBeLessThanOrEqual(2 * 68 + 54);
  expect(Number(fee) / transaction.vsize).toBeGreaterThanOrEqual(4.051);
  await expect(it.sweep(COLD)).rejects.toThrow('--to must be an address of the network.');
});
