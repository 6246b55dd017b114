/**
 * Ends the shared parts of a run's workers, and removes its directory. A finished run calls it. A signal leaves vitest only a millisecond,
 * so a process of its own does it then: `node clear.ts <directory>`.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepLeftovers } from '../../../tools/process/processes.ts';

export async function clearShared(dir: string): Promise<void> {
  const parts = await readdir(dir);
  await Promise.all(parts.map((part) => sweepLeftovers(join(dir, part), { evenInUse: true })));
  // A server that ends with its worker may still write its last files.
  await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

const [, , dir] = process.argv;
if (import.meta.main && dir !== undefined) await clearShared(dir);
