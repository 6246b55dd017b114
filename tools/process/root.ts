/** Finds the project's root. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** This file is tools/process/root.ts of a checkout, or bundled into dist/tools/local.js. */
export const PROJECT_ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
