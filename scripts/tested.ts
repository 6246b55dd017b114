/**
 * What passed is not run again while nothing has changed that it could feel: what `make test` keeps between its runs in one
 * checkout. A tree of git stands for all files as they are, committed or not.
 *
 *     tested.ts plan DIR [--all]   writes DIR/tree and, for each lane, DIR/LANE.files (no file: all of it), and says so
 *     tested.ts keep DIR           the lanes were gone through; DIR/again has the test files of what did not pass at once
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { dirname, join } from 'node:path';
import { affected, LANES } from './affected.ts';

interface Kept {
  tree: string;
  /** Test files that are run again, whatever has changed: they failed, or passed only alone. */
  again: string[];
  machine: string;
  atMs: number;
}

/** Goes with what is installed: other dependencies, other results. */
const FILE = 'node_modules/.cache/loopstream-tested.json';
/** Certificates end, calendars go on, and what is elsewhere changes too. */
const MAX_AGE_MS = 24 * 3_600_000;

const [command, dir = '', option] = process.argv.slice(2);
const git = (args: string[], env = {}) =>
  execFileSync('git', args, { encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });

/** All files that are not ignored, in an index of their own: the person's is not touched. */
function treeNow(): string {
  const index = join(dir, 'index');
  copyFileSync(git(['rev-parse', '--git-path', 'index']).trim(), index);
  git(['add', '--all'], { GIT_INDEX_FILE: index });
  return git(['write-tree'], { GIT_INDEX_FILE: index }).trim();
}

/** Programs come from the machine's packages too. */
function machineNow(): string {
  const packages = '/var/lib/dpkg/status';
  const hash = createHash('sha256').update(existsSync(packages) ? readFileSync(packages) : '');
  return [platform(), release(), arch(), process.version, hash.digest('hex')].join(' ');
}

/** What is new, other or gone, and what did not pass; or why that says nothing. */
function changedSince(): string[] | string {
  if (option === '--all') return 'asked for';
  if (process.env.CI) return 'this is CI';
  if (!existsSync(FILE)) return 'no earlier run was finished here';
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Kept;
  if (Date.now() - kept.atMs > MAX_AGE_MS) return 'the last run was a day ago';
  if (kept.machine !== machineNow()) return 'the machine has other programs now';
  const names = git(['diff', '--name-only', '--no-renames', '-z', kept.tree, readFileSync(join(dir, 'tree'), 'utf8')]);
  return [...names.split('\0').filter(Boolean), ...kept.again];
}

function plan(): void {
  writeFileSync(join(dir, 'tree'), treeNow());
  const changed = changedSince();
  if (typeof changed === 'string') {
    process.stdout.write(`  all tests run: ${changed}\n`);
    return;
  }
  const lanes = affected(changed);
  const told = LANES.map((lane) => {
    const files = lanes[lane];
    if (files === 'all') return `${lane}: all`;
    writeFileSync(join(dir, `${lane}.files`), files.map((file) => `${file}\n`).join(''));
    return `${lane}: ${files.length > 0 ? 'some' : 'none'}`;
  });
  process.stdout.write(
    `  files that changed since the last run here, or did not pass in it: ${changed.length || 'none'}; slow tests to run: ` +
      `${told.join(', ')}\n  (the others passed, and no such file can reach them; \`make test ARGS=--all\` runs all)\n`,
  );
}

function keep(): void {
  const tree = readFileSync(join(dir, 'tree'), 'utf8');
  // Somebody went on working meanwhile: nobody knows which files the tests have seen.
  if (treeNow() !== tree) return;
  const again = existsSync(join(dir, 'again')) ? readFileSync(join(dir, 'again'), 'utf8').split('\n') : [];
  const kept: Kept = { tree, again: again.filter(Boolean), machine: machineNow(), atMs: Date.now() };
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(kept));
}

try {
  if (command === 'plan') plan();
  else keep();
} catch (error) {
  // Without git, or with a tree that git has cleared away, there is nothing to compare with.
  const [why] = (error as Error).message.split('\n');
  process.stdout.write(
    `  ${command === 'plan' ? 'all tests run' : 'nothing of this run is kept'}: what has changed is not known (${why})\n`,
  );
}
