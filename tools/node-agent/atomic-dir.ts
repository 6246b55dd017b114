/**
 * Writes a set of files so that a reader sees all of the old or all of the new, as a kubelet does. The files are in a
 * directory with a name of its own, and `..data` is a symbolic link to it that one rename swaps. Programs open `key`, a
 * link to `..data/key`. Programs that watch for the swap watch `..data`.
 */
import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Files } from './volume-content.ts';

const DATA = '..data';

/** Makes `dir` show exactly these files. A write that failed half-way is made good by the next one. */
export async function writeAtomically(dir: string, files: Files): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const next = await mkdtemp(`${dir}/..`);
  for (const [path, { data, mode }] of files) {
    const file = join(next, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, data, { mode });
  }
  const swap = join(dir, '..data_tmp');
  await rm(swap, { force: true });
  await symlink(next.slice(dir.length + 1), swap);
  await rename(swap, join(dir, DATA));
  await showEntries(dir, new Set([...files.keys()].map((path) => path.split('/')[0] ?? path)));
  await removeOld(dir);
}

async function showEntries(dir: string, wanted: Set<string>): Promise<void> {
  const present = new Set((await readdir(dir)).filter((name) => !name.startsWith('..')));
  for (const name of wanted) {
    if (!present.has(name)) await symlink(join(DATA, name), join(dir, name));
  }
  for (const name of present) {
    if (!wanted.has(name)) await rm(join(dir, name), { force: true, recursive: true });
  }
}

async function removeOld(dir: string): Promise<void> {
  const current = await readlink(join(dir, DATA));
  for (const name of await readdir(dir)) {
    if (name.startsWith('..') && name !== DATA && name !== current)
      await rm(join(dir, name), { recursive: true, force: true });
  }
}
