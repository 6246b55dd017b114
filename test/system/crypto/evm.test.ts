/** Tests deposits on a real EVM node: each payment is credited once, or has a reason why not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CryptoDeposit } from '../../../src/service/billing/crypto/record.ts';
import { readEvents } from '../../../src/service/domain/events/store.ts';
import { startTestEvm, type TestEvm } from '../../kit/make/crypto.ts';
import { scatterData, transferData } from '../../kit/make/evm-token.ts';
import { whyNoAnvil } from '../../kit/real/anvil.ts';

const ETH = 10n ** 18n;
/** At 3,000 dollars, 10,000 credits each. */
const CREDITS_OF_ETH = 30_000_000n;
const HOUR_MS = 3_600_000;
/** Concurrent requests, each with a connection to the database. */
const LANES = 5;

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`deposits by an EVM node${whyNot ? ` (${whyNot})` : ''}`, () => {
  let it: TestEvm;
  beforeAll(async () => {
    it = await startTestEvm();
  });
  afterAll(async () => it?.stop());

  let count = 0;
  const account = () => `payer${++count}`;
  const mineAndScan = async (blocks = 1) => {
    await it.anvil.mine(blocks);
    await it.scan();
  };
  const state = async (who: string, deposit: CryptoDeposit) => (await it.get(who, deposit)).state;
  const listKeys = async (txid: string) => (await it.entries()).filter(([key]) => key.includes(txid));

  test('a payment is seen in its block, confirmed block by block, and credited with the last of its confirmations', async () => {
    const who = account();
    const deposit = await it.deposit(who, { amount: String(ETH / 2n) });
    expect(deposit).toMatchObject({ state: 'waiting', quote: { rate: '3000', credits: String(CREDITS_OF_ETH / 2n) } });
    expect(deposit.paymentUri).toBe(`ethereum:${deposit.address}@${it.anvil.chainId}?value=${ETH / 2n}`);
    const txid = await it.anvil.send(deposit.address, ETH / 2n);
    await it.scan();
    expect(await state(who, deposit)).toBe('waiting');
    for (const k of [1, 2]) {
      await mineAndScan();
      expect(await it.get(who, deposit)).toMatchObject({
        state: 'confirming',
        confirmations: k,
        neededConfirmations: 3,
      });
      expect(await it.ledger.balance(who)).toBe(0n);
    }
    await mineAndScan();
    expect(await it.get(who, deposit)).toMatchObject({
      state: 'credited',
      confirmations: null,
      explanation: null,
      receivedAmount: String(ETH / 2n),
      payments: [{ txid, state: 'credited', credits: String(CREDITS_OF_ETH / 2n), confirmations: 3 }],
    });
    await mineAndScan(5);
    expect(await listKeys(txid)).toEqual([
      [`deposit:ethereum:${txid}:value`, 'cash:crypto:ETH', -CREDITS_OF_ETH / 2n],
      [`deposit:ethereum:${txid}:value`, `customer:${who}`, CREDITS_OF_ETH / 2n],
    ]);
    await expect
      .poll(() => readEvents(it.db, who, undefined, { limit: 10 }))
      .toMatchObject([
        {
          id: `evt_payment_deposit_ethereum_${txid}_value`,
          type: 'deposit.credited',
          object: 'deposit',
          objectID: deposit.id,
          seq: 1,
          data: { name: 'ETH on ethereum', credits: String(CREDITS_OF_ETH / 2n) },
          snapshot: { id: deposit.id, address: deposit.address },
        },
      ]);
  });

  test('less than was asked for is credited and said to be too little, the rest may follow, and more is credited too', async () => {
    const who = account();
    const deposit = await it.deposit(who, { amountMinor: '300000' });
    expect(deposit.amount).toBe(String(ETH));
    await it.anvil.send(deposit.address, ETH / 4n);
    await mineAndScan(3);
    expect(await it.get(who, deposit)).toMatchObject({
      state: 'underpaid',
      explanation: {
        code: 'underpaid',
        message: '0.25 ETH of 1 ETH arrived and is credited. The remaining 0.75 ETH may follow.',
      },
    });
    expect(await it.ledger.balance(who)).toBe(CREDITS_OF_ETH / 4n);
    // Two at once, to the same address.
    await it.anvil.send(deposit.address, ETH / 2n);
    await it.anvil.send(deposit.address, ETH / 2n);
    await mineAndScan(3);
    const { state, explanation, credits, payments } = await it.get(who, deposit);
    expect({ state, code: explanation?.code, payments: payments.length }).toEqual({
      state: 'credited',
      code: 'overpaid',
      payments: 3,
    });
    expect(credits).toBe(String((CREDITS_OF_ETH * 5n) / 4n));
    expect(await it.ledger.balance(who)).toBe((CREDITS_OF_ETH * 5n) / 4n);
  });

  test('a token is credited by its contract; another token, dust and nothing at all are explained or passed over', async () => {
    const who = account();
    const deposit = await it.deposit(who, { asset: 'USDT', amount: '5000000' });
    expect(deposit.paymentUri).toBe(
      `ethereum:${it.token}@${it.anvil.chainId}/transfer?address=${deposit.address}&uint256=5000000`,
    );
    const send = (token: string, amount: bigint) =>
      it.anvil.send(token, 0n, { data: transferData(deposit.address, amount) });
    await send(it.token, 5_000_000n);
    await send(it.otherToken, 5_000_000n);
    await send(it.token, 0n);
    await send(it.token, 99n);
    const other = await it.anvil.send(deposit.address, 10n);
    await mineAndScan(3);
    const { payments, state, credits } = await it.get(who, deposit);
    expect({ state, credits }).toEqual({ state: 'credited', credits: '50000' });
    const seen = payments.map((one) => [one.asset, one.amount, one.state, one.explanation?.code ?? null]);
    expect(seen.sort()).toEqual([
      [null, '5000000', 'ignored', 'wrong_token'],
      ['ETH', '10', 'ignored', 'dust'],
      ['USDT', '5000000', 'credited', null],
      ['USDT', '99', 'ignored', 'dust'],
    ]);
    expect(await listKeys(other)).toEqual([]);
    expect(await it.ledger.balance(who)).toBe(50_000n);
  });

  test('tokens of a stranger’s making, sent without end, are written down up to a few', async () => {
    const who = account();
    const deposit = await it.deposit(who);
    await it.anvil.send(it.otherToken, 0n, { data: scatterData(7n, Array(60).fill(deposit.address)) });
    await mineAndScan();
    expect((await it.get(who, deposit)).payments).toHaveLength(20);
  });

  test('a transaction that fails in its block brings nothing, and nothing is written down', async () => {
    const who = account();
    const deposit = await it.deposit(who);
    // The address has code that refuses every payment.
    await it.anvil.rpc('anvil_setCode', deposit.address, '0x60006000fd');
    const failed = await it.anvil.send(deposit.address, ETH, { data: '0x00' });
    await it.anvil.mine();
    await it.anvil.rpc('anvil_setCode', deposit.address, '0x');
    await it.anvil.send(deposit.address, ETH / 2n);
    await mineAndScan(3);
    const receipt = await it.anvil.rpc<{ status: string }>('eth_getTransactionReceipt', failed);
    expect(receipt.status).toBe('0x0');
    expect((await it.get(who, deposit)).payments).toMatchObject([{ amount: String(ETH / 2n), state: 'credited' }]);
    expect(await it.ledger.balance(who)).toBe(CREDITS_OF_ETH / 2n);
  });

  test('a payment after the quote’s expiry is credited at the current rate, once that is known', async () => {
    const who = account();
    const deposit = await it.deposit(who, { amount: String(ETH) });
    it.clock.pass(HOUR_MS);
    expect(await it.get(who, deposit)).toMatchObject({ state: 'expired', explanation: { code: 'expired' } });
    await it.anvil.rpc('evm_increaseTime', 3600);
    await it.anvil.send(deposit.address, ETH);
    it.rates.prices.ETH = undefined;
    await mineAndScan(3);
    expect(await state(who, deposit)).toBe('confirming');
    expect(await it.ledger.balance(who)).toBe(0n);
    it.rates.prices.ETH = 2000n * 10n ** 8n;
    await it.scan();
    it.rates.prices.ETH = 3000n * 10n ** 8n;
    await it.scan();
    expect(await it.get(who, deposit)).toMatchObject({
      state: 'credited',
      payments: [{ explanation: { code: 'late', message: expect.stringContaining('2000 USD') } }],
    });
    expect(await it.ledger.balance(who)).toBe(20_000_000n);
  });

  test('a payment in another accepted asset is credited at the current rate', async () => {
    const who = account();
    const deposit = await it.deposit(who, { asset: 'USDT', amount: '5000000' });
    await it.anvil.send(deposit.address, ETH);
    await mineAndScan(3);
    expect(await it.get(who, deposit)).toMatchObject({
      state: 'underpaid',
      receivedAmount: '0',
      credits: String(CREDITS_OF_ETH),
      payments: [{ asset: 'ETH', explanation: { code: 'other_asset' } }],
    });
  });

  test('a thousand deposits paid in one block, by one transaction and by many, are credited once each', async () => {
    const who = account();
    // The API's limit of open deposits is for people; the test makes these deposits over time.
    const addresses: string[] = [];
    const make = async (lane: number) => {
      for (let n = lane; n < 1000; n += LANES)
        addresses.push((await it.deposit(`${who}-${Math.floor(n / 10)}`)).address);
    };
    await Promise.all(Array.from({ length: LANES }, (_, lane) => make(lane)));
    expect(new Set(addresses).size).toBe(1000);
    const txid = await it.anvil.send(it.token, 0n, { data: scatterData(1_000_000n, addresses) });
    for (const address of addresses.slice(0, 100)) await it.anvil.send(address, ETH / 1000n);
    await it.anvil.mine(3);
    await it.scan();
    expect(await listKeys(txid)).toHaveLength(2000);
    const balances = await it.rows(`select credits::text, count(*)::integer from (
        select sum(p.credits) as credits from loopstream.crypto_payments p
        join loopstream.crypto_deposits d on d.id = p.deposit_id where d.account_id like '${who}-%' and p.state = 'credited'
        group by d.id) x group by credits order by credits`);
    expect(balances).toEqual([
      { credits: '10000', count: 900 },
      { credits: '40000', count: 100 },
    ]);
    const kept = await it.rows(`select sum(balance)::text as credits from loopstream.ledger_balances
      where account like 'customer:${who}-%'`);
    expect(kept).toEqual([{ credits: '13000000' }]);
  });
});
