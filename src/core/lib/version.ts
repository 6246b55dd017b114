/** Reads the version of the product from package.json. */
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';

/** The nearest package.json above this file, or above the bundle; the image has it above dist/ too. */
export async function readVersion(): Promise<string> {
  const path = findPackageJSON('../..', import.meta.url);
  const text = path === undefined ? '{}' : await readFile(path, 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? '0.0.0';
}
