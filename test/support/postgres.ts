/** A real Postgres for a test file: started once, in a container or as a process (engine/find.ts), nothing of it left behind. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../src/local/postgres.ts';
import { createLogger } from '../../src/log.ts';
import { chosenWay, type Way } from './engine/find.ts';

export interface TestPostgres {
  /** Of the database `loopstream`, with the superuser's password. */
  url: string;
  stop(): Promise<void>;
}

/** `way`: for who has a reason to want one of the two. */
export async function startTestPostgres(way?: Way): Promise<TestPostgres> {
  if ((way ?? (await chosenWay())) === 'processes') return startPostgresProcess();
  const { startPostgresContainer } = await import('./engine/postgres.ts');
  return startPostgresContainer();
}

async function startPostgresProcess(): Promise<TestPostgres> {
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

/** One statement over a connection of its own; its rows. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
