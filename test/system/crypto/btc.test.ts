/**
 * Tests Bitcoin deposits with a stand-in for Esplora's API: the same rules as on other chains, and payments that are in no block yet.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Esplora, startEsplora } from '../../kit/fake/esplora.ts';
import { startTestDeposits, type TestCrypto } from '../../kit/make/crypto.ts';
import { derivePublicKey } from '../../kit/make/crypto-settings.ts';

/** 60,000 dollars at 10,000 credits each, over 10⁸ satoshi. */
const CREDITS_OF_SATOSHI = 6n;

let esplora: Esplora;
let it: TestCrypto;
beforeAll(async () => {
  esplora = await startEsplora();
  it = await startTestDeposits({
    network: 'bitcoin',
    kind: 'btc',
    chain: 'regtest',
    esploraUrl: esplora.url,
    confirmations: 2,
    minimum: '1000',
    xpub: derivePublicKey("m/84'/1'/0'", { private: 0x045f18bc, public: 0x045f1cf6 }),
  });
  await it.scan();
});
afterAll(async () => {
  await it?.stop();
  await esplora?.stop();
});

let count = 0;
const account = () => `bitcoiner${++count}`;
const mineAndScan = async (blocks = 1) => {
  esplora.mine(blocks);
  await it.scan();
};
const listKeys = async (txid: string) => (await it.entries()).filter(([key]) => key.includes(txid));

test('a payment is seen before a block has it, confirmed, and credited once', async () => {
  const who = account();
  const deposit = await it.deposit(who, { amount: '50000' });
  expect(deposit.address).toMatch(/^bcrt1q/);
  expect(deposit.paymentUri).toBe(`bitcoin:${deposit.address}?amount=0.0005`);
  // Two outputs go to the same address, and one to another one.
  const txid = esplora.pay(
    { address: deposit.address, value: 20_000 },
    { address: 'bcrt1qother', value: 77 },
    { address: deposit.address, value: 30_000 },
  );
  await it.scan();
  expect(await it.get(who, deposit)).toMatchObject({ state: 'seen', payments: [{ index: '0' }, { index: '2' }] });
  await mineAndScan();
  expect(await it.get(who, deposit)).toMatchObject({ state: 'confirming', confirmations: 1, neededConfirmations: 2 });
  await mineAndScan();
  expect(await it.get(who, deposit)).toMatchObject({ state: 'credited', receivedAmount: '50000', explanation: null });
  await mineAndScan(3);
  expect((await listKeys(txid)).map(([key, , credits]) => [key, credits])).toEqual([
    [`deposit:bitcoin:${txid}:0`, -20_000n * CREDITS_OF_SATOSHI],
    [`deposit:bitcoin:${txid}:0`, 20_000n * CREDITS_OF_SATOSHI],
    [`deposit:bitcoin:${txid}:2`, -30_000n * CREDITS_OF_SATOSHI],
    [`deposit:bitcoin:${txid}:2`, 30_000n * CREDITS_OF_SATOSHI],
  ]);
});

test('a replaced transaction is reported as such, and never credited; dust is explained', async () => {
  const who = account();
  const deposit = await it.deposit(who, { amount: '50000' });
  const first = esplora.pay({ address: deposit.address, value: 50_000 });
  await it.scan();
  esplora.drop(first);
  const second = esplora.pay({ address: deposit.address, value: 40_000 });
  esplora.pay({ address: deposit.address, value: 999 });
  await mineAndScan(2);
  const { state, payments } = await it.get(who, deposit);
  expect(state).toBe('underpaid');
  expect(payments.map((one) => [one.txid === first ? 1 : 2, one.state, one.explanation?.code]).sort()).toEqual([
    [1, 'dropped', 'dropped'],
    [2, 'credited', undefined],
    [2, 'ignored', 'dust'],
  ]);
  expect(await listKeys(second)).toHaveLength(2);
  expect(await it.ledger.balance(who)).toBe(40_000n * CREDITS_OF_SATOSHI);
});

test('a payment seen in time keeps its rate, also when its block comes late', async () => {
  const who = account();
  const deposit = await it.deposit(who);
  esplora.pay({ address: deposit.address, value: 10_000 });
  await it.scan();
  it.clock.pass(3_600_000);
  it.rates.prices.BTC = 1n;
  await mineAndScan(2);
  it.rates.prices.BTC = 60_000n * 10n ** 8n;
  expect(await it.get(who, deposit)).toMatchObject({ state: 'credited', payments: [{ explanation: null }] });
  expect(await it.ledger.balance(who)).toBe(10_000n * CREDITS_OF_SATOSHI);
});

test('a reorganisation before the credit puts the payment into another block; one after it takes back payments that do not return', async () => {
  const [who, other] = [account(), account()];
  const [deposit, lost] = [await it.deposit(who), await it.deposit(other)];
  const txid = esplora.pay({ address: deposit.address, value: 10_000 });
  await mineAndScan();
  esplora.reorg(1);
  await it.scan();
  expect((await it.get(who, deposit)).state).toBe('seen');
  const gone = esplora.pay({ address: lost.address, value: 10_000 });
  await mineAndScan(2);
  expect(await it.ledger.balance(who)).toBe(60_000n);
  expect(await it.ledger.balance(other)).toBe(60_000n);
  esplora.reorg(2, { forget: [gone] });
  await mineAndScan(3);
  expect(await it.ledger.balance(who)).toBe(60_000n);
  expect(await listKeys(txid)).toHaveLength(2);
  expect(await it.ledger.balance(other)).toBe(0n);
  expect((await it.get(other, lost)).payments[0]?.explanation?.code).toBe('reversed');
});

test('a server that is away, or whose height goes back or ahead, loses nothing; an address with many payments is read to its end', async () => {
  const who = account();
  const deposit = await it.deposit(who);
  esplora.faults.shut = true;
  await expect(it.scan()).rejects.toThrow('The Esplora server of bitcoin does not respond.');
  for (let i = 0; i < 60; i += 1) esplora.pay({ address: deposit.address, value: 1_000 });
  esplora.mine(30);
  esplora.faults.shut = false;
  for (const lie of [() => 0, () => 9_000_000]) {
    esplora.faults.height = lie;
    await it.scan();
  }
  esplora.faults.height = undefined;
  await mineAndScan();
  expect((await it.get(who, deposit)).payments).toHaveLength(60);
  expect(await it.ledger.balance(who)).toBe(60n * 1_000n * CREDITS_OF_SATOSHI);
});
