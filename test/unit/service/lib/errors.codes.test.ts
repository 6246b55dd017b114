/** Holds the tables of codes: each says its words once, and no other file of the product writes them again. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CODES, type CodePlace, findFix, PLACES } from '../../../../src/core/lib/codes/codes.ts';
import { PHASES } from '../../../../src/core/resources/stream/spec.ts';
import { ERRORS } from '../../../../src/service/lib/errors.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const TABLES = /^src\/(core\/lib\/codes\/|service\/lib\/(billing-)?errors\.ts)/;
const files = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).filter((name) => !TABLES.test(name));
const texts = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));

test('every code has one fix in each place where it appears, in sentences', () => {
  const seen = CODES.flatMap(({ code, places }) => places.map((place) => `${place} ${code}`));
  expect(new Set(seen).size).toBe(seen.length);
  for (const place of Object.keys(PLACES) as CodePlace[])
    for (const { code } of CODES.filter(({ places }) => places.includes(place)))
      expect(findFix(code, place), code).toMatch(/^[A-Z].*\.$/);
  expect(findFix('newer_than_this_table', 'uploadError')).toBeUndefined();
});

test('no other file says what a code means or what to do', () => {
  const sentences = [...Object.values(ERRORS), ...CODES].flatMap(({ meaning, fix }) => [meaning, fix]);
  const again = [...texts].flatMap(([name, text]) =>
    sentences.filter((sentence) => text.includes(sentence)).map((sentence) => `${name}: ${sentence}`),
  );
  expect(again).toEqual([]);
});

test('no other file lists sentences by code', () => {
  const codes = new Set([...Object.keys(ERRORS), ...CODES.map(({ code }) => code)]);
  // A phase of a stream has the name of a code.
  for (const phase of PHASES) codes.delete(phase);
  const lists = [...texts].flatMap(([name, text]) =>
    [
      ...text.matchAll(
        /^\s*['"]?([a-z]+(?:_[a-z]+)+|stalled|reset|killed|hung|exited)['"]?:\s*['"`][A-Z][^'"`]*\.['"`]/gm,
      ),
    ]
      .map(([, code = '']) => code)
      .filter((code) => codes.has(code))
      .map((code) => `${name}: ${code}`),
  );
  expect(lists).toEqual([]);
});
