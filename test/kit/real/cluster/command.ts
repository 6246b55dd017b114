/** Commands of the machine (ip, mount, buildah …), which must succeed. */
import { accessSync, constants } from 'node:fs';
import { environment } from '../../../../src/settings/environment.ts';
import { type CommandOptions, run } from '../../../../tools/process/run.ts';

/** What it printed. Throws what it complained of. */
export async function must(command: string, args: readonly string[], options: Partial<CommandOptions> = {}) {
  const { ok, stdout, stderr } = await run(command, args, { env: environment(), timeoutMs: 60_000, ...options });
  if (!ok) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim().slice(-2000)}`);
  return stdout;
}

/** The same where failure is no harm, e.g. of what is not there to be removed. */
export const may = async (command: string, args: readonly string[]): Promise<boolean> =>
  (await run(command, args, { env: environment(), timeoutMs: 60_000 })).ok;

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
