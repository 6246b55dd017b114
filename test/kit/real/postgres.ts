/** Runs a real Postgres for tests, in a container or as a process (engine/find.ts), and removes it afterwards. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import { migrate } from '../../../src/service/server/migrate.ts';
import { startPostgres } from '../../../tools/local/postgres.ts';
import { chosenWay, type Way } from './engine/find.ts';

export interface TestPostgres {
  /** The URL of the database `loopstream`, with the superuser's password. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a server of the test's own. `way` chooses where it runs; `parent` is the folder for its files. */
export async function startTestPostgres(way?: Way, parent = tmpdir()): Promise<TestPostgres> {
  if ((way ?? (await chosenWay())) === 'processes') return startPostgresProcess(parent);
  const { startPostgresContainer } = await import('./engine/postgres.ts');
  return startPostgresContainer();
}

let shared: Promise<TestPostgres> | undefined;

/**
 * Makes a database with all tables, and no rows, on this worker's server, which ends with the run (shared.ts). It copies a migrated one: a
 * migration each time took ten times the processor time.
 */
export async function shareTestPostgres(): Promise<TestPostgres> {
  shared ??= startShared();
  const { url: template } = await shared;
  const name = `loopstream_${randomBytes(8).toString('hex')}`;
  // Postgres copies a database only without connections to it.
  const server = databaseAt(template, 'postgres');
  // The strategy copies files as they are: the default goes through the log, at five times the cost.
  await query(server, `create database ${name} template ${new URL(template).pathname.slice(1)} strategy file_copy`);
  return {
    url: databaseAt(template, name),
    stop: async () => void (await query(server, `drop database ${name} with (force)`)),
  };
}

const databaseAt = (url: string, name: string): string => Object.assign(new URL(url), { pathname: name }).href;

async function startShared(): Promise<TestPostgres> {
  const postgres = await startTestPostgres(undefined, inject('sharedDir'));
  // The tables contain nothing derived from the secret.
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

/** Runs one statement over a connection of its own; returns its rows. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
