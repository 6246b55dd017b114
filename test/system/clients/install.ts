/**
 * Installs clients of others, in the versions of a directory here: from npm by its lock file, from PyPI by its requirements, into the
 * cache. A lock file has every checksum.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../src/core/settings/environment.ts';
import { localEnvironment } from '../../../tools/process/environment.ts';
import { withFileLock } from '../../../tools/process/filelock.ts';
import { ensurePrograms } from '../../../tools/process/preflight.ts';
import { run } from '../../kit/run.ts';

const FETCH_MS = 10 * 60_000;

/** Runs a command to its end; throws with the end of its output when it fails. */
export async function must(command: string, args: readonly string[], cwd?: string): Promise<string> {
  return (await run(command, args, { timeoutMs: FETCH_MS, ...(cwd && { cwd }) })).stdout;
}

/** Returns a directory of the cache for `parts`; the first process to need it runs `install` once. */
export async function installOnce(
  name: string,
  parts: readonly (string | Buffer)[],
  install: (dir: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const dir = join(localEnvironment().cacheDir, `clients-${name}-${hash.digest('hex').slice(0, 16)}`);
  const whole = join(dir, 'whole');
  if (existsSync(whole)) return dir;
  mkdirSync(join(dir, '..'), { recursive: true });
  await withFileLock(`${dir}.lock`, async () => {
    // The previous holder of the lock may have installed it. A marker file says that it is complete.
    if (existsSync(whole)) return;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    await install(dir);
    writeFileSync(`${whole}.new`, '');
    renameSync(`${whole}.new`, whole);
  });
  return dir;
}

/** Installs the package-lock.json of `directory`; resolves to the folder of node_modules. No installation script runs. */
export function installNpm(name: string, directory: string): Promise<string> {
  const files = ['package.json', 'package-lock.json'].map((file) => join(directory, file));
  return installOnce(
    name,
    files.map((file) => readFileSync(file)),
    async (dir) => {
      for (const file of ['package.json', 'package-lock.json']) cpSync(join(directory, file), join(dir, file));
      // `npm ci` refuses a lock file without the optional packages of other platforms.
      const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
      await must('npm', ['install', ...options], dir);
    },
  );
}

/** Installs the requirements.txt of `directory` with its hashes; resolves to a virtual environment. */
export function installPython(name: string, directory: string): Promise<string> {
  const requirements = join(directory, 'requirements.txt');
  return installOnce(name, [readFileSync(requirements)], async (dir) => {
    const python = { command: 'python3', aptPackage: 'python3-venv', probe: ['-c', 'import ensurepip, venv'] };
    await ensurePrograms([python], { env: environment(), onProgress: undefined });
    await must('python3', ['-m', 'venv', dir]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile', '--require-hashes'];
    await must(join(dir, 'bin', 'python3'), [...pip, '--requirement', requirements]);
  });
}
