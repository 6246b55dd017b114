/** versitygw, a real S3 server. */
import type { environment } from '../../../src/config.ts';
import { ensureGoProgram } from '../go-program.ts';

const VERSITYGW = {
  file: 'versitygw',
  goPackage: 'github.com/versity/versitygw/cmd/versitygw',
  moduleDir: import.meta.dirname,
  name: 'versitygw (the S3 server of the tests)',
};

/** The program's absolute path; builds it first when it is not there, which takes about a minute. */
export const ensureVersitygw = (
  env: ReturnType<typeof environment>,
  onProgress?: (step: string) => void,
): Promise<string> => ensureGoProgram(VERSITYGW, env, onProgress);
