/**
 * Tests failures of chains, nodes and scanners: each payment is credited once, and no wrong state stays.
 */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { reconcile } from '../../../src/service/billing/audit/reconcile.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { startTestEvm, type TestEvm } from '../../kit/make/crypto.ts';
import { scatterData, transferData } from '../../kit/make/evm-token.ts';
import { whyNoAnvil } from '../../kit/real/anvil.ts';

const ETH = 10n ** 18n;
const CREDITS_OF_ETH = 30_000_000n;

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`deposits when things go wrong${whyNot ? ` (${whyNot})` : ''}`, () => {
  let it: TestEvm;
  beforeAll(async () => {
    it = await startTestEvm();
  });
  afterAll(async () => it?.stop());
  afterEach(async () => {
    const all = await reconcile(it.db);
    expect(all.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })))).toEqual([]);
  });

  let count = 0;
  const account = () => `victim${++count}`;
  const mineAndScan = async (blocks = 1) => {
    await it.anvil.mine(blocks);
    await it.scan();
  };
  /** Returns the ledger's postings of a transaction: the beginning of each key, and the customer's credits. */
  const listPostings = async (txid: string, who: string) =>
    (await it.entries())
      .filter(([key, account]) => key.includes(txid) && account === `customer:${who}`)
      .map(([key, , credits]) => [key.replace(`:ethereum:${txid}`, ''), credits]);
  const scanned = async () => (await it.rows('select height from loopstream.crypto_scans'))[0]?.height;

  describe('a reorganisation', () => {
    test('before the credit: the payment is in no block, and is credited when another one has it for long enough', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      const txid = await it.anvil.send(deposit.address, ETH);
      await mineAndScan(2);
      expect((await it.get(who, deposit)).state).toBe('confirming');
      const raw = await it.anvil.readRaw(txid);
      await it.anvil.reorg(2);
      await it.scan();
      expect(await it.get(who, deposit)).toMatchObject({ state: 'reorged', payments: [{ confirmations: null }] });
      await mineAndScan(3);
      expect(await listPostings(txid, who)).toEqual([]);
      // The network has forgotten the transaction.
      expect(await it.get(who, deposit)).toMatchObject({ state: 'waiting', payments: [{ state: 'dropped' }] });
      await it.anvil.rpc('eth_sendRawTransaction', raw);
      await mineAndScan(3);
      expect(await listPostings(txid, who)).toEqual([['deposit:value', CREDITS_OF_ETH]]);
    });

    test('that moves the transaction to another block, and its log to another place there, credits it once', async () => {
      const who = account();
      const deposit = await it.deposit(who, { asset: 'USDT' });
      const transfer = (amount: bigint) => ({
        data: transferData(deposit.address, amount),
        from: it.anvil.accounts[1],
      });
      const other = await it.anvil.send(it.token, 0n, {
        data: scatterData(1n, [it.token]),
        from: it.anvil.accounts[2],
      });
      const txid = await it.anvil.send(it.token, 0n, transfer(5_000_000n));
      await mineAndScan(3);
      const before = await listPostings(txid, who);
      expect(before).toEqual([['deposit:0', 50_000n]]);
      await it.anvil.reorg(3, [
        [txid, 1],
        [other, 2],
      ]);
      await it.scan();
      const [{ height, state } = {}] = await it.rows(`select * from loopstream.crypto_payments where txid = '${txid}'`);
      expect({ height, state }).toEqual({ height: Number(await scanned()) - 1, state: 'credited' });
      await mineAndScan(6);
      expect(await listPostings(txid, who)).toEqual(before);
      expect((await it.get(who, deposit)).state).toBe('credited');
    });

    test('after the credit: it is taken back down to the floor, the rest is ours to bear, and both come back with the payment', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      const txid = await it.anvil.send(deposit.address, ETH, { from: it.anvil.accounts[3] });
      await mineAndScan(3);
      const spent = 10_000_000n;
      const entries = [{ account: `customer:${who}`, credits: -spent }].concat({ account: 'refunds', credits: spent });
      await it.ledger.post({ key: `spent:${who}`, kind: 'refund', accountId: who, entries, at: new Date() });
      const raw = await it.anvil.readRaw(txid);
      await it.anvil.reorg(3);
      await it.scan();
      // A transaction usually returns within a block or two; the ledger waits for that.
      expect(await it.get(who, deposit)).toMatchObject({ state: 'reorged', payments: [{ state: 'credited' }] });
      expect(await it.ledger.balance(who)).toBe(20_000_000n);
      await mineAndScan(3);
      expect(await it.get(who, deposit)).toMatchObject({
        state: 'reorged',
        credits: '0',
        payments: [{ state: 'reversed' }],
      });
      expect(await it.ledger.balance(who)).toBe(0n);
      const all = async () => (await it.entries()).filter(([key]) => key.includes(txid));
      expect(
        (await all()).filter(([key]) => key.startsWith('deposit-reversal')).map(([, , credits]) => credits),
      ).toEqual([CREDITS_OF_ETH, -20_000_000n, -10_000_000n]);
      await it.anvil.rpc('eth_sendRawTransaction', raw);
      await mineAndScan(3);
      expect(await it.get(who, deposit)).toMatchObject({ state: 'credited', credits: String(CREDITS_OF_ETH) });
      expect(await it.ledger.balance(who)).toBe(20_000_000n);
      const sums = Map.groupBy(await all(), ([, account]) => account);
      const sumCredits = (account: string) => sums.get(account)?.reduce((sum, [, , credits]) => sum + credits, 0n);
      expect([sumCredits(`customer:${who}`), sumCredits('cash:crypto:ETH'), sumCredits('writeoff')]).toEqual([
        CREDITS_OF_ETH,
        -CREDITS_OF_ETH,
        0n,
      ]);
    });
  });

  describe('a node', () => {
    test('that is away for an hour loses no payment, and those that came in time keep their rate', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      it.anvil.faults.shut = true;
      await it.anvil.send(deposit.address, ETH);
      await it.anvil.mine(30);
      await expect(it.scan()).rejects.toThrow(/^The node of ethereum did not respond to eth_/);
      it.clock.pass(3_600_000);
      await expect(it.scan()).rejects.toThrow(/^(?!.*127\.0\.0\.1)/);
      expect(await it.metrics.metrics()).toMatch(/crypto_scan_lag_seconds\{network="ethereum"\} 3600/);
      it.anvil.faults.shut = false;
      it.rates.prices.ETH = 1n;
      await it.scan();
      it.rates.prices.ETH = 3000n * 10n ** 8n;
      expect(await it.get(who, deposit)).toMatchObject({ state: 'credited', credits: String(CREDITS_OF_ETH) });
      expect(await it.metrics.metrics()).toMatch(/crypto_scan_lag_seconds\{network="ethereum"\} 0/);
    });

    test('whose height goes back, or far ahead, makes no scanner forget or skip a block', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      await it.anvil.send(deposit.address, ETH);
      await mineAndScan(2);
      const before = await scanned();
      for (const lie of [(real: number) => real - 50, () => 0]) {
        it.anvil.faults.height = lie;
        await it.scan();
        expect(await scanned()).toBe(before);
        expect((await it.get(who, deposit)).state).toBe('confirming');
      }
      it.anvil.faults.height = () => 1_000_000_000;
      await it.scan();
      expect(await scanned()).toBe(before);
      expect(await it.ledger.balance(who)).toBe(0n);
      const late = await it.anvil.send(deposit.address, ETH);
      await mineAndScan(3);
      it.anvil.faults.height = undefined;
      expect(await scanned()).toBe(Number(before) + 3);
      expect(await it.ledger.balance(who)).toBe(2n * CREDITS_OF_ETH);
      expect(await listPostings(late, who)).toEqual([['deposit:value', CREDITS_OF_ETH]]);
    });

    test('of another chain is not believed', async () => {
      it.anvil.faults.chainId = 56;
      const before = await scanned();
      await it.anvil.mine(2);
      await expect(it.scan()).rejects.toThrow('The node of ethereum belongs to another chain (id 56).');
      it.anvil.faults.chainId = undefined;
      expect(await scanned()).toBe(before);
    });

    test('that shows blocks which do not follow on one another is read up to there, and no further', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      await it.anvil.send(deposit.address, ETH);
      await it.anvil.mine(5);
      const before = Number(await scanned());
      await it.scan((real) => ({
        ...real,
        read: async (...args) =>
          (await real.read(...args)).map((block) =>
            block.height === before + 5 ? { ...block, parentHash: '0x00' } : block,
          ),
      }));
      expect(await scanned()).toBe(before + 4);
      await it.scan();
      expect(await it.ledger.balance(who)).toBe(CREDITS_OF_ETH);
    });

    test('that has lost the block when its payment is due prevents the credit', async () => {
      const who = account();
      const deposit = await it.deposit(who);
      await it.anvil.send(deposit.address, ETH);
      await it.anvil.mine(3);
      await it.scan((real) => ({ ...real, find: async () => undefined }));
      expect(await it.ledger.balance(who)).toBe(0n);
      await it.scan();
      expect(await it.ledger.balance(who)).toBe(CREDITS_OF_ETH);
    });
  });

  describe('a scanner', () => {
    /** Returns a pool whose `at`th statement is the process's last act: before it reaches the database, or after. */
    function dying(url: string, at: number, after: boolean): { pool: pg.Pool; count: () => number } {
      const pool = createPool(url, { searchPath: 'loopstream', max: 2 });
      let statements = 0;
      const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
      const die = (client: pg.PoolClient) => {
        (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
        throw new Error('killed');
      };
      const wrapped = async () => {
        const client = await connect();
        const real = client.query;
        client.query = (async (...args: never[]) => {
          const mine = ++statements;
          if (mine >= at && !(after && mine === at)) die(client);
          const answer = await (real as (...args: never[]) => Promise<unknown>).apply(client, args);
          return mine === at ? die(client) : answer;
        }) as never;
        const release = client.release.bind(client);
        client.release = (error) => {
          client.query = real;
          release(error);
        };
        return client;
      };
      pool.connect = wrapped as never;
      return { pool, count: () => statements };
    }

    test.each([
      ['before', false],
      ['after', true],
    ])(
      'a scanner killed at any statement, %s the database has it, is continued by the next one',
      async (_when, after) => {
        const who = account();
        const deposit = await it.deposit(who, { asset: 'USDT' });
        // One scan finds a reorganisation that removes a credited payment, and new payments.
        const first = await it.anvil.send(deposit.address, ETH, { from: it.anvil.accounts[4] });
        await mineAndScan(3);
        await it.anvil.reorg(3);
        await it.scan();
        await it.anvil.send(it.token, 0n, { data: scatterData(2_000_000n, [deposit.address, deposit.address]) });
        await it.anvil.send(deposit.address, ETH / 2n);
        await it.anvil.mine(3);
        let kills = 0;
        for (let at = 1; ; at += 1) {
          const { pool, count } = dying(it.url, at, after);
          pool.on('error', () => undefined);
          const db = createDb(pool);
          const failed = await it.scan(undefined, { db, ledger: createLedger(db) }).then(
            () => false,
            () => true,
          );
          await db.destroy().catch(() => undefined);
          if (!failed && count() < at) break;
          kills += 1;
        }
        expect(kills).toBeGreaterThan(10);
        await it.scan();
        expect(await listPostings(first, who)).toEqual([
          ['deposit-reversal:value', -CREDITS_OF_ETH],
          ['deposit:value', CREDITS_OF_ETH],
        ]);
        expect(await it.ledger.balance(who)).toBe(40_000n + CREDITS_OF_ETH / 2n);
      },
    );

    test('and another one at the same time credit each payment once', async () => {
      const who = account();
      const deposit = await it.deposit(who, { asset: 'USDT' });
      await it.anvil.send(it.token, 0n, { data: scatterData(1_000_000n, Array(40).fill(deposit.address)) });
      await it.anvil.mine(4);
      await Promise.all([it.scan(), it.scan(), it.scan()]);
      await it.scan();
      expect(await it.ledger.balance(who)).toBe(400_000n);
    });
  });
});
