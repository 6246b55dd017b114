/**
 * Starts ffmpeg and ffprobe with minimal rights, by the launcher that is built from native/confine.c: no files but
 * libraries and the named ones, no new processes, no privileges, and no network unless asked for.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../lib/log.ts';
import type { ConfineMode } from '../../protocol/confine-modes.ts';
import { environment } from '../../settings/environment.ts';
import { ConfigError } from '../../settings/settings.ts';

/** Rights of a program besides computing. */
export interface Needs {
  network?: boolean;
  /** Readable files and directories, with everything below them. */
  reads?: readonly string[];
  /** Descriptors of files that the program may open again by /dev/fd. */
  readFds?: readonly number[];
  /** The first descriptor that the program does not get; 3 by default. */
  fds?: number;
  /** Limit of private memory, in bytes. */
  memoryBytes?: number;
  /** Limit of processor time, in seconds. */
  cpuSeconds?: number;
}

/** A program: its name or path, or a function that returns its confined command line. */
export type Executable = string | ((args: readonly string[], needs?: Needs) => [string, ...string[]]);

/** Returns the words that start `program`. */
export const commandLine = (program: Executable, args: readonly string[], needs?: Needs): [string, ...string[]] =>
  typeof program === 'string' ? [program, ...args] : program(args, needs);

/** Beside the bundle in an image, in dist/ of a checkout. */
const LAUNCHERS = ['../confine', '../../../../dist/confine'].map((path) => join(import.meta.dirname, path));

/** Variables that name files which libraries read. */
const FILES_OF_LIBRARIES = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'FONTCONFIG_PATH'];

/** The missing part of full confinement; null when nothing is missing, undefined before the check. */
let missing: string | null | undefined;

function findMissing(launcher: string | undefined): string | null {
  if (launcher === undefined) return 'the launcher "confine" is not built (it needs a C compiler)';
  const { stdout, error } = spawnSync(launcher, ['--check'], { encoding: 'utf8', env: {}, timeout: 10_000 });
  const [, landlock, seccomp] = /landlock=(\d+) seccomp=(\d)/.exec(stdout ?? '') ?? [];
  if (landlock === undefined) return `the launcher cannot be run (${error?.message ?? 'it printed nothing'})`;
  if (landlock === '0') return 'this kernel has no Landlock';
  return seccomp === '0' ? 'this kernel has no seccomp filters' : null;
}

/**
 * Confines `command` for all later starts; `base` applies to each. Throws ConfigError where `mode` is `required` and a
 * part is missing.
 */
export function confine(command: string, mode: ConfineMode, log: Logger, base: Needs = {}): Executable {
  if (mode === 'off') return command;
  const launcher = LAUNCHERS.find((path) => existsSync(path));
  if (missing === undefined) {
    missing = findMissing(launcher);
    if (missing !== null) log.warn(`ffmpeg and ffprobe are not fully confined: ${missing}`);
  }
  if (missing !== null && mode === 'required')
    throw new ConfigError(`LOOPSTREAM_CONFINE is "required", but ${missing}.`);
  if (launcher === undefined) return command;
  return (args, needs = {}) => {
    const { reads = [], readFds = [], network, fds, memoryBytes, cpuSeconds } = { ...base, ...needs };
    const files = [...(base.reads ?? []), ...reads, ...FILES_OF_LIBRARIES.flatMap((name) => environment()[name] ?? [])];
    return [
      launcher,
      ...(mode === 'required' ? ['--require'] : []),
      ...(network ? ['--network'] : []),
      ...files.flatMap((path) => ['--read', path]),
      ...readFds.flatMap((fd) => ['--read-fd', String(fd)]),
      ...(fds === undefined ? [] : ['--fds', String(fds)]),
      ...(memoryBytes === undefined ? [] : ['--memory', String(memoryBytes)]),
      ...(cpuSeconds === undefined ? [] : ['--cpu', String(cpuSeconds)]),
      '--',
      command,
      ...args,
    ];
  };
}

/** Confines the ffmpeg that sends to a destination: it has the network, and reads the authorities to trust. */
export const confineSender = (
  { sender, confine: mode, caFile }: { sender: string; confine: ConfineMode; caFile: string | undefined },
  log: Logger,
): Executable => confine(sender, mode, log, { network: true, reads: caFile === undefined ? [] : [caFile] });
