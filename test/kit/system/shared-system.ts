/**
 * Wraps the end-to-end tests: starts one local system for all files that need none of their own. Each file has an account of its own there
 * (`shareSystem`), and so sees no other file's objects.
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
  // A run that a signal ends waits for nothing: the system only needs the signal, and ends by itself.
  const whenKilled = () => process.kill(pid, 'SIGINT');
  process.once('exit', whenKilled);
  return async () => {
    process.off('exit', whenKilled);
    await close();
  };
}
