/**
 * Ends what the workers of a run have shared, and removes its directory. A run that is over calls it; for one that a signal
 * ends, which vitest gives a millisecond more, a process of its own does: `node clear.ts <directory>`.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sweepLeftovers } from '../../../tools/process/processes.ts';

export async function clearShared(dir: string): Promise<void> {
  const parts = await readdir(dir);
  await Promise.all(parts.map((part) => sweepLeftovers(join(dir, part), { evenInUse: true })));
  // A server that ends with its worker may be at its last files.
  await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

const [, , dir] = process.argv;
if (import.meta.main && dir !== undefined) await clearShared(dir);
