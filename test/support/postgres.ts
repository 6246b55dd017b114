/** A real Postgres for a test file: started once, its files removed afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../src/local/postgres.ts';
import { createLogger } from '../../src/log.ts';

export async function startTestPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-postgres-'));
  const postgres = await startPostgres({
    dataDir: join(dir, 'postgres'),
    log: createLogger('test', 'warn'),
    durable: false,
  });
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
