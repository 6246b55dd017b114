/**
 * Reads the tokens that this pod shows and is shown. The files are read for each use, since Kubernetes replaces them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VIEW_TOKEN_KEY } from '../../../resources/common/names.ts';
import { controlToken } from '../../../resources/stream/control-token.ts';

export interface TokenFiles {
  /** Holds the control token. */
  controlTokenFile?: string | undefined;
  /** Holds the key from which the first pod of a stream derives it. */
  controlKeyFile?: string | undefined;
  /** Holds the token of viewers. */
  viewTokenFile?: string | undefined;
  /** Holds the same, as it was granted (grant.ts). */
  grantDir?: string | undefined;
  podUid: string;
}

async function read(file: string | undefined): Promise<string[]> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return text.trim() === '' ? [] : [text.trim()];
}

/** Returns the control tokens of this pod: first the one with which it reports; none where there is no file. */
export async function readControlTokens(files: TokenFiles): Promise<string[]> {
  const keys = await read(files.controlKeyFile);
  return [...keys.map((key) => controlToken(key, files.podUid)), ...(await read(files.controlTokenFile))];
}

/** Returns the tokens of viewers. */
export async function readViewTokens({ viewTokenFile, grantDir }: TokenFiles): Promise<string[]> {
  return [...(await read(viewTokenFile)), ...(await read(grantDir && join(grantDir, VIEW_TOKEN_KEY)))];
}
