/** Runs ffmpeg and ffprobe on files that strangers made. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { toolEnvironment } from '../environment.ts';

const STDERR_TAIL_CHARS = 4096;

/** A program that ended with an error. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** True when something from outside ended it, e.g. the kernel for want of memory. */
  readonly killed: boolean;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
  constructor(message: string, killed: boolean, stderr: string) {
    super(message);
    this.killed = killed;
    this.stderr = stderr;
  }
}

export interface RunningTool {
  stdout: Readable;
  /** Resolves with the tail of stderr; rejects with ToolError, or with the signal's reason when that ended it. */
  done: Promise<string>;
}

/** Starts `command`; the signal kills it at once: it writes to a pipe alone, so it leaves nothing behind. */
export function startTool(command: string, args: string[], signal: AbortSignal): RunningTool {
  signal.throwIfAborted();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: toolEnvironment() });
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
      reject(new ToolError(`${command} ended with ${by ?? `status ${code}`}`, by !== null, stderr));
    });
  });
  // Whoever reads stdout may fail first; that the process failed too is then no news.
  done.catch(() => undefined);
  return { stdout: child.stdout, done };
}

/** Runs `command` to its end and hands over each line of its stdout. */
export async function eachLine(
  command: string,
  args: string[],
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  const { stdout, done } = startTool(command, args, signal);
  for await (const line of createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) onLine(line);
  await done;
}
