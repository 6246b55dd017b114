/** Tests that folders of src/ import each other in one direction: neighbours (.dependency-cruiser.cjs), and parents and children (here). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORT = /(?:from|import\()\s*'(\.[^']+\.tsx?)'/g;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path));

const imports = files.flatMap((from) =>
  [...readFileSync(join(ROOT, from), 'utf8').matchAll(IMPORT)].map(([, name = '']) => ({
    from,
    to: normalize(join(dirname(from), name)),
  })),
);

/** Folders whose files are imported by a folder in them that they import too; with an example of each direction. */
function listKnots(): string[] {
  const isIn = (path: string, folder: string) => path.startsWith(`${folder}/`);
  const folders = [...new Set(files.map((path) => dirname(path)))];
  const parents = (folder: string) => folders.filter((one) => isIn(folder, one));
  return folders.flatMap((child) =>
    parents(child).flatMap((parent) => {
      const down = imports.find(({ from, to }) => dirname(from) === parent && isIn(to, child));
      const up = imports.find(({ from, to }) => isIn(from, child) && dirname(to) === parent);
      return down && up ? [`${down.from} → ${down.to}, and ${up.from} → ${up.to}`] : [];
    }),
  );
}

test('a folder and a folder in it do not import each other', () => {
  expect(imports.length).toBeGreaterThan(2000);
  expect(listKnots()).toEqual([]);
});
