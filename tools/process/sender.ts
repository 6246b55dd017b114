/**
 * Finds and builds ffmpeg-send, the ffmpeg that sends to destinations (scripts/build-sender), in the cache, keyed by its sources. `make run`
 * and the tests share it between checkouts. Where it is not built, the machine's own ffmpeg sends.
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

const SOURCES = [
  'scripts/build-sender',
  'scripts/ffmpeg-source',
  'native/rtmp-one-send.patch',
  'native/gnutls-rnd.c',
] as const;
/** It takes a minute of two processors, and packages may have to be installed before. */
const BUILD_TIMEOUT_MS = 20 * 60_000;

export const SENDER_SCRIPT = join(PROJECT_ROOT, 'scripts/build-sender');

/** Runs the script that builds the program into the directory; `reason` is its last line where it failed. */
export type BuildSender = (dir: string) => Promise<{ ok: boolean; reason: string | undefined }>;

export interface EnsureSenderOptions {
  onProgress?: (step: string) => void;
  build?: BuildSender;
  /** Ends the wait for another process that builds it. */
  signal?: AbortSignal;
  /** The directory of all caches, as in the environment by default. */
  cacheDir?: string;
}

function locateSender(cacheDir: string = localEnvironment().cacheDir): { dir: string; file: string } {
  const hash = createHash('sha256').update(process.arch);
  for (const source of SOURCES) hash.update(readFileSync(join(PROJECT_ROOT, source)));
  const dir = join(resolve(cacheDir), `sender-${hash.digest('hex').slice(0, 16)}`);
  return { dir, file: join(dir, 'ffmpeg-send') };
}

/** Returns the path of the built program; undefined where it is not built. */
export function findSender(cacheDir?: string): string | undefined {
  const { file } = locateSender(cacheDir);
  return existsSync(file) ? file : undefined;
}

/** Returns why this machine cannot build it, in a sentence; undefined where it can. */
export function whyNoSender(file = '/etc/os-release'): string | undefined {
  const { suite, name } = readSystem(existsSync(file) ? readFileSync(file, 'utf8') : '');
  return suite === SUITE ? undefined : `ffmpeg-send is built on Debian ${SUITE}, and this is ${name}`;
}

const buildHere: BuildSender = async (dir) => {
  const how = { env: localEnvironment().all, timeoutMs: BUILD_TIMEOUT_MS };
  const { ok, stderr } = await run(SENDER_SCRIPT, [dir], how);
  return { ok, reason: stderr.trim().split('\n').at(-1) };
};

/** Returns the path of the program, and builds it where it is missing. Throws ConfigError with the script's last words. */
export async function ensureSender(options: EnsureSenderOptions = {}): Promise<string> {
  const { onProgress, build = buildHere, signal, cacheDir } = options;
  const { dir, file } = locateSender(cacheDir);
  if (existsSync(file)) return file;
  const work = async () => {
    // The process that held the lock before may have built it. It appears under its name only when it is complete.
    if (existsSync(file)) return;
    onProgress?.('compiling ffmpeg-send');
    const { ok, reason } = await build(dir);
    if (!ok) throw new ConfigError(`ffmpeg-send could not be built: ${reason}`);
  };
  await withFileLock(`${dir}.lock`, work, { signal });
  return file;
}
