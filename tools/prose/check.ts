/**
 * Checks the English of documents and comments: each sentence begins with its subject and is short (styles/). Vale does the work, and is
 * built once from its Go module. Arguments are files or folders; without any, all that the project checks.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureGoModule } from '../control-plane/go-module.ts';
import { PROJECT_ROOT } from '../process/root.ts';

/** src/domain/, src/server/ and the other documents join when their sentences are mended. */
const CHECKED = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/errors',
  'docs/settings.md',
  ...['auth', 'billing', 'client', 'dashboard', 'db', 'kube', 'lib', 'media', 'operator', 'resources', 'settings'].map(
    (folder) => `src/${folder}`,
  ),
  'src/main.ts',
  'tools',
  'scripts',
];

const { vale } = await ensureGoModule(
  {
    file: 'prose',
    name: 'the check of prose',
    moduleDir: import.meta.dirname,
    seldomUsed: ['all'],
    programs: { vale: { goPackage: 'github.com/errata-ai/vale/v2/cmd/vale', linkerFlags: '-s -w' } },
  },
  (step) => process.stdout.write(`  ${step}\n`),
);
const given = process.argv.slice(2);
const config = join(import.meta.dirname, 'vale.ini');
const { status } = spawnSync(vale, ['--config', config, '--output', 'line', ...(given.length > 0 ? given : CHECKED)], {
  cwd: PROJECT_ROOT,
  stdio: 'inherit',
});
process.exit(status ?? 1);
