/**
 * Computes which files of the repository a test can reach: what it imports, directly or through other modules, and the files that
 * those modules name in a string. A name is of the root or of the module's folder; the name of a folder, with a slash, stands for
 * all that it holds. Types alone change no test, so `import type` is not followed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';

const MODULE = /\.[cm]?[jt]sx?$/;
const TYPE_IMPORT = /^(?:import|export) type [^;]*?from '[^']*';$/gm;
/** linear-time: a literal has no quote and no space inside. */
const LITERAL = /(['"`])([^'"`\s$\\]{2,200})\1/g;

export interface Repository {
  root: string;
  /** All that git would commit: tracked or new, and not ignored. */
  files: ReadonlySet<string>;
  /** Files reached from each of `entries`, themselves included. */
  reach(entries: Iterable<string>): Set<string>;
  expand(globs: readonly string[]): string[];
}

export function listFiles(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  return listed.toString().split('\0').filter(Boolean);
}

export function openRepository(root: string, listed = listFiles(root)): Repository {
  const files = new Set(listed);
  const foldersOf = Map.groupBy(
    listed.flatMap((file) => ancestors(file).map((folder) => ({ folder, file }))),
    ({ folder }) => folder,
  );
  const nextOf = new Map<string, readonly string[]>();

  const resolveName = (name: string, from: string): readonly string[] => {
    const candidates = [relative(root, resolve(root, dirname(from), name)), relative(root, resolve(root, name))];
    const file = candidates.find((candidate) => files.has(candidate));
    if (file !== undefined) return [file];
    const folder = name.includes('/') ? candidates.find((candidate) => foldersOf.has(candidate)) : undefined;
    return folder === undefined ? [] : (foldersOf.get(folder) ?? []).map((held) => held.file);
  };

  const next = (file: string): readonly string[] => {
    const known = nextOf.get(file);
    if (known) return known;
    const found = MODULE.test(file) ? readNames(join(root, file)).flatMap((name) => resolveName(name, file)) : [];
    nextOf.set(file, found);
    return found;
  };

  return {
    root,
    files,
    reach(entries) {
      const reached = new Set<string>();
      const open = [...entries].filter((file) => files.has(file));
      for (let file = open.pop(); file !== undefined; file = open.pop()) {
        if (reached.has(file)) continue;
        reached.add(file);
        open.push(...next(file));
      }
      return reached;
    },
    expand: (globs) => listed.filter((file) => globs.some((glob) => matchesGlob(file, glob))),
  };
}

function readNames(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return []; // It is deleted in the work tree.
  }
  return [...text.replace(TYPE_IMPORT, '').matchAll(LITERAL)].map(([, , name = '']) => name);
}

const ancestors = (file: string): string[] => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};
