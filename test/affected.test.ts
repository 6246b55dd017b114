/** What a change affects: more than it can is waste, less is a fault that nobody sees. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { affected } from '../scripts/affected.ts';

const ROOT = resolve(import.meta.dirname, '..');
const ALL = { system: 'all', e2e: 'all', attack: 'all', cluster: 'all' };
const NONE = { system: [], e2e: [], attack: [], cluster: [] };

test('where nothing has changed, or only what no slow test reads, none is run', () => {
  expect(affected([])).toEqual(NONE);
  expect(affected(['CONTRIBUTING.md', 'test/cluster/README.md', 'test/bench/auth.ts', 'test/log.test.ts'])).toEqual(
    NONE,
  );
});

test.each([
  'package-lock.json',
  'vitest.config.ts',
  'Dockerfile',
  'README.md',
  'docs/metrics.md',
  'charts/loopstream/values.yaml',
  'crds/loopstream.yaml',
  'scripts/test',
  'scripts/build-app.ts',
  'src/local/kubernetes/go.mod',
  'test/support/go/pause/main.go',
  'test/support/schemathesis/hooks.py',
  'test/support/node-agent.ts',
  'test/support/engine/keep.ts',
  'src/a name with spaces.ts',
])('%s is reached by its path: all tests are run', (file) => {
  expect(affected([file, 'src/log.ts'])).toEqual(ALL);
});

test('source is in the whole product; which tests on servers load it, its imports say', () => {
  expect(affected(['src/crypto/rates.ts'])).toEqual({ ...ALL, system: ['src/crypto/rates.ts'] });
  // What the cluster is made by, the engine of the tests on servers is made by too.
  for (const file of ['test/support/rtmp.ts', 'test/support/cluster/cgroups.ts'])
    expect(affected([file])).toEqual({ ...ALL, system: [file] });
});

test('pages are served by a role, and so reach the tests that start one', () => {
  for (const file of [
    'src/dashboard/app/theme.css',
    'src/dashboard/features/streams/card.tsx',
    'src/dashboard/index.html',
  ])
    expect(affected([file])).toEqual({ ...ALL, system: ['src/main.ts'] });
});

test('a test file is of its lane', () => {
  expect(affected(['test/api/shell.system.test.ts'])).toEqual({ ...NONE, system: ['test/api/shell.system.test.ts'] });
  expect(affected(['test/e2e/metrics.ts'])).toEqual({ ...NONE, e2e: ['test/e2e/metrics.ts'] });
  const attack = ['test/attack/00-strangers.attack.test.ts'];
  expect(affected(attack)).toEqual({ ...NONE, attack });
  expect(affected(['test/cluster/power.ts'])).toEqual({ ...NONE, cluster: 'all' });
});

test('what slow tests and their support name by its path, and do not import, affects all, or is a role', () => {
  const list = ['ls-files', '-co', '--exclude-standard', 'test'];
  const sources = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.system\.test\.ts$|^test\/(e2e|attack|cluster|support)\/.*\.ts$/.test(file));
  expect(sources.length).toBeGreaterThan(200);
  const named = sources.flatMap((source) => {
    const text = readFileSync(join(ROOT, source), 'utf8');
    const names = [...text.matchAll(/(from |import |import\()?'([\w./-]+\.tsx?)'/g)];
    const imported = new Set(names.filter(([, how]) => how !== undefined).map(([, , name]) => name));
    return names
      .filter(([, , name]) => !imported.has(name))
      .flatMap(([, , name = '']) => [resolve(ROOT, dirname(source), name), resolve(ROOT, name)])
      .filter((path) => existsSync(path))
      .map((path) => relative(ROOT, path));
  });
  expect(named).toContain('test/support/node-agent.ts');
  expect(named.filter((file) => affected([file]).system !== 'all')).toEqual([]);
});
