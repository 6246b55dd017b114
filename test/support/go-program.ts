/** Programs that tests need and no package brings: built once from Go modules into the cache, keyed by go.mod and go.sum. */
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type environment, localEnvironment } from '../../src/config.ts';
import { withFileLock } from '../../src/local/filelock.ts';
import { buildPrograms } from '../../src/local/kubernetes/gobuild.ts';

export interface GoProgram {
  /** Name of the file that is made. */
  file: string;
  goPackage: string;
  /** The directory with go.mod and go.sum. */
  moduleDir: string;
  /** Files of the program's own in that directory, if it has any. */
  sources?: string[];
  /** For messages, e.g. `Helm 4`. */
  name: string;
  /** For what the program tells of itself; nothing of it unless told. */
  linkerFlags?: string;
}

/** Where the program of this go.sum is, built or not. */
function pathOf({ moduleDir, file, sources = [], linkerFlags = '' }: GoProgram): string {
  const hash = createHash('sha256').update(linkerFlags);
  for (const name of ['go.mod', 'go.sum', ...sources]) hash.update(readFileSync(join(moduleDir, name)));
  return join(resolve(localEnvironment().cacheDir), `${file}-${hash.digest('hex').slice(0, 16)}`, file);
}

/** The program's absolute path; builds it first when it is not there, which takes about a minute. */
export async function ensureGoProgram(
  program: GoProgram,
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<string> {
  const path = pathOf(program);
  if (isExecutable(path)) return path;
  const dir = join(path, '..');
  mkdirSync(dir, { recursive: true });
  await withFileLock(`${dir}.lock`, async () => {
    // Whoever held the lock before may have built it. It appears under its name only when it is whole.
    if (isExecutable(path)) return;
    const { file, goPackage, moduleDir, name, linkerFlags } = program;
    await buildPrograms({
      dir,
      moduleDir,
      programs: [{ file, goPackage, versionArgs: [], version: '' }],
      name,
      env,
      onProgress,
      ...(linkerFlags !== undefined && { linkerFlags }),
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
