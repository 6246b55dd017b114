/** Tests rules of taste that a program can check in every file. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'tools', 'test', 'scripts'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

const offenders = (bad: (file: { path: string; text: string }) => boolean): string[] =>
  files.filter(bad).map(({ path }) => path);

describe('the house is tidy', () => {
  test('only environment.ts reads the environment', () => {
    const reads = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/') && path !== 'src/core/settings/environment.ts' && /(?<!typeof )process\.env/.test(text);
    expect(offenders(reads)).toEqual([]);
  });

  test('the tests of the operator need neither the service nor the page', () => {
    const needs = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('test/unit/core/') && /src\/(service|dashboard)\//.test(text);
    expect(offenders(needs)).toEqual([]);
  });

  test('in the domain, only stores ask Kubernetes', () => {
    const asks = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/service/domain/') && !/(owned-resources|store)\.ts$/.test(path) && /\bKube\b/.test(text);
    expect(offenders(asks)).toEqual([]);
  });

  test('every file of src/ but the page begins with its purpose', () => {
    const silent = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/') && !path.startsWith('src/dashboard/') && !/^(#![^\n]*\n)?\/\*\*/.test(text);
    expect(offenders(silent)).toEqual([]);
  });

  describe('a file that calls itself pure', () => {
    const isPure = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/') && /^\/\*\*(?:(?!\*\/)[\s\S])*Pure: no I\/O/.test(text);
    // Hashes, formats and arguments are functions of values; the rest of these modules is irrelevant here.
    const HARMLESS = new Set(['node:crypto', 'node:util', 'node:buffer', 'node:path', 'node:zlib']);
    const doesIo = ({ text }: { text: string }) =>
      [...text.matchAll(/^import (?!type\b)[^;]*? from '((?:node:|undici|pg|fastify|pino)[^']*)'/gm)].some(
        ([, name = '']) => !HARMLESS.has(name),
      );
    const readsClock = /Date\.now\(|performance\.now\(|new Date\(\)|Math\.random\(/;

    test('is one of many', () => expect(files.filter(isPure).length).toBeGreaterThan(30));
    test('imports no I/O', () => expect(offenders((file) => isPure(file) && doesIo(file))).toEqual([]));
    test('reads no clock and draws no lots', () =>
      expect(offenders((file) => isPure(file) && readsClock.test(file.text))).toEqual([]));
  });

  test('a unit test is named after the file that it tests, and lies where that file lies', () => {
    const subjects = (path: string): string[] => {
      const [name = ''] = path.slice('test/unit/'.length).split(/\.(?=[^/]*$)/, 1);
      const stem = name.replace(/(\/|^)([^/.]+)(\.[^/]*)?$/, '$1$2');
      const folders = stem.startsWith('kit/')
        ? ['test/']
        : stem.startsWith('tools/') || stem.startsWith('scripts/')
          ? ['']
          : ['src/'];
      return folders.flatMap((folder) => ['.ts', '.tsx'].map((ending) => `${folder}${stem}${ending}`));
    };
    const orphan = ({ path }: { path: string }) =>
      /^test\/unit\/.*\.test\.ts$/.test(path) &&
      !subjects(path.replace(/\.test\.ts$/, '')).some((subject) => existsSync(join(ROOT, subject)));
    expect(offenders(orphan)).toEqual([]);
  });

  test('no test is skipped or alone', () => {
    expect(offenders(({ text }) => /\b(it|test|describe)\.(skip|only)\(/.test(text))).toEqual([]);
  });
});
