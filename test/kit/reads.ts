/**
 * Records which files of the repository a test file reads or passes to a program, where LOOPSTREAM_TEST_READS names a file for it. A
 * lane fails when a test reads what its inputs lack (`scripts/lanes/`): a change of it would not run that test.
 */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const LOG = process.env.LOOPSTREAM_TEST_READS;
/** One recorder for a worker, which loads this module for each file. */
const RECORDER = Symbol.for('loopstream.test.reads');
const recorders = globalThis as { [RECORDER]?: Set<string> };

const note = (reads: Set<string>, path: unknown): void => {
  if (typeof path !== 'string' && !(path instanceof URL && path.protocol === 'file:')) return;
  const inside = relative(ROOT, resolve(typeof path === 'string' ? path : fileURLToPath(path)));
  if (inside !== '' && !inside.startsWith('..') && !inside.startsWith(`node_modules${sep}`)) reads.add(inside);
};

function wrap<T extends object>(owner: T, names: readonly (keyof T)[], look: (words: unknown[]) => void): void {
  for (const name of names) {
    const original = owner[name];
    if (typeof original !== 'function') continue;
    const wrapped = function (this: unknown, ...words: unknown[]) {
      look(words);
      return Reflect.apply(original, this, words);
    };
    // Some have properties of their own, such as the one that makes it a promise.
    owner[name] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original)) as typeof original;
  }
}

function startRecorder(): Set<string> {
  const reads = new Set<string>();
  const readFirst = ([path]: unknown[]) => note(reads, path);
  wrap(fs, ['readFile', 'readFileSync', 'open', 'openSync', 'createReadStream', 'copyFileSync', 'cpSync'], readFirst);
  wrap(fs.promises, ['readFile', 'open', 'copyFile', 'cp'], readFirst);
  wrap(childProcess, ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'fork'], (words) => {
    for (const word of words.flat()) if (typeof word === 'string' && word.includes('/')) note(reads, word);
  });
  syncBuiltinESMExports();
  return reads;
}

if (LOG !== undefined) {
  recorders[RECORDER] ??= startRecorder();
  const reads = recorders[RECORDER];
  reads.clear();
  afterAll(() => {
    const test = relative(ROOT, expect.getState().testPath ?? '');
    fs.appendFileSync(LOG, `${JSON.stringify({ test, reads: [...reads] })}\n`);
  });
}
