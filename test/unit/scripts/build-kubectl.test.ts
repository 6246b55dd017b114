/** Tests the bundle of the plugin: one small file that runs from any folder, under both of its names. */
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildKubectl } from '../../../scripts/build-kubectl.ts';
import { run } from '../../kit/run.ts';
import { tempDir } from '../../kit/temp-dir.ts';

/** Half of it is the HTTP client, whose parser is WebAssembly. A twentieth checks the program of a pod, for the timeline. */
const MAX_BYTES = 1.9 * 2 ** 20;

/** It only ends what would never end. */
const BUILD_MS = 180_000;

const dir = tempDir();
let text: string;
beforeAll(async () => {
  const program = await buildKubectl(join(dir, 'built'));
  text = await readFile(program, 'utf8');
  await cp(program, join(dir, 'kubectl-loop'));
  await symlink('kubectl-loop', join(dir, 'kubectl_complete-loop'));
}, BUILD_MS);

const start = (name: string, ...words: string[]) =>
  run(join(dir, name), words, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir } });

test('a copy of the one file runs, and loads nothing but Node', async () => {
  expect(text.startsWith('#!/usr/bin/env node\n')).toBe(true);
  expect(text.length).toBeLessThan(MAX_BYTES);
  const { stdout, stderr } = await start('kubectl-loop', 'version', '--client');
  expect(stdout).toMatch(/^Plugin: +\d+\.\d+\.\d+\n$/);
  expect(stderr).toBe('');
});

/** A Node of the past, as machines have it: what the program reads of it is its version. */
const asNode = (version: string) =>
  run(process.execPath, [
    '-e',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
     Object.defineProperty(process, 'version', { value: 'v${version}' });
     process.argv[1] = ${JSON.stringify(join(dir, 'kubectl-loop'))}; process.argv.push('version', '--client'); require(process.argv[1]);`,
  ]).catch((error: Error) => error);

test.each(['20.20.2', '22.21.9', '18.0.0'])(
  'with Node %s it says in one sentence which Node it needs',
  async (version) => {
    const failed = await asNode(version);
    expect(failed).toBeInstanceOf(Error);
    const { stdout, stderr } = failed as unknown as { stdout: string; stderr: string };
    expect(stderr).toBe(`kubectl loop needs Node.js 22.22 or later, and ${process.execPath} is v${version}.\n`);
    expect(stdout).toBe('');
  },
);

test.each(['22.22.0', '23.0.0', '24.1.0'])('with Node %s it runs', async (version) => {
  expect(await asNode(version)).toMatchObject({ stdout: expect.stringMatching(/^Plugin: /) });
});

test('the check comes first', () => expect(text.slice(0, 1000)).toContain('process.exit(1)'));

test('built for this machine, it runs with the Node it was built with, and with that of PATH where it is gone', async () => {
  const other = join(dir, 'it is "somebody’s"');
  await mkdir(other);
  const node = join(other, "node's");
  await symlink(process.execPath, node);
  const program = await buildKubectl(join(other, 'plugin'), node);
  const env = { PATH: '/usr/bin:/bin', HOME: dir };
  const own = await run(program, ['version', '--client'], { cwd: dir, env });
  expect(own).toMatchObject({ stdout: expect.stringMatching(/^Plugin: /), stderr: '' });
  const completed = await run(join(other, 'plugin/kubectl_complete-loop'), ['supp'], { cwd: dir, env });
  expect(completed.stdout).toMatch(/^support-bundle\t/);
  await rm(node);
  const found = await run(program, ['version', '--client'], {
    cwd: dir,
    env: { ...env, PATH: `${dirname(process.execPath)}:/bin` },
  });
  expect(found.stdout).toMatch(/^Plugin: /);
});

test('under its second name it completes', async () => {
  const { stdout } = await start('kubectl_complete-loop', 'supp');
  expect(stdout).toMatch(/^support-bundle\t.*\n:4\n$/);
});

test('it carries the licences of its packages', () => {
  for (const name of ['undici', 'yaml', 'typebox', '@kubernetes/client-node'])
    expect(text).toMatch(new RegExp(`\\n${name} \\d+\\.\\d+\\.\\d+ \\(`));
});
