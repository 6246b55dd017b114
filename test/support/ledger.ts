/** A database with the ledger in it, for tests that need nothing of Kubernetes. */
import { createLedger, type Ledger } from '../../src/billing/ledger.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createDb, createPool, type Db } from '../../src/db/pool.ts';
import { shareTestPostgres } from './postgres.ts';

export interface TestLedger {
  url: string;
  db: Db;
  ledger: Ledger;
  /** Credits an account with what it then has to use. */
  give(accountId: string, credits: bigint): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestLedger(max = 10): Promise<TestLedger> {
  const postgres = await shareTestPostgres();
  await migrate({ databaseUrl: postgres.url, authSecret: 'secret-of-a-test-that-is-long-enough' });
  const db = createDb(createPool(postgres.url, { searchPath: 'loopstream', max }));
  const ledger = createLedger(db);
  let given = 0;
  return {
    ...{ url: postgres.url, db, ledger },
    give: async (accountId, credits) => {
      const entries = [
        { account: `customer:${accountId}`, credits },
        { account: 'grants', credits: -credits },
      ];
      given += 1;
      await ledger.post({ key: `given:${accountId}:${given}`, kind: 'grant', accountId, entries, at: new Date() });
    },
    stop: async () => {
      await db.destroy();
      await postgres.stop();
    },
  };
}
