/** The bundle of the roles that tests start (app.ts). `make test` makes it first, a run of vitest alone where it must. */
import { existsSync, globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildApp } from '../../scripts/build-app.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
export const MAIN = join(ROOT, 'dist/app/main.js');

/** Bundles what has changed since the last time. */
export async function ensureApp(): Promise<void> {
  const wanted = ['src/**/*.ts', 'scripts/build-app.ts', 'package-lock.json'];
  // As in the Makefile: the dashboard is built apart. Two projects would bundle at the same time for a change of it alone.
  const sources = globSync(wanted, { cwd: ROOT, exclude: ['src/dashboard/**'] });
  const changedMs = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs));
  if (!existsSync(MAIN) || statSync(MAIN).mtimeMs < changedMs) await buildApp();
}
