/** The page imports each style of Mantine alone: a component without its style is drawn in the size of its parent. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const PAGE = 'src/dashboard';
const MANTINE = join(import.meta.dirname, '../../../../node_modules/@mantine');
const STYLES = join(MANTINE, 'core/styles');

const read = (file: string): string => readFileSync(file, 'utf8');
const list = (pattern: RegExp, text: string): string[] =>
  [...text.matchAll(pattern)].flatMap(([, found]) => found ?? []);

const SOURCES = globSync(`${PAGE}/**/*.{ts,tsx}`).map((file) => ({ file, text: read(file) }));
const IMPORTED = new Set(SOURCES.flatMap(({ text }) => list(/import '@mantine\/core\/styles\/(\w+)\.css'/g, text)));

/** The components that a source imports by name: those of types are not drawn. */
const listComponents = (text: string): string[] =>
  list(/import (?!type)\{([^}]*)\} from '@mantine\/core'/g, text)
    .flatMap((names) => names.split(','))
    .map((name) => name.trim().replace(/ as .*/, ''))
    .filter((name) => /^[A-Z]\w*$/.test(name));

/** A component's module, and its parts that are reached by a dot (`Popover.Target`), which a source may use or not. */
const findModule = (name: string): string | undefined =>
  globSync(join(MANTINE, `core/esm/{components,utils}/**/${name}.mjs`))[0];

/** The styles of a component and of the components that it is made of; its parts in folders below it are drawn only by name. */
function listStyles(module: string, seen = new Set<string>()): string[] {
  if (seen.has(module)) return [];
  seen.add(module);
  const folder = dirname(module);
  return list(/from "(\.[^"]+)"/g, read(module)).flatMap((path) => {
    const [, style] = /\/(\w+)\.module\.mjs$/.exec(path) ?? [];
    if (style) return existsSync(join(STYLES, `${style}.css`)) ? [style] : [];
    const next = join(folder, path);
    const isPart = next.startsWith(`${folder}/`) && dirname(next) !== folder;
    const isDrawn = /\/esm\/(components|utils)\//.test(next);
    return isDrawn && !isPart ? listStyles(next, seen) : [];
  });
}

test('each component of Mantine that a page imports has its style, and so have those that it is made of', () => {
  const missing = SOURCES.flatMap(({ file, text }) =>
    listComponents(text).flatMap((name) => {
      const module = findModule(name);
      const styles = module ? listStyles(module) : [];
      return styles
        .filter((style) => !IMPORTED.has(style))
        .map((style) => `${relative(PAGE, file)}: ${name} needs ${style}.css`);
    }),
  );
  expect([...new Set(missing)]).toEqual([]);
});

test('the rules of the test find a component, its parts and what it is made of', () => {
  expect(listComponents("import { Button, Checkbox as Tick, useTheme } from '@mantine/core';")).toEqual([
    'Button',
    'Checkbox',
  ]);
  expect(listComponents("import type { ButtonProps } from '@mantine/core';")).toEqual([]);
  expect(listStyles(findModule('Checkbox') ?? '').sort()).toEqual(['Checkbox', 'InlineInput', 'Input', 'Loader']);
});

test('each other package of Mantine with styles has them imported', () => {
  const used = SOURCES.flatMap(({ text }) => list(/from '(@mantine\/\w+)'/g, text)).filter(
    (name) => name !== '@mantine/core',
  );
  const styled = [...new Set(used)].filter((name) => existsSync(join(MANTINE, '..', name, 'styles.css')));
  const all = SOURCES.map(({ text }) => text).join('\n');
  expect(styled.filter((name) => !all.includes(`import '${name}/styles.css'`))).toEqual([]);
});

test('no style is imported that the package does not have', () => {
  expect([...IMPORTED].filter((style) => !existsSync(join(STYLES, `${style}.css`)))).toEqual([]);
});
