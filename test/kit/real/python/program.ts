/** Fetches programs of Python from PyPI into the cache, each with its locked dependencies. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { ensurePrograms } from '../../../../tools/process/preflight.ts';
import { run } from '../../../../tools/process/run.ts';

const FETCH_MS = 10 * 60_000;

export interface PythonProgram {
  /** The program's file, and the beginning of its directory in the cache. */
  name: string;
  /** A file of pip with the exact version of each package. */
  requirements: string;
}

/** Returns its absolute path; fetches it first when missing, which takes about half a minute. */
export async function ensurePythonProgram(
  { name, requirements }: PythonProgram,
  onProgress?: (step: string) => void,
): Promise<string> {
  const env = environment();
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const dir = join(localEnvironment().cacheDir, `${name}-${hash}`);
  const program = join(dir, 'bin', name);
  const whole = join(dir, 'whole');
  if (existsSync(whole)) return program;
  const python = { command: 'python3', aptPackage: 'python3-venv', probe: ['-c', 'import ensurepip, venv'] };
  await ensurePrograms([python], { env, onProgress });
  mkdirSync(join(dir, '..'), { recursive: true });
  await withFileLock(`${dir}.lock`, async () => {
    // The previous holder of the lock may have fetched it. A virtual environment cannot be moved, so a marker file says that it is
    // complete.
    if (existsSync(whole)) return;
    rmSync(dir, { recursive: true, force: true });
    onProgress?.(`fetching ${name}`);
    const must = async (command: string, args: string[]) => {
      const { ok, stderr } = await run(command, args, { env, timeoutMs: FETCH_MS });
      if (!ok) throw new Error(`${name} could not be fetched: ${stderr.trim().split('\n').at(-1) ?? ''}`);
    };
    await must('python3', ['-m', 'venv', dir]);
    // Most dependencies are never loaded, and need no compilation.
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile'];
    await must(join(dir, 'bin', 'python3'), [...pip, '--requirement', requirements]);
    writeFileSync(`${whole}.new`, '');
    renameSync(`${whole}.new`, whole);
  });
  return program;
}
