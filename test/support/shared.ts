/**
 * Around the run of a project: a directory for what the files of a worker share, each part of it in a state directory of its
 * own, and the engine that their servers run in. A worker is ended without being asked, so that what it has started is ended
 * here.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { localEnvironment } from '../../src/config.ts';
import { sweepLeftovers } from '../../src/local/processes.ts';
import { aroundContainers } from './engine/containers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedDir: string;
  }
}

export default async function around(project: TestProject): Promise<() => Promise<void>> {
  const containers = await aroundContainers(localEnvironment().cacheDir);
  process.stdout.write(`${containers.told}\n`);
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-shared-'));
  project.provide('sharedDir', dir);
  return async () => {
    const parts = await readdir(dir);
    await Promise.all([containers.end(), ...parts.map((part) => sweepLeftovers(join(dir, part), { evenInUse: true }))]);
    // A server that ends with its worker may be at its last files.
    await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}
