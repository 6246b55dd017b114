/**
 * Finds the programs of the control plane, and of a node if one is wanted, or builds them once. They come from a
 * directory of ready-made ones (KUBEBUILDER_ASSETS), our cache, or Go modules. The cache is outside the checkout and
 * keyed by the sources, so that a fresh clone builds nothing.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { withFileLock } from '../process/filelock.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import { run } from '../process/run.ts';
import { buildPrograms } from './gobuild.ts';
import { KUBERNETES_VERSION, PROGRAM_KEYS, PROGRAMS, type Program, type ProgramKey, SELDOM_USED } from './programs.ts';

export interface BinariesOptions {
  /** Directory of the builds, e.g. ~/.cache/loopstream. */
  cacheDir: string;
  /** KUBEBUILDER_ASSETS: a directory with ready-made programs; those it lacks are built. */
  assetsDir?: string | undefined;
  /** The process's environment, for Go and pip: PATH, HOME, proxies, module proxy. */
  env: Record<string, string | undefined>;
  /** Told at each step that takes long, e.g. `linking kube-apiserver (2 of 5)`. */
  onProgress?: ((step: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Makes the named programs in `dir`; the build from Go modules by default. */
  build?: typeof buildPrograms;
}

const MODULE_DIR = join(PROJECT_ROOT, 'tools/control-plane');

/** Returns the directory of this release's programs in the cache: changed sources lead to another one. */
export function cacheEntry(cacheDir: string): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'coredns/main.go']) hash.update(readFileSync(join(MODULE_DIR, file)));
  return join(resolve(cacheDir), `kubernetes-${KUBERNETES_VERSION}-${hash.digest('hex').slice(0, 16)}`);
}

/**
 * Returns absolute paths of programs that were seen to run; by default those of the control plane. Throws ConfigError,
 * one sentence, when they are unavailable. One build for several programs compiles most of their code only once.
 */
export async function ensureBinaries<Key extends ProgramKey = (typeof PROGRAM_KEYS)[number]>(
  options: BinariesOptions,
  keys: readonly Key[] = PROGRAM_KEYS as readonly ProgramKey[] as readonly Key[],
): Promise<Record<Key, string>> {
  const assets = options.assetsDir === undefined ? {} : await readyMade(options.assetsDir, options);
  const dir = cacheEntry(options.cacheDir);
  const wanted = keys.filter((key) => assets[key] === undefined);
  if ((await broken(dir, wanted, options)).length > 0) await buildLocked(dir, wanted, options);
  return Object.fromEntries(keys.map((key) => [key, assets[key] ?? join(dir, PROGRAMS[key].file)])) as Record<
    Key,
    string
  >;
}

/** A named directory that is no use is a mistake worth telling, not one to build around for minutes. */
async function readyMade(assetsDir: string, options: BinariesOptions): Promise<Partial<Record<ProgramKey, string>>> {
  const dir = resolve(assetsDir);
  const present = PROGRAM_KEYS.filter((key) => isExecutable(join(dir, PROGRAMS[key].file)));
  if (present.length === 0) {
    throw new ConfigError(
      `KUBEBUILDER_ASSETS names ${dir}, which has no etcd or no kube-apiserver. Correct or unset it.`,
    );
  }
  for (const key of present) {
    const file = join(dir, PROGRAMS[key].file);
    const { ok, stderr } = await run(file, PROGRAMS[key].versionArgs, { env: pathOnly(options) });
    if (ok) continue;
    const why = stderr.trim().split('\n')[0] ?? '';
    throw new ConfigError(
      `${file} of KUBEBUILDER_ASSETS does not run (${why}). Replace it, or unset KUBEBUILDER_ASSETS.`,
    );
  }
  return Object.fromEntries(present.map((key) => [key, join(dir, PROGRAMS[key].file)]));
}

/**
 * Returns the wanted programs that are missing, do not run, or are of another release. The result is cached beside
 * them, since asking six programs for their version at each start costs half a second of processor time.
 */
async function broken(dir: string, wanted: readonly ProgramKey[], options: BinariesOptions): Promise<ProgramKey[]> {
  const working = await Promise.all(wanted.map((key) => works(join(dir, PROGRAMS[key].file), PROGRAMS[key], options)));
  return wanted.filter((_, index) => !working[index]);
}

async function works(path: string, { versionArgs, version }: Program, options: BinariesOptions): Promise<boolean> {
  if (!isExecutable(path)) return false;
  const note = `${path}.works`;
  const looks = `${fingerprint(path)} ${version}`;
  if (readOr(note, '') === looks) return true;
  const { ok, stdout } = await run(path, versionArgs, { env: pathOnly(options), signal: options.signal });
  if (!ok || !stdout.includes(version)) return false;
  try {
    writeFileSync(`${note}.${process.pid}`, looks);
    renameSync(`${note}.${process.pid}`, note);
  } catch {
    // A cache that this user may only read, or a full disk: it is asked again next time.
  }
  return true;
}

/** Identifies the file's content on this kind of machine: several machines may share a home directory. */
function fingerprint(path: string): string {
  const { dev, ino, size, ctimeMs } = statSync(path);
  return [process.platform, process.arch, dev, ino, size, ctimeMs].join(' ');
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

async function buildLocked(dir: string, wanted: readonly ProgramKey[], options: BinariesOptions): Promise<void> {
  makeCache(dir);
  const { onProgress, signal, build = buildPrograms } = options;
  const work = async () => {
    // The previous holder of the lock may have built the missing programs.
    const missing = await broken(dir, wanted, options);
    for (const key of missing) rmSync(join(dir, PROGRAMS[key].file), { recursive: true, force: true });
    if (missing.length === 0) return;
    await build({
      dir,
      moduleDir: MODULE_DIR,
      seldomUsed: SELDOM_USED,
      programs: missing.map((key) => PROGRAMS[key]),
      env: options.env,
      onProgress,
      signal,
    });
    const still = await broken(dir, missing, options);
    if (still.length > 0) {
      const files = still.map((key) => PROGRAMS[key].file).join(', ');
      throw new ConfigError(`${files} was built but does not run. Remove ${dir} and try again.`);
    }
  };
  const onWait = (pid: number) => onProgress?.(`waiting for the build of process ${pid}`);
  await withFileLock(`${dir}.lock`, work, { onWait, signal });
}

function makeCache(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
    accessSync(dir, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `The cache ${dir} cannot be written (${code}). Set XDG_CACHE_HOME to a directory that you own.`,
    );
  }
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const pathOnly = ({ env }: BinariesOptions) => ({ PATH: env.PATH, HOME: env.HOME });
