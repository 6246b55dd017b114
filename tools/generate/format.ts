/** Formats modules that generators write. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../process/root.ts';

const BIOME = join(PROJECT_ROOT, 'node_modules/.bin/biome');

/** Formats the source of a module as `make format` does. */
export const formatModule = (path: string, source: string): string =>
  execFileSync(BIOME, ['check', '--write', `--stdin-file-path=${path}`], {
    cwd: PROJECT_ROOT,
    input: source,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
