/**
 * Scans chains for deposits as jobs of the role `billing`: one for each network, so that a node that is away holds up
 * no other.
 */

import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { Db } from '../../db/pool.ts';
import type { BillingJob } from '../ledger/jobs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { creditsPerUnit } from '../ledger/money.ts';
import { readCurrencyDigits } from '../ledger/store.ts';
import type { Chain } from './chain.ts';
import { createFollower } from './follow-chain.ts';
import type { ScanMetrics } from './metrics.ts';
import type { Crypto } from './open.ts';
import type { Rates } from './rates.ts';
import type { CryptoSettings } from './settings.ts';
import { createSettler } from './settle.ts';
import type { NetworkSetting } from './spec.ts';

/** Pause between two scans of a chain: less than a block takes, so that users see their payment soon. */
const EVERY_MS = { evm: 5_000, btc: 20_000 } as const;

export interface ScanDeps {
  db: Db;
  ledger: Ledger;
  settings: CryptoSettings;
  metrics: ScanMetrics;
  log: Logger;
  rates: Rates;
  clock?: Clock;
  /** Instead of the node that the network's setting names. */
  open?: (network: NetworkSetting) => Promise<Chain>;
}

/** The libraries of chains are large: they are loaded where a chain is scanned, and nowhere else. */
export async function openChain(network: NetworkSetting): Promise<Chain> {
  if (network.kind === 'evm') return (await import('./evm.ts')).createEvmChain(network);
  return (await import('./esplora.ts')).createBtcChain(network);
}

/** Networks of the same kind, so that an address of one is an address of the other. */
const listKin = (network: NetworkSetting, { networks }: CryptoSettings): string[] =>
  [...networks.values()]
    .filter(({ setting }) =>
      setting.kind === 'btc' && network.kind === 'btc'
        ? setting.chain === network.chain
        : setting.kind === network.kind,
    )
    .map(({ setting }) => setting.network);

/** Reads a chain as far as it goes and settles what can be settled. Rejects with what ended it; nothing is half done then. */
export async function createScan(
  network: NetworkSetting,
  deps: ScanDeps,
): Promise<(signal: AbortSignal) => Promise<void>> {
  const { db, ledger, settings, metrics, log, clock = systemClock, rates } = deps;
  const chain = await (deps.open ?? openChain)(network);
  const digits = await readCurrencyDigits(db, settings.currency);
  const shared = { db, chain, network, creditsPerUnit: creditsPerUnit(digits), clock };
  const follower = createFollower({ ...shared, relatedNetworks: listKin(network, settings) });
  const onSettled = (result: 'credited' | 'reversed' | 'ignored') => metrics.settled(network.network, result);
  const settler = createSettler({ ...shared, ledger, rates, log, onSettled });
  return async (signal) => {
    try {
      const progress = await follower.follow(signal);
      if (progress === undefined) return;
      await settler.settleAll(progress.at, signal);
      metrics.scanned(network.network, progress.tip - progress.at.height, progress.left);
      if (progress.left > 0)
        log.warn(
          { network: network.network, blocks: progress.left },
          'the chain was reorganized: other blocks replaced some that were read',
        );
    } catch (error) {
      metrics.failed(network.network);
      throw error;
    }
  };
}

/** One job for each network; none where no networks are set. */
export function createDepositJobs(crypto: Crypto | undefined, deps: Omit<ScanDeps, keyof Crypto>): BillingJob[] {
  if (crypto === undefined) return [];
  return [...crypto.settings.networks.values()].map(({ setting }) => {
    const { network, kind } = setting;
    deps.metrics.begin(network);
    let scan: ReturnType<typeof createScan> | undefined;
    return {
      name: `deposits-${network}`,
      everyMs: EVERY_MS[kind],
      run: async (signal) => {
        scan ??= createScan(setting, { ...deps, ...crypto }).catch((error: unknown) => {
          // The next run opens it again.
          scan = undefined;
          throw error;
        });
        await (await scan)(signal);
      },
    };
  });
}
