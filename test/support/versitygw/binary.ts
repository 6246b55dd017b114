/** versitygw, a real S3 server: built once from Go modules into the cache, keyed by go.mod and go.sum. */
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type environment, localEnvironment } from '../../../src/config.ts';
import { withFileLock } from '../../../src/local/filelock.ts';
import { buildPrograms } from '../../../src/local/kubernetes/gobuild.ts';

const MODULE_DIR = import.meta.dirname;
const PROGRAM = {
  file: 'versitygw',
  goPackage: 'github.com/versity/versitygw/cmd/versitygw',
  versionArgs: ['--version'],
  version: '',
};

/** Where the program of this go.sum is, built or not. */
function versitygwPath(): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE_DIR, file)));
  const entry = `versitygw-${hash.digest('hex').slice(0, 16)}`;
  return join(resolve(localEnvironment().cacheDir), entry, PROGRAM.file);
}

/** The program's absolute path; builds it first when it is not there, which takes about a minute. */
export async function ensureVersitygw(
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<string> {
  const path = versitygwPath();
  if (isExecutable(path)) return path;
  const dir = join(path, '..');
  mkdirSync(dir, { recursive: true });
  await withFileLock(`${dir}.lock`, async () => {
    // Whoever held the lock before may have built it. It appears under its name only when it is whole.
    if (isExecutable(path)) return;
    await buildPrograms({
      dir,
      moduleDir: MODULE_DIR,
      programs: [PROGRAM],
      name: 'versitygw (the S3 server of the tests)',
      env,
      onProgress,
    });
  });
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
