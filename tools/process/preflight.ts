/**
 * Checks the programs that must be on the machine before anything starts: they are found, installed where that is
 * allowed, or named.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../../src/core/settings/environment.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { withFileLock } from './filelock.ts';
import { run } from './run.ts';

/** A command in PATH, or a file that is no program, e.g. a module that another one loads. */
export type NeededProgram = { aptPackage: string } & (
  | {
      command: string;
      /** Arguments with which it must end with status 0 to count as there; without them it must only exist. */
      probe?: readonly string[];
    }
  | { file: string }
);

export interface PreflightOptions {
  /** PATH, and what apt-get needs of proxies; this process's environment by default. */
  env?: Record<string, string | undefined>;
  onProgress?: ((step: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Whether this process may install; by default whether it is root. */
  isRoot?: boolean;
}

/**
 * Sees to it that every program is there: as root on a machine with apt-get it installs what is missing, otherwise it
 * throws a ConfigError, one sentence with the exact command.
 */
export async function ensurePrograms(
  programs: readonly NeededProgram[],
  options: PreflightOptions = {},
): Promise<void> {
  const missing = await missingPrograms(programs, options);
  if (missing.length === 0) return;
  const commands = [...new Set(missing.map(nameProgram))].join(', ');
  const packages = [...new Set(missing.map((program) => program.aptPackage))];
  const isRoot = options.isRoot ?? process.getuid?.() === 0;
  const install = `apt-get install -y ${packages.join(' ')}`;
  if (!(await exists('apt-get', options))) {
    throw new ConfigError(
      `${commands} cannot be found. Install the packages that your system calls ${packages.join(', ')}.`,
    );
  }
  if (!isRoot) throw new ConfigError(`${commands} cannot be found. Run \`sudo ${install}\`.`);
  await inTurn(() => aptInstall(packages, options));
  const still = await missingPrograms(missing, options);
  if (still.length > 0) {
    throw new ConfigError(
      `${still.map(nameProgram).join(', ')} cannot be found, although ${packages.join(', ')} is installed. Check PATH.`,
    );
  }
}

async function missingPrograms(programs: readonly NeededProgram[], options: PreflightOptions) {
  const found = await Promise.all(
    programs.map(async (program) => {
      if ('file' in program) return existsSync(program.file);
      const { command, probe } = program;
      return probe ? (await run(command, probe, settings(options))).ok : exists(command, options);
    }),
  );
  return programs.filter((_, index) => !found[index]);
}

async function exists(command: string, options: PreflightOptions): Promise<boolean> {
  return (await run('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', command], settings(options))).ok;
}

/** apt-get waits for dpkg's lock, but not for that of the lists of packages. So we take turns, here and between processes. */
const APT_LOCK = join(tmpdir(), 'loopstream-apt.lock');
let before: Promise<unknown> = Promise.resolve();

function inTurn(install: () => Promise<void>): Promise<void> {
  const turn = before.then(() => withFileLock(APT_LOCK, install));
  before = turn.catch(() => {});
  return turn;
}

async function aptInstall(packages: string[], options: PreflightOptions): Promise<void> {
  const { env, signal } = settings(options);
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' }, timeoutMs: 15 * 60_000, signal };
  // Another apt-get, e.g. the nightly upgrade, may hold dpkg's lock for a while.
  const apt = (...args: string[]) => run('apt-get', ['-o', 'DPkg::Lock::Timeout=120', '-q', ...args], quiet);
  options.onProgress?.(`installing ${packages.join(', ')}`);
  // A list that could not be renewed is no reason to fail: an older one may do, and the installation says what is wrong.
  await apt('update');
  const { ok, stderr } = await apt('install', '-y', '--no-install-recommends', ...packages);
  if (ok) return;
  const why =
    stderr
      .split('\n')
      .find((line) => line.startsWith('E: '))
      ?.slice(3) ?? 'apt-get gave no reason';
  throw new ConfigError(
    `${packages.join(', ')} could not be installed (${why}). Run \`apt-get install -y ${packages.join(' ')}\` to see the whole output.`,
  );
}

const nameProgram = (program: NeededProgram): string => ('file' in program ? program.file : program.command);

const settings = ({ env = environment(), signal }: PreflightOptions) => ({ env, signal });
