/** Runs ffmpeg and ffprobe on strangers' files. */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toolEnvironment } from '../../../settings/environment.ts';
import { commandLine, type Executable } from '../../confinement/confine.ts';
import { findInputPath } from './untrusted-input.ts';

const STDERR_TAIL_CHARS = 4096;
/** Exit status of native/confine.c. */
const LAUNCHER_FAILED = 126;

/** A program that ended with an error. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** True when something from outside ended it, e.g. the kernel for want of memory. */
  readonly killed: boolean;
  /** The last part of its stderr. */
  readonly stderr: string;
  constructor(message: string, killed: boolean, stderr: string) {
    super(message);
    this.killed = killed;
    this.stderr = stderr;
  }
}

export interface RunningTool {
  stdout: Readable;
  /** Resolves with the tail of stderr; rejects with ToolError, or with the signal's reason when that ended the tool. */
  done: Promise<string>;
}

/** Bytes for the stdin of a tool. The caller ends the tool by its signal when they fail. */
export type ToolInput = AsyncIterable<Buffer>;

export interface ToolOptions {
  /** Its stdin; empty by default. */
  input?: ToolInput | undefined;
  /** True where nobody waits for it: others come first, but it is not starved. */
  isBackground?: boolean | undefined;
}

/** Starts a tool in another container. */
export interface ToolStarter {
  start(args: string[], signal: AbortSignal, options?: ToolOptions): RunningTool;
}

/** ffmpeg, ffprobe or draw-text: a program of this machine, or of the container beside this one. */
export type MediaTool = Executable | ToolStarter;

/** Signals that a program gives itself: media that crashes it does so each time. */
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL']);

/** Finds the input files in the arguments of ffmpeg or ffprobe. */
const findInputs = (args: readonly string[]): string[] =>
  args.flatMap((arg, at) => (args[at - 1] === '-i' ? (findInputPath(arg) ?? []) : []));

/** Starts `tool`. The signal kills it at once: it writes to a pipe alone, so it leaves nothing behind. */
export function startTool(
  tool: MediaTool,
  args: string[],
  signal: AbortSignal,
  options: ToolOptions = {},
): RunningTool {
  signal.throwIfAborted();
  if (typeof tool === 'object') return tool.start(args, signal, options);
  const [program, ...words] = commandLine(tool, args, { reads: findInputs(args) });
  const command = typeof tool === 'string' ? tool : (words[words.indexOf('--') + 1] ?? program);
  const child = spawn(program, words, { env: toolEnvironment() });
  if (options.isBackground) lowerPriority(child.pid);
  // A tool may end before its input does, and its end says why.
  pipeline(options.input ?? [], child.stdin).catch(() => undefined);
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_CHARS);
  });
  const done = new Promise<string>((resolve, reject) => {
    child.on('error', (error) => reject(new ToolError(`${command} cannot be run: ${error.message}`, true, '')));
    child.on('close', (code, by) => {
      signal.removeEventListener('abort', kill);
      if (code === 0) return resolve(stderr);
      if (signal.aborted) return reject(signal.reason);
      // The launcher's status means that the program is missing, which says nothing about the media.
      const notBegun = program !== command && code === LAUNCHER_FAILED && stderr.startsWith('confine: ');
      const killed = by !== null && !CRASHES.has(by);
      reject(new ToolError(`${command} ended with ${by ?? `status ${code}`}`, killed || notBegun, stderr));
    });
  });
  // A reader of stdout may fail first and handle that; this rejection must not end the process.
  done.catch(() => undefined);
  return { stdout: child.stdout, done };
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended, or the system does not allow it: it works at the usual priority.
  }
}

/** Runs `tool` to its end and passes on each line of its stdout. */
export async function eachLine(
  tool: MediaTool,
  args: string[],
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  const { stdout, done } = startTool(tool, args, signal);
  for await (const line of createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) onLine(line);
  await done;
}
