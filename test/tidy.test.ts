/** Taste that can be executed: what no file of the project may do. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const MAX_LINES = { src: 350, test: 450 };

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'test', 'scripts'],
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
  test('no file is longer than a stranger can hold in mind', () => {
    const limit = (path: string) => (path.startsWith('test/') ? MAX_LINES.test : MAX_LINES.src);
    expect(offenders(({ path, text }) => text.split('\n').length > limit(path))).toEqual([]);
  });

  test('only config.ts reads the environment', () => {
    const reads = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/') && path !== 'src/config.ts' && /(?<!typeof )process\.env/.test(text);
    expect(offenders(reads)).toEqual([]);
  });

  test('every file of src/ but the page says first what it is', () => {
    const silent = ({ path, text }: { path: string; text: string }) =>
      path.startsWith('src/') && !path.startsWith('src/dashboard/') && !/^(#![^\n]*\n)?\/\*\*/.test(text);
    expect(offenders(silent)).toEqual([]);
  });

  test('a file that calls itself pure reads no clock and draws no lots', () => {
    const impure = ({ text }: { text: string }) =>
      /^\/\*\*[^/]*Pure: no I\/O, no clock/s.test(text) &&
      /Date\.now\(|performance\.now\(|new Date\(\)|Math\.random\(/.test(text);
    expect(offenders(({ path, text }) => path.startsWith('src/') && impure({ text }))).toEqual([]);
  });

  test('no test is skipped or alone', () => {
    expect(
      offenders(({ path, text }) => path !== 'test/tidy.test.ts' && /\b(it|test|describe)\.(skip|only)\(/.test(text)),
    ).toEqual([]);
  });
});
