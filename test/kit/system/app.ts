/** Bundles the roles and the local system for tests, where a source is newer than the bundle. */
import { existsSync, globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildApp } from '../../../scripts/build-app.ts';
import { buildTools } from '../../../scripts/build-tools.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');
export const MAIN = join(ROOT, 'dist/app/main.js');
/** The program of the local system. */
export const LOCAL_MAIN = join(ROOT, 'dist/tools/local.js');

/** Bundles the sources that have changed. */
export async function ensureApp(): Promise<void> {
  const wanted = ['src/**/*.ts', 'tools/**/*.ts', 'scripts/build-*.ts', 'package-lock.json'];
  // The dashboard is built apart, as in the Makefile: otherwise its change would make two projects bundle at the same time.
  const sources = globSync(wanted, { cwd: ROOT, exclude: ['src/dashboard/**'] });
  const changedMs = Math.max(...sources.map((file) => statSync(join(ROOT, file)).mtimeMs));
  const isOld = (file: string) => !existsSync(file) || statSync(file).mtimeMs < changedMs;
  if (isOld(MAIN)) await buildApp();
  if (isOld(LOCAL_MAIN)) await buildTools();
}
