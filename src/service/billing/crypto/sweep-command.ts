/**
 * Runs `loopstream sweep-plan`: prints the transactions that collect the deposits, for the operator of the service to
 * sign elsewhere.
 */
import { parseArgs } from 'node:util';
import { environment } from '../../../core/settings/environment.ts';
import { ConfigError } from '../../../core/settings/settings.ts';
import { createDb, createPool, type Db } from '../../db/pool.ts';
import { billingConfig } from '../setup/settings.ts';
import { openCrypto } from './open.ts';
import type { Network } from './settings.ts';

const HELP = `loopstream sweep-plan: prints unsigned transactions that collect the funds of crypto deposits

Usage: loopstream sweep-plan --network <network> --to <address>

The plan is JSON. For an EVM network, it has the transactions with their nonces, gas and fees, and lists funds that belong to
no known payment. For Bitcoin, it has PSBTs.

The command signs, sends and stores nothing. The private keys stay where you made the xpub. Paths begin at the key of the
account, e.g. 0/12 of m/44'/60'/0'. Check the plan before you sign it, and make a new one each time.
`;

function parse(args: string[]) {
  try {
    const string = { type: 'string' } as const;
    const { values } = parseArgs({ args, options: { network: string, to: string, help: { type: 'boolean' } } });
    return values;
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream sweep-plan --help.`);
  }
}

/** Throws ConfigError for an address that is none of the network's. */
export async function sweepPlan(db: Db, { setting, addresses }: Network, to: string): Promise<object> {
  if (setting.kind === 'evm') {
    const { isEvmAddress } = await import('./keys.ts');
    // All that is swept goes there: letters in both cases are a check, and are held to it.
    if (!isEvmAddress(to)) throw new ConfigError('--to must be an address of the network.');
    return (await import('./sweep-evm.ts')).sweepEvm(db, setting, addresses.keyId, to);
  }
  const { isBitcoinAddress } = await import('./keys.ts');
  if (!isBitcoinAddress(setting, to)) throw new ConfigError('--to must be an address of the network.');
  return (await import('./sweep-btc.ts')).sweepBtc(db, setting, addresses, to);
}

export async function sweepPlanCommand(args: string[]): Promise<number> {
  const { network: name, to, help } = parse(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (name === undefined || to === undefined)
    throw new ConfigError('--network or --to is missing. See loopstream sweep-plan --help.');
  const config = billingConfig(environment());
  const crypto = await openCrypto(config.crypto);
  const network = crypto?.settings.networks.get(name);
  if (network === undefined) throw new ConfigError(`LOOPSTREAM_CRYPTO_NETWORKS has no network ${name}.`);
  const db = createDb(createPool(config.databaseUrl, { searchPath: 'loopstream', max: 2 }));
  try {
    process.stdout.write(`${JSON.stringify(await sweepPlan(db, network, to), undefined, 2)}\n`);
    return 0;
  } finally {
    await db.destroy();
  }
}
