/**
 * Around the run of a project: a directory for what the files of a worker share, each part of it in a state directory of its
 * own, and the engine that their servers run in. A worker is ended without being asked, so that what it has started is ended
 * here.
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

// Never called: `make test` starts it by its path, around all of these tests, and so what it is made of is of them too.
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
