/** Bundles the roles and the local system that tests start (app.ts), where a source is newer than the bundle. */
import { existsSync, globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildApp } from '../../../scripts/build-app.ts';
import { buildTools } from '../../../scripts/build-tools.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');
export const MAIN = join(ROOT, 'dist/app/main.js');
/** The program of the local system. */
export const LOCAL_MAIN = join(ROOT, 'dist/tools/local.js');

/** Bundles what has changed since the last time. */
export async function ensureApp(): Promise<void> {
  const wanted = ['src/**/*.ts', 'tools/**/*.ts', 'scripts/build-*.ts', 'package-lock.json'];
  // As in the Makefile: the dashboard is built apart. Two projects would bundle at the same time for a change of it alone.
  const sources = globSync(wanted, { cwd: ROOT, exclude: ['src/dashboard/**'] });
  const changedMs = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs));
  const isOld = (file: string) => !existsSync(file) || statSync(file).mtimeMs < changedMs;
  if (isOld(MAIN)) await buildApp();
  if (isOld(LOCAL_MAIN)) await buildTools();
}
