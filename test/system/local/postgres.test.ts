import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import { type RunningPostgres, startPostgres } from '../../../tools/local/postgres.ts';
import { identify, isAlive } from '../../../tools/process/identity.ts';
import { query } from '../../kit/real/postgres.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

let dir: string;
const started: RunningPostgres[] = [];

beforeEach(() => {
  dir = tempDir();
});
afterEach(async () => {
  for (const postgres of started.splice(0)) await postgres.stop();
});

async function start(): Promise<RunningPostgres> {
  const postgres = await startPostgres({ dataDir: join(dir, 'postgres'), log: createLogger('test', 'silent') });
  started.push(postgres);
  return postgres;
}

test('state survives a restart, a killed Postgres, and a leftover of an earlier run', async () => {
  const first = await start();
  await query(first.url, 'create table kept (n int); insert into kept values (7)');
  await first.stop();
  await first.stop();
  const second = await start();
  process.kill(second.pid, 'SIGKILL');
  const third = await start();
  expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
  // The third is still running and holds the directory, so the fourth ends it.
  const fourth = await start();
  expect(await query(fourth.url, 'select n from kept')).toEqual([{ n: 7 }]);
  await expect(query(third.url, 'select 1')).rejects.toThrow();
});

test('it requires the password, which only its owner can read', async () => {
  const { url } = await start();
  await expect(query(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow(/password/);
  expect((await stat(join(dir, 'postgres/password'))).mode & 0o777).toBe(0o600);
});

test('Ctrl-C in the terminal reaches its parent alone, and it ends when its parent dies without a word', async () => {
  const root = new URL('../../../', import.meta.url).href;
  const program = `
    import { startPostgres } from '${root}tools/local/postgres.ts';
    import { createLogger } from '${root}src/core/lib/log.ts';
    const dataDir = ${JSON.stringify(join(dir, 'postgres'))};
    const { url, pid } = await startPostgres({ dataDir, log: createLogger('test', 'silent') });
    process.on('SIGINT', () => process.stdout.write('interrupted\\n'));
    process.stdout.write(JSON.stringify({ url, pid }) + '\\n');
    setInterval(() => undefined, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(parent, 'exit');
  try {
    const lines = createInterface(parent.stdout)[Symbol.asyncIterator]();
    const { url, pid } = JSON.parse(String((await lines.next()).value)) as { url: string; pid: number };
    const postgres = identify(pid);
    // A terminal sends the signal to the whole process group in its foreground.
    process.kill(-Number(parent.pid), 'SIGINT');
    expect((await lines.next()).value).toBe('interrupted');
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    parent.kill('SIGKILL');
    await until('Postgres has ended', () => postgres !== undefined && !isAlive(postgres));
  } finally {
    parent.kill('SIGKILL');
    await exited;
  }
});

test('a directory that cannot be made is an error, not a wait', async () => {
  await writeFile(join(dir, 'file'), '');
  const log = createLogger('test', 'silent');
  await expect(startPostgres({ dataDir: join(dir, 'file/postgres'), log })).rejects.toThrow(/ENOTDIR/);
});
