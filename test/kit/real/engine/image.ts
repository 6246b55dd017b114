/**
 * Makes the image of the tests' servers without a registry: a Debian with Redis, Postgres and a prepared database cluster. A copy of the
 * cluster saves a second of processor time. The cache keeps the image as an archive, from which any engine makes it; its name is a hash of
 * its sources.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { runOrThrow } from '../cluster/command.ts';
import { DEBIAN_RECIPE, makeDebian } from '../debian.ts';
import { hasImage, importImage } from './api.ts';
import { engineDir } from './layout.ts';

const PACKAGES = ['redis-server', 'postgresql-15'];
export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';
/** The image's database cluster; its superuser has an unknown password. */
export const PREPARED_CLUSTER = '/var/lib/postgresql/prepared';
/** The options of `tools/local/postgres.ts`; small log files, so that a copy is small. */
const INITDB = ['-U', 'postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--no-locale', '--wal-segsize=1'];
const PREPARATION = 'create database loopstream\n';
const PASSWORD_FILE = '/tmp/password';
/** Paths that no server reads at run time: the compiler of long queries among them, and the package's own database cluster. */
const NEEDLESS = [
  'tmp/password',
  'usr/lib/llvm-14',
  'usr/lib/postgresql/15/lib/bitcode',
  'usr/lib/postgresql/15/lib/llvmjit.so',
  'usr/lib/x86_64-linux-gnu/libLLVM-14.so.1',
  'usr/lib/aarch64-linux-gnu/libLLVM-14.so.1',
  'usr/share/doc',
  'usr/share/locale',
  'usr/share/man',
  'var/cache/apt',
  'var/lib/apt/lists',
  'var/lib/postgresql/15',
];
const TIMEOUT_MS = 15 * 60_000;

const RECIPE = createHash('sha256').update(JSON.stringify([DEBIAN_RECIPE, PACKAGES, INITDB, PREPARATION, NEEDLESS]));
const HASH = RECIPE.digest('hex').slice(0, 16);
export const SERVERS_IMAGE = `loopstream-test-servers:${HASH}`;

const archiveIn = (cacheDir: string): string => join(engineDir(cacheDir), `servers-${HASH}.tar`);

/**
 * Runs a program of the new Debian without a network, in the caller's lifetime. The package of Postgres starts a server on a port of the
 * machine when it is installed.
 */
const inside = (root: string, command: string[], { user = 'root', input = '' } = {}): Promise<string> =>
  runOrThrow(
    'unshare',
    [...['--pid', '--fork', '--kill-child', '--mount', '--net', 'chroot', `--userspec=${user}`], root, ...command],
    { timeoutMs: TIMEOUT_MS, input, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' } },
  );

async function prepareCluster(root: string): Promise<void> {
  const as = { user: 'postgres:postgres' };
  writeFileSync(join(root, PASSWORD_FILE), randomBytes(18).toString('base64url'), { mode: 0o644 });
  const how = ['-D', PREPARED_CLUSTER, `--pwfile=${PASSWORD_FILE}`, '--no-sync', ...INITDB];
  await inside(root, [`${POSTGRES_BIN}/initdb`, ...how], as);
  await inside(root, [`${POSTGRES_BIN}/postgres`, '--single', '-D', PREPARED_CLUSTER, 'postgres'], {
    ...as,
    input: PREPARATION,
  });
}

/** Makes the archive unless it is there, in a minute or two. */
export async function ensureServersArchive(cacheDir: string, onProgress: (step: string) => void): Promise<void> {
  const archive = archiveIn(cacheDir);
  if (existsSync(archive)) return;
  mkdirSync(engineDir(cacheDir), { recursive: true });
  await withFileLock(`${archive}.lock`, async () => {
    if (existsSync(archive)) return;
    onProgress('making a Debian with Redis and Postgres (mmdebstrap)');
    const root = join(engineDir(cacheDir), 'debian');
    rmSync(root, { recursive: true, force: true });
    await makeDebian(root, PACKAGES);
    await prepareCluster(root);
    for (const path of NEEDLESS) rmSync(join(root, path), { recursive: true, force: true });
    await runOrThrow('tar', ['-C', root, '--one-file-system', '-cf', `${archive}.partial`, '.'], {
      timeoutMs: TIMEOUT_MS,
    });
    renameSync(`${archive}.partial`, archive);
    rmSync(root, { recursive: true });
  });
}

/** Gives an engine the image unless it has it. Returns the reason when there is no archive. */
export async function ensureServersImage(socket: string, cacheDir: string): Promise<string | undefined> {
  if (await hasImage(socket, SERVERS_IMAGE)) return undefined;
  const archive = archiveIn(cacheDir);
  if (!existsSync(archive)) return `there is no ${archive}, which \`make test\` makes where it is root`;
  await importImage(socket, SERVERS_IMAGE, archive);
  return undefined;
}
