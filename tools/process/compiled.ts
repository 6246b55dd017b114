/**
 * Finds and builds the programs of C that scripts of this project compile, in the cache, keyed by their sources. `make run` and the tests
 * share them between checkouts.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { localEnvironment } from './environment.ts';
import { withFileLock } from './filelock.ts';
import { PROJECT_ROOT } from './root.ts';
import { run } from './run.ts';
import { readSystem, SUITE } from './system.ts';

export interface Program {
  /** Of the file that the script makes. */
  name: string;
  /** Gets a directory, and ends with the reason where it fails. With `--check` it says whether it can build here. */
  script: string;
  /** Other files that the program is made of. */
  sources: readonly string[];
}

/** The ffmpeg that sends to destinations. Where it is not built, the machine's own ffmpeg sends. */
export const SENDER: Program = {
  name: 'ffmpeg-send',
  script: 'scripts/build-sender',
  sources: ['scripts/ffmpeg-source', 'native/rtmp-one-send.patch', 'native/gnutls-rnd.c'],
};
/** The program that draws the texts of overlays. */
export const DRAW_TEXT: Program = {
  name: 'draw-text',
  script: 'scripts/build-draw-text',
  sources: ['scripts/ffmpeg-source', 'scripts/image-fonts', 'native/draw-text.c'],
};

/** The longest takes a minute of two processors, and packages may have to be installed before. */
const BUILD_TIMEOUT_MS = 20 * 60_000;

/** Runs the script that builds a program into the directory; `reason` is its last line where it failed. */
export type BuildProgram = (dir: string) => Promise<{ ok: boolean; reason: string | undefined }>;

export interface EnsureOptions {
  onProgress?: (step: string) => void;
  build?: BuildProgram;
  /** Ends the wait for another process that builds it. */
  signal?: AbortSignal;
  /** The directory of all caches, as in the environment by default. */
  cacheDir?: string;
}

function locate({ name, script, sources }: Program, cacheDir: string = localEnvironment().cacheDir) {
  const hash = createHash('sha256').update(process.arch);
  for (const source of [script, ...sources]) hash.update(readFileSync(join(PROJECT_ROOT, source)));
  const dir = join(resolve(cacheDir), `${name}-${hash.digest('hex').slice(0, 16)}`);
  return { dir, file: join(dir, name) };
}

/** Returns the path of the built program; undefined where it is not built. */
export function findCompiled(program: Program, cacheDir?: string): string | undefined {
  const { file } = locate(program, cacheDir);
  return existsSync(file) ? file : undefined;
}

/** Returns why this machine cannot build it, in a sentence; undefined where it can. */
export function whyNotCompiled({ name }: Program, file = '/etc/os-release'): string | undefined {
  const { suite, name: system } = readSystem(existsSync(file) ? readFileSync(file, 'utf8') : '');
  return suite === SUITE ? undefined : `${name} is built on Debian ${SUITE}, and this is ${system}`;
}

export const scriptPath = ({ script }: Program): string => join(PROJECT_ROOT, script);

/** Returns the path of the program, and builds it where it is missing. Throws ConfigError with the script's last words. */
export async function ensureCompiled(program: Program, options: EnsureOptions = {}): Promise<string> {
  const buildHere: BuildProgram = async (dir) => {
    const how = { env: localEnvironment().all, timeoutMs: BUILD_TIMEOUT_MS };
    const { ok, stderr } = await run(scriptPath(program), [dir], how);
    return { ok, reason: stderr.trim().split('\n').at(-1) };
  };
  const { onProgress, build = buildHere, signal, cacheDir } = options;
  const { dir, file } = locate(program, cacheDir);
  if (existsSync(file)) return file;
  const work = async () => {
    // The process that held the lock before may have built it. It appears under its name only when it is complete.
    if (existsSync(file)) return;
    onProgress?.(`compiling ${program.name}`);
    const { ok, reason } = await build(dir);
    if (!ok) throw new ConfigError(`${program.name} could not be built: ${reason}`);
  };
  await withFileLock(`${dir}.lock`, work, { signal });
  return file;
}
