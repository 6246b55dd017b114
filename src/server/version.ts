/** Reads the version of the product from package.json. */
import { readFile } from 'node:fs/promises';

/**
 * The path holds for this file and for the bundle in dist/app/, which are equally deep. The image has package.json above dist/
 * too.
 */
const PACKAGE = new URL('../../package.json', import.meta.url);

export async function readVersion(): Promise<string> {
  const text = await readFile(PACKAGE, 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { version?: string }).version ?? '0.0.0';
}
