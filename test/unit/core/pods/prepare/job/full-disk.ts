/**
 * Writes a rendition into a directory on a small disk, with each number of free blocks and of free files from none to enough, and prints
 * what came of it as JSON. Its arguments are two file systems of its own: one with few blocks, one with few files.
 */
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sweep } from '../../../../../../src/core/pods/prepare/job/sweep.ts';
import { indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { DirectoryStorage } from '../../../../../../src/core/pods/storage/directory.ts';
import { withScratchFile } from '../../../../../../src/core/pods/storage/scratch.ts';
import { type Storage, StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { halfWritten, quiet } from '../../../../../kit/make/prepare.ts';
import { buildFlv, followEntries, KEY, makeChunks } from '../../../../../kit/make/tiny-rendition.ts';

export interface FullDiskReport {
  /** Outcomes of the attempts: `done`, or the code of the error. */
  outcomes: Record<string, number>;
  /** Numbers of frames that can be played after an attempt. */
  prepared: number[];
  /** Files that an attempt left half. */
  halfWritten: string[];
  /** Attempts whose successor, with room, did not end with the same index. */
  different: number;
  /** Codes of a scratch file that finds no room. */
  scratch: string[];
  /** Hours after which a sweep on the full disk has deleted the source that nobody needs. */
  sweptAfterHours: number | undefined;
}

const BLOCK_BYTES = 4096;
const flv = buildFlv(70);
const encode = (value: unknown) => JSON.stringify(value);
const readCode = (error: unknown) => (error instanceof StorageError ? error.code : String(error));

async function make(storage: Storage): Promise<string> {
  const index = encode(await makeChunks(storage, flv));
  await storage.write(indexKey(KEY), Buffer.from(index));
  return index;
}

/** Takes all but some blocks, or all but some files. */
const FILLERS = {
  async blocks(root: string, free: number): Promise<void> {
    const { bavail } = await statfs(root);
    await writeFile(join(root, 'filler'), Buffer.alloc(Math.max(0, bavail - free) * BLOCK_BYTES));
  },
  async files(root: string, free: number): Promise<void> {
    const { ffree } = await statfs(root);
    for (let n = 0; n < ffree - free; n++) await writeFile(join(root, `filler-${n}`), '');
  },
};

async function unfill(root: string): Promise<void> {
  for (const name of await readdir(root)) if (name.startsWith('filler')) await rm(join(root, name));
}

async function attempt(root: string, fill: () => Promise<void>, report: FullDiskReport, expected: string) {
  const storage = new DirectoryStorage(root);
  // A Job's import has made the directories.
  await storage.ensureLayout();
  await fill();
  const outcome = await make(storage).then(() => 'done', readCode);
  report.outcomes[outcome] = (report.outcomes[outcome] ?? 0) + 1;
  report.prepared.push(await followEntries(storage));
  report.halfWritten.push(...(await halfWritten(root)));
  const index = (await storage.head(indexKey(KEY))) && (await text(await storage.read(indexKey(KEY))));
  if (index !== undefined && index !== expected) report.different++;
  await unfill(root);
  if ((await make(storage)) !== expected || (await followEntries(storage)) !== 1680) report.different++;
  await rm(join(root, 'renditions'), { recursive: true, force: true });
  return outcome;
}

/** Returns the code of a scratch file on a full disk, for its directory and for its bytes. */
async function scratch(root: string, free: number): Promise<string> {
  await FILLERS[free === 0 ? 'files' : 'blocks'](root, 0);
  const code = await withScratchFile(root, (path) => writeFile(path, 'x')).then(() => 'done', readCode);
  await unfill(root);
  return code;
}

async function sweepFull(root: string): Promise<number | undefined> {
  const storage = new DirectoryStorage(root);
  const context = { storage, signal: new AbortController().signal, log: quiet };
  const task = { action: 'sweep' as const, keep: '', shard: 0, shards: 1, graceSeconds: 24 * 3600 };
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  await sweep(task, context, at(0));
  for (let n = 0; n < 60; n++) await storage.write(`incoming/${n}`, Buffer.alloc(BLOCK_BYTES));
  await FILLERS.blocks(root, 0);
  for (let hours = 1; hours < 60; hours++) {
    await sweep(task, context, at(hours)).catch(() => undefined);
    if (!(await storage.head('incoming/0'))) return hours;
  }
  return undefined;
}

const [few = '', rare = ''] = process.argv.slice(2);
const report: FullDiskReport = {
  outcomes: {},
  prepared: [],
  halfWritten: [],
  different: 0,
  scratch: [],
  sweptAfterHours: undefined,
};
const expected = await make(new DirectoryStorage(few));
await rm(join(few, 'renditions'), { recursive: true });
for (const [root, fill] of [
  [few, FILLERS.blocks],
  [rare, FILLERS.files],
] as const) {
  let free = 0;
  while ((await attempt(root, () => fill(root, free), report, expected)) !== 'done') free++;
}
report.scratch = [await scratch(few, 1), await scratch(rare, 0)];
report.sweptAfterHours = await sweepFull(few);
process.stdout.write(encode(report));
