/** Starts a database with the ledger, for tests that need no Kubernetes. */
import { createLedger, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { shareTestPostgres } from '../real/postgres.ts';
import { adjustCredit } from './grant.ts';

export interface TestLedger {
  url: string;
  db: Db;
  ledger: Ledger;
  /** Credits an account with spendable credit. */
  give(accountId: string, credits: bigint): Promise<void>;
  stop(): Promise<void>;
}

const open = (url: string, max = 10): Db => createDb(createPool(url, { searchPath: 'loopstream', max }));

/** Enough for streams on air for as long as tests take. */
const PLENTY = 1_000_000n;

/** Credits an account of a running server: without credit no stream of it goes on air. */
export async function giveCredit(databaseUrl: string, accountId: string): Promise<void> {
  const db = open(databaseUrl, 1);
  await adjustCredit(createLedger(db), accountId, PLENTY).finally(() => db.destroy());
}

export async function startTestLedger(max = 10): Promise<TestLedger> {
  const postgres = await shareTestPostgres();
  const db = open(postgres.url, max);
  const ledger = createLedger(db);
  return {
    url: postgres.url,
    db,
    ledger,
    give: (accountId, credits) => adjustCredit(ledger, accountId, credits),
    stop: async () => {
      await db.destroy();
      await postgres.stop();
    },
  };
}
