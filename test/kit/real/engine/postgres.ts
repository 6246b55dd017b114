/** Runs Postgres in a container, with its files in memory. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { reserveFreePort } from '../../../../tools/process/ports.ts';
import { until } from '../../wait.ts';
import type { TestPostgres } from '../postgres.ts';
import { runContainer } from './container.ts';
import { POSTGRES_BIN, PREPARED_CLUSTER } from './image.ts';

const START_TIMEOUT_MS = 60_000;
const DATA = '/run/loopstream';
const PASSWORD_SQL = '/etc/loopstream-password.sql';

/** The test settings of `tools/local/postgres.ts`. */
const settings = (port: number): Record<string, string> => ({
  listen_addresses: '127.0.0.1',
  port: String(port),
  unix_socket_directories: '',
  dynamic_shared_memory_type: 'posix',
  shared_buffers: '32MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
});

/** The script sets the password from a file before Postgres listens: every user can read a command line. */
function script(port: number): string {
  const options = Object.entries(settings(port)).map(([name, value]) => `-c ${name}='${value}'`);
  return [
    'set -e',
    'export LC_ALL=C TZ=UTC',
    `cp -a ${PREPARED_CLUSTER} ${DATA}/cluster`,
    `${POSTGRES_BIN}/postgres --single -D ${DATA}/cluster -c fsync=off postgres <${PASSWORD_SQL} >/dev/null`,
    `exec ${POSTGRES_BIN}/postgres -D ${DATA}/cluster ${options.join(' ')}`,
  ].join('\n');
}

export async function startPostgresContainer(): Promise<TestPostgres> {
  const port = await reserveFreePort();
  const password = randomBytes(18).toString('base64url');
  const container = await runContainer({
    command: ['sh', '-c', script(port)],
    user: 'postgres',
    files: { [PASSWORD_SQL]: `alter user postgres password '${password}'\n` },
    inMemory: [DATA],
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/loopstream`;
  const ready = async () => (await connects(url)) || container.check().then(() => false);
  await until('Postgres answers', ready, START_TIMEOUT_MS);
  return { url, stop: container.remove };
}

async function connects(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
