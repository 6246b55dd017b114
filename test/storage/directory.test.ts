import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStorage } from '../../src/storage/open.ts';
import type { Storage } from '../../src/storage/storage.ts';

let root: string;
let storage: Storage;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'storage-'));
  storage = openStorage(pathToFileURL(root).href);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const text = async (key: string, range?: { start?: number; end?: number }) =>
  (await buffer(await storage.read(key, range))).toString();
const keys = async (prefix: string) => {
  const found: string[] = [];
  for await (const key of storage.list(prefix)) found.push(key);
  return found;
};
const temporaryFiles = () => readdir(join(root, '.tmp')).catch(() => []);

describe('a directory keeps objects', () => {
  test('an object is read back whole and by half-open ranges', async () => {
    await storage.write('sources/a', Readable.from([Buffer.from('hello '), Buffer.from('world')]));
    expect(await text('sources/a')).toBe('hello world');
    expect(await text('sources/a', { start: 6 })).toBe('world');
    expect(await text('sources/a', { start: 2, end: 5 })).toBe('llo');
    expect(await text('sources/a', { start: 3, end: 3 })).toBe('');
    expect((await storage.head('sources/a'))?.sizeBytes).toBe(11);
  });

  test('writing again replaces the object, also with nothing', async () => {
    await storage.write('a', Buffer.from('one'));
    await storage.write('a', Buffer.alloc(0));
    expect(await text('a')).toBe('');
  });

  test('an absent object has no head and cannot be read', async () => {
    await storage.write('a/b', Buffer.from('x'));
    for (const key of ['nothing', 'a', 'a/b/c']) {
      expect(await storage.head(key)).toBeUndefined();
      await expect(storage.read(key)).rejects.toMatchObject({ name: 'StorageError', code: 'not_found' });
      await expect(storage.withLocalFile(key, async () => 1)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  test('list finds by prefix, in order, and never shows a temporary file', async () => {
    for (const key of ['renditions/b/2', 'renditions/a/1', 'sources/x']) await storage.write(key, Buffer.from('x'));
    await writeFile(join(root, '.tmp', 'half'), 'x');
    expect(await keys('renditions/')).toEqual(['renditions/a/1', 'renditions/b/2']);
    expect(await keys('renditions/b')).toEqual(['renditions/b/2']);
    expect(await keys('')).toHaveLength(3);
    expect(await keys('nowhere/')).toEqual([]);
  });

  test('delete removes the object and its empty directories, and is content when there is none', async () => {
    await storage.write('renditions/a/1', Buffer.from('x'));
    await storage.write('renditions/b/1', Buffer.from('x'));
    await storage.delete('renditions/a/1');
    await storage.delete('renditions/a/1');
    expect(await readdir(join(root, 'renditions'))).toEqual(['b']);
  });
});

describe('keys cannot lead out of the directory', () => {
  const hostile = [
    '..',
    '../a',
    'a/../b',
    '/etc/passwd',
    'a//b',
    'a/',
    '.tmp/x',
    'a/.hidden',
    'a\\b',
    'a\0b',
    '',
    '%2e',
  ];
  test.each([...hostile, 'x'.repeat(600)])('%j is refused', async (key) => {
    await expect(storage.write(key, Buffer.from('x'))).rejects.toThrow('is not a storage key');
    await expect(storage.head(key)).rejects.toThrow('is not a storage key');
    await expect(storage.read(key)).rejects.toThrow('is not a storage key');
    await expect(storage.delete(key)).rejects.toThrow('is not a storage key');
  });

  test.each(['s3://bucket', '/plain', 'file://host/path', ''])('the URL %j is refused', (url) => {
    expect(() => openStorage(url)).toThrow('must look like file:///path');
  });
});

describe('a write is all or nothing', () => {
  test('a body that fails in the middle leaves the old object and no temporary file', async () => {
    await storage.write('a', Buffer.from('old'));
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('ne');
        throw new Error('the line dropped');
      })(),
    );
    await expect(storage.write('a', broken)).rejects.toThrow('the line dropped');
    expect(await text('a')).toBe('old');
    expect(await temporaryFiles()).toEqual([]);
  });

  test('an aborted write leaves nothing', async () => {
    const stop = new AbortController();
    const endless = new Readable({ read() {} });
    endless.push('x');
    const writing = storage.write('a', endless, stop.signal);
    stop.abort();
    await expect(writing).rejects.toThrow();
    expect(await storage.head('a')).toBeUndefined();
    expect(await temporaryFiles()).toEqual([]);
  });

  test('publish shows the file only when the program that fills it has ended well', async () => {
    await storage.publish('a/b', async (path) => {
      await writeFile(path, 'filled');
      expect(await storage.head('a/b')).toBeUndefined();
    });
    expect(await text('a/b')).toBe('filled');
    await expect(storage.publish('a/b', () => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
    expect(await text('a/b')).toBe('filled');
    expect(await temporaryFiles()).toEqual([]);
    expect(await storage.withLocalFile('a/b', async (path) => path)).toBe(join(root, 'a', 'b'));
  });

  test('a full disk is a StorageError full', async () => {
    const writing = storage.publish('a', () => writeFile('/dev/full', 'x'));
    await expect(writing).rejects.toMatchObject({ name: 'StorageError', code: 'full' });
  });

  test('old leftovers of a killed writer are swept, fresh ones of a living one stay', async () => {
    await mkdir(join(root, '.tmp'));
    await writeFile(join(root, '.tmp', 'old'), 'x');
    await writeFile(join(root, '.tmp', 'fresh'), 'x');
    const yesterday = new Date(Date.now() - 24 * 3_600_000);
    await utimes(join(root, '.tmp', 'old'), yesterday, yesterday);
    await storage.write('a', Buffer.from('x'));
    expect(await temporaryFiles()).toEqual(['fresh']);
  });
});
