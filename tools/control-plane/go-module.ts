/** Programs that tests need and no package brings: built once from a Go module into the cache, keyed by go.mod and go.sum. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { environment } from '../../src/core/settings/environment.ts';
import { localEnvironment } from '../process/environment.ts';
import { withFileLock } from '../process/filelock.ts';
import { isExecutable } from './binaries.ts';
import { buildPrograms } from './gobuild.ts';

interface GoProgram {
  goPackage: string;
  /** Flags of Go's linker; none by default. */
  linkerFlags?: string;
}

export interface GoModule<Name extends string> {
  /** Of its place in the cache. */
  file: string;
  /** For messages, e.g. `the programs of the tests`. */
  name: string;
  /** The directory with go.mod and go.sum. */
  moduleDir: string;
  /** Files of the module's own in that directory, if it has any. */
  sources?: readonly string[];
  /** Packages whose own speed hardly counts (gobuild.ts). */
  seldomUsed?: readonly string[];
  /** By the names that their files get. */
  programs: Record<Name, GoProgram>;
}

/** Where the programs of this go.sum are, built or not. */
function findProgramsDir({ moduleDir, file, sources = [], programs }: GoModule<string>): string {
  const hash = createHash('sha256');
  for (const { linkerFlags = '' } of Object.values<GoProgram>(programs)) hash.update(linkerFlags);
  for (const name of ['go.mod', 'go.sum', ...sources]) hash.update(readFileSync(join(moduleDir, name)));
  return join(resolve(localEnvironment().cacheDir), `${file}-${hash.digest('hex').slice(0, 16)}`);
}

/**
 * Absolute paths of all programs of a module; builds those that are not there, each a minute or two. They are built together,
 * since most of what they are made of is the same.
 */
export async function ensureGoModule<Name extends string>(
  module: GoModule<Name>,
  onProgress?: (step: string) => void,
): Promise<Record<Name, string>> {
  const dir = findProgramsDir(module);
  const files = Object.keys(module.programs) as Name[];
  const missing = () => files.filter((file) => !isExecutable(join(dir, file)));
  const build = () =>
    buildPrograms({
      dir,
      moduleDir: module.moduleDir,
      seldomUsed: module.seldomUsed ?? [],
      name: module.name,
      programs: missing().map((file) => ({ linkerFlags: '', file, ...module.programs[file] })),
      env: environment(),
      onProgress,
    });
  if (missing().length > 0) {
    mkdirSync(dir, { recursive: true });
    // The process that held the lock before may have built them. Each appears under its name only when it is whole.
    await withFileLock(`${dir}.lock`, async () => (missing().length > 0 ? build() : undefined));
  }
  return Object.fromEntries(files.map((file) => [file, join(dir, file)])) as Record<Name, string>;
}
