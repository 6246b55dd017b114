/** A real Postgres for tests, in a container or as a process (engine/find.ts); nothing of it is left behind. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { createLogger } from '../../../src/lib/log.ts';
import { migrate } from '../../../src/server/migrate.ts';
import { startPostgres } from '../../../tools/local/postgres.ts';
import { chosenWay, type Way } from './engine/find.ts';

export interface TestPostgres {
  /** Of the database `loopstream`, with the superuser's password. */
  url: string;
  stop(): Promise<void>;
}

/** A server of its own. `way`: for who has a reason to want one of the two; `parent`: where its files are made. */
export async function startTestPostgres(way?: Way, parent = tmpdir()): Promise<TestPostgres> {
  if ((way ?? (await chosenWay())) === 'processes') return startPostgresProcess(parent);
  const { startPostgresContainer } = await import('./engine/postgres.ts');
  return startPostgresContainer();
}

let shared: Promise<TestPostgres> | undefined;

/**
 * A database of its own, with all tables and nothing in them, on the server of this worker, which is ended with the run
 * (shared.ts). It is a copy of one that has been migrated: to migrate each took ten times the processor time.
 */
export async function shareTestPostgres(): Promise<TestPostgres> {
  shared ??= startShared();
  const { url: template } = await shared;
  const name = `loopstream_${randomBytes(8).toString('hex')}`;
  // Nobody may be in a database that is being copied.
  const server = databaseAt(template, 'postgres');
  // Files are copied as they are: by way of the log, as it is done unless told, costs five times as much.
  await query(server, `create database ${name} template ${new URL(template).pathname.slice(1)} strategy file_copy`);
  return {
    url: databaseAt(template, name),
    stop: async () => void (await query(server, `drop database ${name} with (force)`)),
  };
}

const databaseAt = (url: string, name: string): string => Object.assign(new URL(url), { pathname: name }).href;

async function startShared(): Promise<TestPostgres> {
  const postgres = await startTestPostgres(undefined, inject('sharedDir'));
  // Nothing of the secret is in the tables.
  await migrate({ databaseUrl: postgres.url, authSecret: 'a secret of the tests, long enough for the auth library' });
  return postgres;
}

async function startPostgresProcess(parent: string): Promise<TestPostgres> {
  const dir = await mkdtemp(join(parent, 'loopstream-postgres-'));
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
