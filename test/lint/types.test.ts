/** Tests that a name of an exported type means one thing in src/. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const DECLARED = /^export (?:declare |abstract )*(?:interface|class|type|enum) (\w+)/gm;

/** A noun of the API and its resource may share their name, which people know from both. */
const NOUN = /^src\/(?:\w+\/)?(?:domain\/\w+\/record|resources\/\w+\/resource)\.ts$/;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path));

function listDeclarations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of files) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, name = ''] of text.matchAll(DECLARED)) found.set(name, [...(found.get(name) ?? []), path]);
  }
  return found;
}

test('no two exported types, interfaces or classes have one name', () => {
  const declared = listDeclarations();
  expect(declared.size).toBeGreaterThan(500);
  const shared = [...declared].filter(([, paths]) => paths.length > 1 && !paths.every((path) => NOUN.test(path)));
  expect(shared.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([]);
});
