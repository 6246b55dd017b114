/** Runs commands of the machine (ip, mount, buildah …) that must succeed. */
import { accessSync, constants } from 'node:fs';
import { environment } from '../../../../src/core/settings/environment.ts';
import { type CommandOptions, run as runCommand } from '../../../../tools/process/run.ts';
import { run } from '../../run.ts';

/** Returns the output. Throws the command's complaint. */
export async function runOrThrow(command: string, args: readonly string[], options: Partial<CommandOptions> = {}) {
  return (await run(command, args, { timeoutMs: 60_000, ...options })).stdout;
}

/** Ignores a failure, e.g. of removing a missing thing. */
export const tryRun = async (command: string, args: readonly string[]): Promise<boolean> =>
  (await runCommand(command, args, { env: environment(), timeoutMs: 60_000 })).ok;

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
