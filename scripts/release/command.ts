/** Runs the commands of a release, which must succeed. */
import { environment } from '../../src/core/settings/environment.ts';
import { type CommandOptions, run } from '../../tools/process/run.ts';

/** Returns the output. Rejects with the end of the command's complaint. */
export async function runOrFail(command: string, args: readonly string[], options: Partial<CommandOptions> = {}) {
  const { ok, stdout, stderr } = await run(command, args, { env: environment(), timeoutMs: 600_000, ...options });
  if (!ok)
    throw new Error(
      `${command} ${args.slice(0, 3).join(' ')} failed: ${(stderr.trim() || stdout.trim()).slice(-2000)}`,
    );
  return stdout;
}
