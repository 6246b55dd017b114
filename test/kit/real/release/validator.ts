/** Fetches the validator of SPDX documents that the SPDX project maintains. */
import { join } from 'node:path';
import { ensurePythonProgram } from '../python/program.ts';

const VALIDATOR = { name: 'pyspdxtools', requirements: join(import.meta.dirname, 'requirements.txt') };

/** Returns its absolute path; fetches it first when missing. */
export const ensureSpdxValidator = (onProgress?: (step: string) => void): Promise<string> =>
  ensurePythonProgram(VALIDATOR, onProgress);
