/** Runs short commands for their output: versions, openssl, package managers. Long-lived children: processes.ts. */
import { execFile } from 'node:child_process';

export interface CommandResult {
  /** Exit status 0. */
  ok: boolean;
  /** The exit status; undefined for a program that was killed, or is missing. */
  code?: number;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** The command's whole environment; a bare command name is looked up in its PATH. */
  env: Record<string, string | undefined>;
  cwd?: string;
  /** The command is killed after this; 30 s by default. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** Written to its standard input. */
  input?: string;
}

/** Runs a command to its end. A missing program is an ordinary failure; only an abort rejects, with the signal's reason. */
export function run(command: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { env, cwd, timeoutMs = 30_000, signal, input } = options;
  return new Promise((resolve, reject) => {
    const settings = {
      env,
      timeout: timeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 256 * 2 ** 20,
      encoding: 'utf8' as const,
    };
    const child = execFile(
      command,
      args,
      { ...settings, ...(cwd === undefined ? {} : { cwd }), ...(signal ? { signal } : {}) },
      (error, stdout, stderr) => {
        if (signal?.aborted) return reject(signal.reason);
        const code = error === null ? 0 : error.code;
        resolve({
          ok: error === null,
          ...(typeof code === 'number' && { code }),
          stdout,
          stderr: stderr || (error?.message ?? ''),
        });
      },
    );
    // A command that ends without reading its input is judged by its status alone.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}
