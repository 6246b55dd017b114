/** Makes media of ffmpeg's own sources once, and keeps it for all workers and later runs: the same arguments make the same file. */
import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { run } from '../run.ts';

const KEPT = join(PROJECT_ROOT, 'node_modules/.cache/loopstream/media');

let version: Promise<string> | undefined;
/** Another build of ffmpeg may make another file. */
const readVersion = (): Promise<string> => {
  version ??= run('ffmpeg', ['-version']).then(({ stdout }) => stdout);
  return version;
};

/**
 * Makes the file `path` with these arguments of ffmpeg, and returns its path. All inputs are sources of lavfi: what ffmpeg reads from a
 * file may differ the next time. The file is a copy, which a test may change.
 */
export async function makeMedia(path: string, ...args: string[]): Promise<string> {
  const other = args.find((_, at) => args[at - 1] === '-i' && args[at - 2] !== 'lavfi');
  if (other !== undefined) throw new Error(`${basename(path)} is made of the file ${other}: run ffmpeg() for that.`);
  const key = JSON.stringify([await readVersion(), extname(path), ...args]);
  const kept = join(KEPT, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}${extname(path)}`);
  if (!existsSync(kept)) await fill(kept, args);
  await copyFile(kept, path, constants.COPYFILE_FICLONE);
  return path;
}

/** Two that fill the same at once both make it, and one of the two files stays. */
async function fill(kept: string, args: readonly string[]): Promise<void> {
  await mkdir(KEPT, { recursive: true });
  const fresh = join(KEPT, `${randomUUID()}${extname(kept)}`);
  try {
    await run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args, fresh]);
    await rename(fresh, kept);
  } finally {
    await rm(fresh, { force: true });
  }
}
