import { appendFile, chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../../../../src/core/pods/storage/open.ts';
import type { Storage } from '../../../../../src/core/pods/storage/storage.ts';
import { halfWritten } from '../../../../kit/make/prepare.ts';
import { describeKeeper, listKeys } from '../../../../kit/make/storage-suite.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';

let root: string;
let storage: Storage;

beforeEach(async () => {
  root = tempDir();
  storage = await openStorage(pathToFileURL(root).href);
});

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

  test('a range of a stream is read in one piece', async () => {
    const bytes = Buffer.alloc(2 ** 20, 'media');
    await storage.write('a', bytes);
    const pieces = await (await storage.read('a', { start: 100, end: 100 + 2 ** 19 })).toArray();
    expect(pieces).toEqual([bytes.subarray(100, 100 + 2 ** 19)]);
  });

  test('takes a file over without a copy once it is approved, and leaves it where it was', async () => {
    const path = join(root, 'arriving');
    await writeFile(path, 'x');
    const approved = Promise.withResolvers<void>();
    const taken = storage.adopt?.('sources/a', path, approved.promise);
    await appendFile(path, 'y');
    expect(await storage.head('sources/a')).toBeUndefined();
    approved.resolve();
    expect(await taken).toBe(true);
    expect((await stat(path)).ino).toBe((await stat(join(root, 'sources', 'a'))).ino);
    await rm(path);
    expect(await text(await storage.read('sources/a'))).toBe('xy');
  });

  test('leaves nothing of a file that is not approved', async () => {
    const path = join(root, 'arriving');
    await writeFile(path, 'x');
    await expect(storage.adopt?.('sources/a', path, Promise.reject(new Error('bad')))).rejects.toThrow('bad');
    expect(await storage.head('sources/a')).toBeUndefined();
    expect(await temporaryFiles()).toEqual([]);
  });

  test('takes no file over from another file system', async () => {
    expect(await storage.adopt?.('sources/a', '/proc/version', Promise.resolve())).toBe(false);
    expect(await temporaryFiles()).toEqual([]);
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
