/** Runs deposits on a real EVM node and a real database, with a clock that tests move. */
import { Registry } from 'prom-client';
import type { Clock } from '../../../src/core/lib/clock.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import type { Chain } from '../../../src/service/billing/crypto/chain.ts';
import { createScan, openChain } from '../../../src/service/billing/crypto/job.ts';
import { scanMetrics } from '../../../src/service/billing/crypto/metrics.ts';
import type { Rates } from '../../../src/service/billing/crypto/rates.ts';
import type { CryptoDeposit, CryptoDepositCreate } from '../../../src/service/billing/crypto/record.ts';
import { createCryptoService } from '../../../src/service/billing/crypto/service.ts';
import { cryptoSettings, type Network } from '../../../src/service/billing/crypto/settings.ts';
import type { NetworkSetting } from '../../../src/service/billing/crypto/spec.ts';
import { sweepPlan } from '../../../src/service/billing/crypto/sweep-command.ts';
import { type Anvil, startAnvil } from '../real/anvil.ts';
import { query } from '../real/postgres.ts';
import { derivePublicKey } from './crypto-settings.ts';
import { startTestLedger, type TestLedger } from './ledger.ts';

/** The time of the node's first block. */
const BEGIN = 1_800_000_000_000;
export interface TestClock extends Clock {
  pass(ms: number): void;
}

export function testClock(): TestClock {
  let passed = 0;
  return {
    now: () => new Date(BEGIN + passed),
    monotonicMs: () => passed,
    pass: (ms) => {
      passed += ms;
    },
  };
}

/** Prices that tests change; undefined makes the source fail. */
export interface TestRates extends Rates {
  prices: Record<string, bigint | undefined>;
}

export interface TestCrypto extends TestLedger {
  setting: NetworkSetting;
  clock: TestClock;
  rates: TestRates;
  metrics: Registry;
  service: ReturnType<typeof createCryptoService>;
  deposit(accountId: string, input?: Partial<CryptoDepositCreate>): Promise<CryptoDeposit>;
  /** Runs a scanner that has no state besides the database. `chain` wraps the node's. */
  scan(chain?: (real: Chain) => Chain, on?: Pick<TestLedger, 'db' | 'ledger'>): Promise<void>;
  get(accountId: string, deposit: CryptoDeposit): Promise<CryptoDeposit>;
  /** Keys and credits of the ledger's deposits, in the order of the keys. */
  entries(): Promise<[key: string, account: string, credits: bigint][]>;
  /** Runs the operator's sweep of all funds to one address. */
  sweep(to: string): Promise<unknown>;
  rows(statement: string): Promise<Record<string, unknown>[]>;
}

const dollars = (price: bigint): bigint => price * 10n ** 8n;

/** Starts deposits on one network; `rates` in dollars are BTC 60,000, ETH 3,000 and USDT 1. */
export async function startTestDeposits(setting: NetworkSetting): Promise<TestCrypto> {
  const ledger = await startTestLedger();
  const clock = testClock();
  const prices: TestRates['prices'] = { ETH: dollars(3000n), USDT: dollars(1n), BTC: dollars(60_000n) };
  const { AppError } = await import('../../../src/service/lib/errors.ts');
  const rates: TestRates = {
    prices,
    async rate(asset) {
      const rate = prices[asset];
      if (rate === undefined) throw new AppError('crypto_rate_unavailable', 'The source does not answer.');
      return rate;
    },
  };
  const settings = cryptoSettings({
    networks: [setting],
    rates: { currency: 'USD', prices: {} },
    ratesUrl: undefined,
    quoteSeconds: 900,
    currency: 'USD',
  });
  if (settings === undefined) throw new Error('There are no networks.');
  const service = createCryptoService({ db: ledger.db, crypto: { settings, rates }, clock });
  const registry = new Registry();
  const metrics = scanMetrics(registry, clock);
  metrics.begin(setting.network);
  const log = createLogger('test', 'silent');
  const first = setting.kind === 'evm' ? 'ETH' : 'BTC';
  return {
    ...ledger,
    setting,
    clock,
    rates,
    metrics: registry,
    service,
    deposit: (accountId, input = {}) => service.create(accountId, { asset: first, network: setting.network, ...input }),
    async scan(chain = (real) => real, on = ledger) {
      const open = async () => chain(await openChain(setting));
      const scan = await createScan(setting, { ...on, settings, metrics, log, clock, rates, open });
      await scan(new AbortController().signal);
    },
    get: (accountId, { id }) => service.get(accountId, id),
    async entries() {
      const rows = await query(
        ledger.url,
        `select t.key, e.account, e.credits::text from loopstream.ledger_entries e
         join loopstream.ledger_transactions t on t.id = e.transaction_id
         where t.key like 'deposit%' order by t.key, e.account`,
      );
      return rows.map(({ key, account, credits }) => [String(key), String(account), BigInt(String(credits))]);
    },
    sweep: async (to) => sweepPlan(ledger.db, settings.networks.get(setting.network) as Network, to),
    rows: (statement) => query(ledger.url, statement),
  };
}

export interface TestEvm extends TestCrypto {
  anvil: Anvil;
  token: string;
  /** A token that the product does not accept. */
  otherToken: string;
}

/** Starts a node with ether and USDT of six digits, three confirmations, followed from the first block. */
export async function startTestEvm(confirmations = 3): Promise<TestEvm> {
  const anvil = await startAnvil();
  const [token, otherToken] = [await anvil.token(), await anvil.token()];
  const crypto = await startTestDeposits({
    network: 'ethereum',
    kind: 'evm',
    chainId: anvil.chainId,
    rpcUrl: anvil.url,
    confirmations,
    xpub: derivePublicKey("m/44'/60'/0'"),
    assets: [
      { asset: 'ETH', decimals: 18, minimum: '100000000000' },
      { asset: 'USDT', decimals: 6, contract: token },
    ],
  });
  await crypto.scan();
  return {
    ...crypto,
    anvil,
    token,
    otherToken,
    stop: async () => {
      await crypto.stop();
      await anvil.stop();
    },
  };
}
