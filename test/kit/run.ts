/** Runs programs that must succeed. `tools/process/run.ts` has the one for which a failure is an ordinary outcome. */
import { environment } from '../../src/core/settings/environment.ts';
import { type CommandOptions, run as runCommand } from '../../tools/process/run.ts';

/** Returns what the program wrote. A failure throws its complaint, with `code` and both outputs; it is killed after ten minutes unless told. */
export async function run(
  program: string,
  args: readonly string[],
  options: Partial<CommandOptions> = {},
): Promise<{ stdout: string; stderr: string }> {
  const { ok, code, stdout, stderr } = await runCommand(program, args, {
    env: environment(),
    timeoutMs: 600_000,
    ...options,
  });
  if (ok) return { stdout, stderr };
  const said = (stderr.trim() || stdout.trim()).slice(-4000);
  throw Object.assign(new Error(`${program} ${args.join(' ').slice(0, 1000)}: ${said}`), { code, stdout, stderr });
}
