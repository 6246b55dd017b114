/**
 * Answers what the lanes of the tests depend on (`inputs.ts`).
 *
 *     main.ts key LANE       prints a hash of all that the lane's files can reach
 *     main.ts reads LANE     fails when a file of the last run read more than that
 *     main.ts changed [REF]  prints the unit tests that can reach what has changed since REF (default: since the upstream branch)
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob, relative, resolve } from 'node:path';
import { openRepository, type Repository } from './inputs.ts';
import { COMMON, DATA, LANES, type Lane, LEFT_OUT } from './table.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const listTests = ({ expand }: Repository, { tests }: Lane): string[] =>
  expand([tests]).filter((file) => !LEFT_OUT.includes(file));

function reachOf(repository: Repository, lane: Lane, tests: readonly string[]): Set<string> {
  const data = DATA.filter((row) => tests.some((test) => matchesGlob(test, row.tests))).flatMap((row) => row.data);
  return repository.reach([...tests, ...lane.setup, ...repository.expand(data)]);
}

/** Returns a hash of the files' names and contents, and of what the environment decides. */
function computeKey(repository: Repository, lane: Lane): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([process.env.LOOPSTREAM_TEST_SCOPE, process.env.LOOPSTREAM_TEST_SERVERS]));
  for (const file of [...reachOf(repository, lane, listTests(repository, lane)), ...COMMON].sort()) {
    const path = join(repository.root, file);
    hash.update(`\n${file}\n`).update(existsSync(path) ? readFileSync(path) : 'deleted');
  }
  return hash.digest('hex');
}

/** Returns a line for each file that a test read and that its inputs lack. */
function findUndeclared(repository: Repository, lane: Lane, log: string): string[] {
  const readsOf = Map.groupBy(
    log
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { test: string; reads: string[] }),
    ({ test }) => test,
  );
  return [...readsOf].flatMap(([test, records]) => {
    const reached = reachOf(repository, lane, [test]);
    const reads = new Set(records.flatMap((record) => record.reads));
    return [...reads]
      .filter((file) => repository.files.has(file) && !reached.has(file) && !COMMON.some((common) => common === file))
      .map((file) => `${test} reads ${file}`);
  });
}

const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function findBase(): string {
  for (const upstream of ['@{upstream}', 'origin/HEAD', 'origin/main', 'main']) {
    try {
      return git('merge-base', 'HEAD', upstream);
    } catch {
      // It does not exist here.
    }
  }
  return 'HEAD';
}

/** Returns the unit tests that reach a changed file; all of them when the run itself has changed. */
function findChangedTests(repository: Repository, base: string): string[] {
  const changed = new Set(
    [git('diff', '--name-only', base), git('ls-files', '-o', '--exclude-standard')].join('\n').split('\n'),
  );
  const tests = listTests(repository, LANES.unit);
  if (COMMON.some((file) => changed.has(file))) return tests;
  return tests.filter((test) => [...reachOf(repository, LANES.unit, [test])].some((file) => changed.has(file)));
}

const [command = '', word] = process.argv.slice(2);
const repository = openRepository(ROOT);
const lane: Lane | undefined = Object.values(LANES).find(({ name }) => name === word);

if (command === 'key' && lane) process.stdout.write(`${computeKey(repository, lane)}\n`);
else if (command === 'reads' && lane) {
  const log = join(ROOT, `test-reports/${lane.name}.reads`);
  const undeclared = existsSync(log) ? findUndeclared(repository, lane, readFileSync(log, 'utf8')) : [];
  if (undeclared.length > 0) {
    process.stdout.write(
      `Name these in the test, or in DATA of ${relative(ROOT, join(import.meta.dirname, 'table.ts'))}:\n`,
    );
    process.stdout.write(undeclared.map((line) => `  ${line}\n`).join(''));
    process.exitCode = 1;
  }
} else if (command === 'changed') {
  const tests = findChangedTests(repository, word ?? findBase());
  process.stdout.write(tests.map((test) => `${test}\n`).join(''));
} else {
  process.stderr.write('Usage: main.ts key LANE | reads LANE | changed [REF]\n');
  process.exitCode = 2;
}
