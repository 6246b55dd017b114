/**
 * Around the end-to-end tests: one local system, started once, for all the files that need no system of their own. Each of
 * them has an account of its own there (`shareSystem`), and so sees nothing of what the others make.
 */
import type { TestProject } from 'vitest/node';
import { ensureApp } from './app.ts';
import { type Shared, startSystem } from './system.ts';

declare module 'vitest' {
  interface ProvidedContext {
    system: Shared;
  }
}

export default async function around(project: TestProject): Promise<() => Promise<void>> {
  await ensureApp();
  const { facts, stateDir, pid, close } = await startSystem(['--no-demo']);
  project.provide('system', { facts, stateDir });
  // A run that a signal ends waits for nothing. The system ends by itself then, once it is told.
  const whenKilled = () => process.kill(pid, 'SIGINT');
  process.once('exit', whenKilled);
  return async () => {
    process.off('exit', whenKilled);
    await close();
  };
}
