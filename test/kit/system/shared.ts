/**
 * Wraps a project's run: a directory for each worker's shared servers, each with a state directory of its own, and the engine that they run
 * in. A worker ends without a warning, so this ends its servers.
 */
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { localEnvironment } from '../../../tools/process/environment.ts';
import { aroundContainers } from '../real/engine/containers.ts';
import { ensureApp } from './app.ts';
import { clearShared } from './clear.ts';

const CLEAR = join(import.meta.dirname, 'clear.ts');

declare module 'vitest' {
  interface ProvidedContext {
    sharedDir: string;
  }
}

// Never called: `make test` starts it by its path around all of these tests, so its sources count as theirs.
void (() => import('../real/engine/keep.ts'));

export default async function around(project: TestProject): Promise<() => Promise<void>> {
  await ensureApp();
  const containers = await aroundContainers(localEnvironment().cacheDir);
  process.stdout.write(`${containers.told}\n`);
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-shared-'));
  project.provide('sharedDir', dir);
  const whenKilled = () => spawn(process.execPath, [CLEAR, dir], { detached: true, stdio: 'ignore' }).unref();
  process.once('exit', whenKilled);
  return async () => {
    process.off('exit', whenKilled);
    await Promise.all([containers.end(), clearShared(dir)]);
  };
}
