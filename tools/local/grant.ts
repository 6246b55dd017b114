/** Grants credit to an account of the running local system: `make run ARGS="grant you@example.com"`. */
import { ConfigError } from '../../src/core/settings/settings.ts';
import { runAdmin } from '../../src/service/billing/audit/admin/command.ts';
import { createDb, createPool } from '../../src/service/db/pool.ts';
import { reader } from '../../src/service/settings/settings.ts';
import type { LocalEnvironment } from '../process/environment.ts';
import type { LocalState } from './state.ts';

/** Units of the currency, unless an amount is given: a few hundred hours on air. */
const AMOUNT = '10';

export interface Grant {
  account: string;
  amount?: string | undefined;
}

/** Returns the exit code, and says on the standard output what was granted. Throws ConfigError where nothing runs. */
export async function grant(
  state: Pick<LocalState, 'readFacts'>,
  { settings }: Pick<LocalEnvironment, 'settings'>,
  { account, amount = AMOUNT }: Grant,
): Promise<number> {
  const databaseUrl = state.readFacts()?.databaseUrl;
  if (!databaseUrl) throw new ConfigError('No system with an API server is running. Start one with make run.');
  return runAdmin(['grant', account, '--amount', amount, '--reason', 'make run'], {
    open: () => createDb(createPool(databaseUrl, { searchPath: 'loopstream', max: 1 })),
    currency: reader(settings).text('CURRENCY'),
    print: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
  });
}
