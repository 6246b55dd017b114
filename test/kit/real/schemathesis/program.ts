/** Fetches schemathesis, which tests the API against its description. */
import { join } from 'node:path';
import { ensurePythonProgram } from '../python/program.ts';

const SCHEMATHESIS = { name: 'schemathesis', requirements: join(import.meta.dirname, 'requirements.txt') };

/** Returns its absolute path; fetches it first when missing. */
export const ensureSchemathesis = (onProgress?: (step: string) => void): Promise<string> =>
  ensurePythonProgram(SCHEMATHESIS, onProgress);
