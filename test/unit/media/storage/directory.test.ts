import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../../../src/media/storage/open.ts';
import type { Storage } from '../../../../src/media/storage/storage.ts';
import { halfWritten } from '../../../kit/make/prepare.ts';
import { describeKeeper, listKeys } from '../../../kit/make/storage-suite.ts';

let root: string;
let storage: Storage;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'storage-'));
  storage = await openStorage(pathToFileURL(root).href);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const temporaryFiles = () => halfWritten(root);

describeKeeper('a directory', { storage: () => storage, leftovers: temporaryFiles });

describe('a directory', () => {
  test('list never shows a temporary file', async () => {
    await storage.write('a', Buffer.from('x'));
    await writeFile(join(root, '.tmp', 'half'), 'x');
    expect(await listKeys(storage, '')).toEqual(['a']);
  });

  test('delete removes the directories that are empty then', async () => {
    await storage.write('renditions/a/1', Buffer.from('x'));
    await storage.write('renditions/b/1', Buffer.from('x'));
    await storage.delete('renditions/a/1');
    expect(await readdir(join(root, 'renditions'))).toEqual(['.tmp', 'b']);
  });

  test('delete leaves the directory that pods mount, and a writer of that directory alone needs no other', async () => {
    await storage.ensureLayout?.();
    await storage.write('renditions/a/1', Buffer.from('x'));
    await storage.delete('renditions/a/1');
    await chmod(root, 0o555);
    await storage.write('renditions/b/1', Buffer.from('x'));
    expect(await listKeys(storage, 'renditions/')).toEqual(['renditions/b/1']);
    expect(await readdir(root)).toEqual(['incoming', 'renditions', 'sources']);
    await chmod(root, 0o755);
  });

  test('a local file is the object itself, not a copy', async () => {
    await storage.write('a/b', Buffer.from('x'));
    expect(await storage.withLocalFile('a/b', async (path) => path)).toBe(join(root, 'a', 'b'));
  });

  test('old leftovers of a killed writer are swept, fresh ones of a living one stay', async () => {
    await mkdir(join(root, '.tmp'));
    await writeFile(join(root, '.tmp', 'old'), 'x');
    await writeFile(join(root, '.tmp', 'fresh'), 'x');
    const yesterday = new Date(Date.now() - 24 * 3_600_000);
    await utimes(join(root, '.tmp', 'old'), yesterday, yesterday);
    await storage.write('a', Buffer.from('x'));
    expect(await temporaryFiles()).toEqual(['.tmp/fresh']);
  });
});
