/** Runs commands of the machine (ip, mount, buildah …) that must succeed. */
import { accessSync, constants } from 'node:fs';
import { environment } from '../../../../src/settings/environment.ts';
import { type CommandOptions, run } from '../../../../tools/process/run.ts';

/** Returns the output. Throws the command's complaint. */
export async function runOrThrow(command: string, args: readonly string[], options: Partial<CommandOptions> = {}) {
  const { ok, stdout, stderr } = await run(command, args, { env: environment(), timeoutMs: 60_000, ...options });
  if (!ok) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim().slice(-2000)}`);
  return stdout;
}

/** Ignores a failure, e.g. of removing a missing thing. */
export const tryRun = async (command: string, args: readonly string[]): Promise<boolean> =>
  (await run(command, args, { env: environment(), timeoutMs: 60_000 })).ok;

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
