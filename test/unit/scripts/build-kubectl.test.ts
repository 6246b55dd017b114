/** Tests the bundle of the plugin: one small file that runs from any folder, under both of its names. */
import { cp, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildKubectl } from '../../../scripts/build-kubectl.ts';
import { run } from '../../kit/run.ts';
import { tempDir } from '../../kit/temp-dir.ts';

/** Half of it is the HTTP client, whose parser is WebAssembly. */
const MAX_BYTES = 1.8 * 2 ** 20;

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

test('under its second name it completes', async () => {
  const { stdout } = await start('kubectl_complete-loop', 'supp');
  expect(stdout).toMatch(/^support-bundle\t.*\n:4\n$/);
});

test('it carries the licences of its packages', () => {
  for (const name of ['undici', 'yaml', 'typebox', '@kubernetes/client-node'])
    expect(text).toMatch(new RegExp(`\\n${name} \\d+\\.\\d+\\.\\d+ \\(`));
});
