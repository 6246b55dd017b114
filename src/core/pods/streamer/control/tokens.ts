/**
 * Reads the tokens that this pod shows and is shown. The files are read for each use, since Kubernetes replaces them.
 */
import { readFile } from 'node:fs/promises';

export interface TokenFiles {
  /** Holds the control token. */
  controlTokenFile?: string | undefined;
  /** Holds the token of viewers. */
  viewTokenFile?: string | undefined;
}

/** Returns the token in a file; undefined where there is none. */
export async function readToken(file: string | undefined): Promise<string | undefined> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return text.trim() || undefined;
}
