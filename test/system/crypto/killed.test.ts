/** Tests a scanner that is killed again and again while it reads a chain and credits payments: each payment counts once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcile } from '../../../src/service/billing/audit/reconcile.ts';
import type { CryptoDeposit } from '../../../src/service/billing/crypto/record.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { CRYPTO_SETTINGS, ETHEREUM } from '../../kit/make/crypto-settings.ts';
import { scatterData } from '../../kit/make/evm-token.ts';
import { type Anvil, startAnvil, whyNoAnvil } from '../../kit/real/anvil.ts';
import { query } from '../../kit/real/postgres.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

/** Worth 30,000 credits. */
const COIN = 10n ** 15n;
/** An amount of the token, worth 20,000. */
const TOKEN = 2_000_000n;
const DEPOSITS = 10;
const KILLS = 6;

const whyNot = whyNoAnvil();
describe.skipIf(whyNot)(`the role billing${whyNot ? ` (${whyNot})` : ''}`, () => {
  let anvil: Anvil;
  let token: string;
  let api: TestApi;
  let db: Db;
  let payer: Client;
  let environment: Record<string, string>;
  let running: ReturnType<typeof start> | undefined;

  beforeAll(async () => {
    anvil = await startAnvil();
    token = await anvil.token();
    const assets = [...ETHEREUM.assets, { asset: 'USDT', decimals: 6, contract: token }];
    const crypto = {
      ...CRYPTO_SETTINGS,
      LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify([{ ...ETHEREUM, chainId: anvil.chainId, rpcUrl: anvil.url, assets }]),
      LOOPSTREAM_CRYPTO_RATES: '{"currency":"USD","prices":{"ETH":"3000","USDT":"1"}}',
    };
    const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 'none' };
    api = await startTestApi({ billing: true, crypto: apiConfig({ ...required, ...crypto }).crypto });
    db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream', max: 1 }));
    payer = await api.client('killed');
    environment = { ...api.environment, ...crypto, KUBECONFIG: api.kubernetes.kubeconfig };
  });
  afterAll(async () => {
    await running?.kill();
    await db?.destroy();
    await api?.stop();
    await anvil?.stop();
  });

  const rows = (statement: string) => query(api.databaseUrl, statement);

  function start() {
    const child = spawn(process.execPath, [MAIN, 'billing'], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let logs = '';
    child.stderr.on('data', (chunk) => (logs += chunk));
    const ended = once(child, 'close');
    return {
      isOver: () => child.exitCode !== null || child.signalCode !== null,
      signal: () => child.signalCode,
      logs: () => logs,
      async kill() {
        child.kill('SIGKILL');
        await ended;
        // A dead process's lease is free after ten seconds, which the test skips.
        await rows(`update loopstream.leases set until = now(), note = null where name like 'deposits-%'`);
      },
    };
  }
  const creditsOfAll = async () => {
    const [row] = await rows(
      `select coalesce(sum(credits) filter (where state = 'credited'), 0)::text as n from loopstream.crypto_payments`,
    );
    return BigInt(String(row?.n));
  };

  test('is killed at any moment of reading and crediting, and the next one goes on: each payment is credited once', async () => {
    await anvil.mine();
    running = start();
    const ask = (asset: string) =>
      payer.call<CryptoDeposit>('POST', '/v1/crypto/deposits', { asset, network: 'ethereum' });
    await until('addresses are given', async () => (await ask('ETH')).status === 201, 90_000);
    const made = await Promise.all(Array.from({ length: DEPOSITS - 1 }, () => ask('USDT')));
    const addresses = made.map(({ body }) => body.address);
    await running.kill();

    let credits = 0n;
    let payments = 0;
    /** Mines enough confirmations; in half of the rounds the blocks change while they are read. Returns the change. */
    const pay = async (round: number): Promise<() => Promise<unknown>> => {
      const coins = addresses.slice(0, 5);
      const txids = [await anvil.send(token, 0n, { data: scatterData(TOKEN, addresses) })];
      for (const address of coins) txids.push(await anvil.send(address, COIN, { from: anvil.accounts[1] }));
      credits += 20_000n * BigInt(addresses.length) + 30_000n * BigInt(coins.length);
      payments += addresses.length + coins.length;
      const changes = round % 2 === 1;
      await anvil.mine(changes ? 2 : 4);
      const again = txids.map((txid): [typeof txid, number] => [txid, 1]);
      return async () => changes && anvil.reorg(2, again).then(() => anvil.mine(3));
    };

    const killedAt: string[] = [];
    // The number of the last request, and the delay after it in milliseconds.
    const [moments = []] = fc.sample(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 12 })), {
        minLength: KILLS,
        maxLength: KILLS,
      }),
      1,
    );
    for (const [round, [request, ms]] of moments.entries()) {
      const change = await pay(round);
      const process = start();
      running = process;
      let heard = 0;
      anvil.faults.onRequest = () => {
        heard += 1;
        if (heard === 2) void change();
        if (heard === 2 + request) setTimeout(() => void process.kill(), ms);
      };
      await until('it is killed', () => process.isOver(), 90_000);
      anvil.faults.onRequest = undefined;
      expect(process.signal(), process.logs()).toBe('SIGKILL');
      await process.kill();
      killedAt.push(`${request}+${ms} ms: ${await creditsOfAll()} of ${credits}`);
    }

    running = start();
    await anvil.mine(3);
    await until(`all is credited (${killedAt.join('; ')})`, async () => (await creditsOfAll()) >= credits, 90_000);
    const [kept] = await rows(
      `select count(*)::integer as payments, count(*) filter (where state = 'credited')::integer as credited
       from loopstream.crypto_payments`,
    );
    expect(kept, killedAt.join('; ')).toEqual({ payments, credited: payments });
    expect((await payer.call('GET', '/v1/billing')).body).toMatchObject({ balanceCredits: String(credits) });
    const booked = await rows(`select key from loopstream.ledger_transactions where kind in ('deposit', 'correction')`);
    expect(booked).toHaveLength(payments);
    const told = await rows(`select id from loopstream.events where type = 'deposit.credited'`);
    const toId = (key: unknown) => `evt_payment_${String(key).replaceAll(':', '_')}`;
    expect(told.map(({ id }) => id).sort()).toEqual(booked.map(({ key }) => toId(key)).sort());
    expect((await reconcile(db)).flatMap(({ differences }) => differences)).toEqual([]);
    await running.kill();
  });
});
