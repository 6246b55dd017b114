/**
 * Checks the English of documents and comments: each sentence begins with its subject and is short (styles/). Vale does the work, and is
 * built once from its Go module. Arguments are files or folders; without any, all that the project checks.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { ensureGoModule } from '../control-plane/go-module.ts';
import { PROJECT_ROOT } from '../process/root.ts';

const CHECKED = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync(['docs/*.md', 'docs/errors/*.md', 'docs/runbooks/*.md'], { cwd: PROJECT_ROOT }),
  // Not test/bench/RESULTS.md, which is a record of past runs.
  ...globSync('test/**/{README.md,*.ts}', { cwd: PROJECT_ROOT }),
  'src',
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
