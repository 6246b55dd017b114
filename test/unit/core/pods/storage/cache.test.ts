import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CachedStorage, type CacheOptions } from '../../../../../src/core/pods/storage/cache.ts';
import { DirectoryStorage } from '../../../../../src/core/pods/storage/directory.ts';
import { type ReadRange, type Storage, StorageError } from '../../../../../src/core/pods/storage/storage.ts';
import { halfWritten } from '../../../../kit/make/prepare.ts';
import { describeKeeper } from '../../../../kit/make/storage-suite.ts';
import { tempDir } from '../../../../kit/temp-dir.ts';
import { until } from '../../../../kit/wait.ts';

const MB = 2 ** 20;
const log = pino({ level: 'silent' });

let root: string;
let origin: Origin;
const open: CachedStorage[] = [];

/** A storage in a directory that counts requests, and goes away on demand. */
class Origin extends DirectoryStorage {
  away = false;
  reads: string[] = [];
  heads = 0;
  override head(key: string) {
    this.heads++;
    return this.#answer(() => super.head(key));
  }
  override read(key: string, range: ReadRange = {}, signal?: AbortSignal) {
    this.reads.push(`${key} ${range.start ?? 0}`);
    return this.#answer(() => super.read(key, range, signal));
  }
  async #answer<T>(answer: () => Promise<T>): Promise<T> {
    if (this.away) throw new StorageError('unavailable', 'It is away.');
    return answer();
  }
}

const cacheDir = () => join(root, 'cache');
async function cached(changes: Partial<CacheOptions> = {}): Promise<CachedStorage> {
  const cache = await CachedStorage.open(origin, { dir: cacheDir(), maxBytes: 64 * MB, log, ...changes });
  open.push(cache);
  return cache;
}
const readBytes = async (storage: Storage, key: string, range?: ReadRange) => buffer(await storage.read(key, range));
/** Waits until all fetches and writes have ended. */
const waitUntilIdle = (cache: CachedStorage) =>
  until('quiet', async () => {
    const before = JSON.stringify(cache.stats());
    await new Promise((resolve) => setTimeout(resolve, 50));
    return JSON.stringify(cache.stats()) === before && cache.idle;
  });

beforeEach(() => {
  root = tempDir();
  origin = new Origin(join(root, 'objects'));
});
afterEach(async () => {
  for (const cache of open.splice(0)) await cache.close();
});

describe('a storage behind a cache is a storage', () => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await cached();
  });
  describeKeeper('the cache', { storage: () => storage, leftovers: () => halfWritten(join(root, 'objects')) });
});

test('an object is fetched once, however often and however many read it, and is then there without the storage', async () => {
  const data = randomBytes(5 * MB + 17);
  await origin.write('a', data);
  const cache = await cached();
  const readers = await Promise.all([1, 2, 3].map(() => readBytes(cache, 'a')));
  expect(readers.every((read) => read.equals(data))).toBe(true);
  await waitUntilIdle(cache);
  expect(origin.reads.toSorted()).toEqual([0, 1, 2, 3, 4, 5].map((n) => `a ${n * MB}`).toSorted());
  expect(cache.stats()).toMatchObject({ fetchedBytes: data.length, errors: {}, failure: undefined, writable: true });
  origin.away = true;
  const { hits, misses } = cache.stats();
  const range = { start: 3 * MB - 5, end: 4 * MB + 5 };
  expect((await readBytes(cache, 'a', range)).equals(data.subarray(range.start, range.end))).toBe(true);
  expect(cache.stats()).toMatchObject({ hits: hits + 3, misses });
});

test('reads fetch ahead, for the reader with the least data ahead first', async () => {
  await origin.write('long', randomBytes(12 * MB));
  await origin.write('next', randomBytes(2 * MB));
  const cache = await cached({ readAheadBytes: 8 * MB });
  await readBytes(cache, 'long', { start: 0, end: MB / 2 });
  await readBytes(cache, 'next', { start: 0, end: MB / 2 });
  await waitUntilIdle(cache);
  expect(origin.reads.filter((read) => read.startsWith('long'))).toHaveLength(9);
  expect(origin.reads.filter((read) => read.startsWith('next'))).toHaveLength(2);
  origin.away = true;
  expect(await readBytes(cache, 'long', { start: 4 * MB, end: 9 * MB })).toHaveLength(5 * MB);
  await expect(readBytes(cache, 'long', { start: 9 * MB, end: 10 * MB })).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(cache.stats()).toMatchObject({ failure: 'It is away.', errors: { unavailable: expect.any(Number) } });
  origin.away = false;
  await until('it goes on by itself', () => cache.stats().failure === undefined);
});

test('reads fetch ahead over the ends of objects that follow each other', async () => {
  const data = await Promise.all(
    ['a', 'b', 'c'].map(async (key) => {
      const bytes = randomBytes(2 * MB + 5);
      await origin.write(key, bytes);
      return bytes;
    }),
  );
  const cache = await cached({ readAheadBytes: 8 * MB });
  const range = { start: MB, end: MB + MB / 2, followedBy: ['b', 'c', 'missing'] };
  await readBytes(cache, 'a', range);
  await waitUntilIdle(cache);
  expect(origin.heads).toBe(4);
  origin.away = true;
  expect(await readBytes(cache, 'a', { start: MB })).toEqual(data[0]?.subarray(MB));
  for (const [key, bytes] of [
    ['b', data[1]],
    ['c', data[2]],
  ] as const) {
    expect((await cache.head(key))?.sizeBytes).toBe(bytes?.length);
    expect(await readBytes(cache, key)).toEqual(bytes);
  }
});

test('an object that is not there is asked for each time, so that it is seen as soon as it appears', async () => {
  const cache = await cached();
  for (let time = 0; time < 2; time++) {
    expect(await cache.head('a')).toBeUndefined();
    await expect(readBytes(cache, 'a')).rejects.toMatchObject({ code: 'not_found' });
  }
  await origin.write('a', Buffer.from('there'));
  expect(await readBytes(cache, 'a')).toEqual(Buffer.from('there'));
  await waitUntilIdle(cache);
});

test('a discarded object is read from the storage again', async () => {
  const data = randomBytes(2 * MB + 5);
  await origin.write('a', data);
  const cache = await cached();
  for (let time = 1; time <= 2; time++) {
    expect(await readBytes(cache, 'a')).toEqual(data);
    await waitUntilIdle(cache);
    expect(cache.stats().fetchedBytes).toBe(time * data.length);
    await cache.discard('a');
  }
  expect(cache.stats().bytes).toBe(0);
  await cache.discard('never read');
});

test('readers who bring memory get the same bytes, each in its own, and a piece is read once for the ranges of one of them', async () => {
  const keys = ['a', 'b', 'c'];
  const objects = await Promise.all(
    keys.map(async (key) => {
      const data = randomBytes(3 * MB);
      await origin.write(key, data);
      return { key, data };
    }),
  );
  const cache = await cached();
  // Some ranges have bytes of two pieces.
  const step = (3 * MB) / 8;
  const play = async ({ key, data }: { key: string; data: Buffer }) => {
    for (let start = 0; start < data.length; start += step) {
      const into = Buffer.alloc(step);
      const end = Math.min(start + step, data.length);
      const read = await readBytes(cache, key, { start, end, into });
      expect(read.equals(data.subarray(start, end))).toBe(true);
    }
  };
  for (let time = 0; time < 2; time++) {
    await Promise.all(objects.map(play));
    await waitUntilIdle(cache);
  }
  expect(cache.stats().fetchedBytes).toBe(9 * MB);
  // A piece that is read again is checked again.
  const { misses } = cache.stats();
  await play(objects[0] as (typeof objects)[0]);
  for (const name of await readdir(cacheDir())) await truncate(join(cacheDir(), name), 5);
  await play(objects[0] as (typeof objects)[0]);
  expect(cache.stats().misses).toBeGreaterThan(misses);
});

test('a discarded object is read from the storage again, also by a reader who brings memory', async () => {
  const range = { start: 0, end: MB / 2, into: Buffer.alloc(MB / 2) };
  await origin.write('a', Buffer.alloc(MB, 'o'));
  const cache = await cached();
  for (let time = 0; time < 2; time++) expect((await readBytes(cache, 'a', range)).includes('n')).toBe(false);
  await waitUntilIdle(cache);
  await cache.discard('a');
  await origin.write('a', Buffer.alloc(MB, 'n'));
  expect((await readBytes(cache, 'a', range)).equals(Buffer.alloc(MB / 2, 'n'))).toBe(true);
  await waitUntilIdle(cache);
});

test('a small read of an object fetches that range and no more', async () => {
  await origin.write('a', randomBytes(4 * MB));
  const cache = await cached();
  for (let time = 0; time < 2; time++) {
    expect(await readBytes(cache, 'a', { start: MB, end: MB + 20 })).toHaveLength(20);
    await waitUntilIdle(cache);
  }
  expect(cache.stats()).toMatchObject({ fetchedBytes: 20, hits: 1, misses: 1 });
});

test('the cache stays within its bytes, and the least recently used goes first', async () => {
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await origin.write(key, randomBytes(MB - 100));
  const cache = await cached({ maxBytes: 4 * MB + 64 * 1024 });
  for (const key of ['a', 'b', 'c', 'd', 'a', 'e', 'f']) {
    await readBytes(cache, key);
    await waitUntilIdle(cache);
    expect(cache.stats().bytes).toBeLessThanOrEqual(4 * MB + 64 * 1024);
  }
  expect(cache.stats().evictions).toBeGreaterThanOrEqual(2);
  origin.away = true;
  for (const key of ['a', 'd', 'e', 'f']) expect(await readBytes(cache, key)).toHaveLength(MB - 100);
  await expect(readBytes(cache, 'b')).rejects.toMatchObject({ code: 'unavailable' });
});

test('a changed object is never mixed with its old version, and is seen soon', async () => {
  const [old, fresh] = [Buffer.alloc(3 * MB, 'o'), Buffer.alloc(3 * MB, 'n')];
  await origin.write('a', old);
  const cache = await cached({ freshMs: 0, readAheadBytes: 0 });
  const version = (await cache.head('a'))?.version;
  expect((await readBytes(cache, 'a', { start: 0, end: MB, version })).equals(old.subarray(0, MB))).toBe(true);
  await origin.write('a', fresh);
  const rest = readBytes(cache, 'a', { start: MB, end: 2 * MB, version });
  await expect(rest).rejects.toMatchObject({ name: 'StorageError', code: 'changed' });
  expect((await readBytes(cache, 'a')).equals(fresh)).toBe(true);
  // The cached part of the old version stays the same.
  expect((await readBytes(cache, 'a', { start: 0, end: MB, version })).equals(old.subarray(0, MB))).toBe(true);
  await origin.delete('a');
  await until('gone', async () => (await cache.head('a')) === undefined);
});

test('files that are damaged, cut short or gone are read from the storage again', async () => {
  const data = randomBytes(3 * MB);
  await origin.write('a', data);
  const cache = await cached();
  await readBytes(cache, 'a');
  await waitUntilIdle(cache);
  const chunks = [];
  for (const name of await readdir(cacheDir())) {
    const path = join(cacheDir(), name);
    const content = await readFile(path);
    if (content.length > MB) chunks.push({ path, content });
  }
  const [first, second, third] = chunks as [(typeof chunks)[0], (typeof chunks)[0], (typeof chunks)[0]];
  await writeFile(first.path, first.content.with(MB / 2, (first.content[MB / 2] ?? 0) ^ 1));
  await truncate(second.path, 5);
  await rm(third.path);
  expect((await readBytes(cache, 'a')).equals(data)).toBe(true);
});

test('a process that starts while the storage is away plays its predecessor’s cache', async () => {
  const data = randomBytes(2 * MB + 5);
  await origin.write('a', data);
  const before = await cached();
  await readBytes(before, 'a');
  await waitUntilIdle(before);
  await before.close();
  await writeFile(join(cacheDir(), 'half.tmp'), 'left by a killed one');
  origin.away = true;
  const cache = await cached();
  expect((await cache.head('a'))?.sizeBytes).toBe(data.length);
  expect((await readBytes(cache, 'a')).equals(data)).toBe(true);
  await expect(cache.head('b')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await readdir(cacheDir())).not.toContain('half.tmp');
});

test('a cached object is returned at once, also while the storage hangs', async () => {
  await origin.write('a', Buffer.from('x'));
  const cache = await cached({ freshMs: 0, patienceMs: 100 });
  await cache.head('a');
  await waitUntilIdle(cache);
  const hang = Promise.withResolvers<undefined>();
  origin.head = () => hang.promise;
  expect((await cache.head('a'))?.sizeBytes).toBe(1);
  const second = await cached({ patienceMs: 100 });
  expect((await second.head('a'))?.sizeBytes).toBe(1);
  hang.resolve(undefined);
});

test('with a directory that cannot be made, or a disk that takes nothing, all is read from the storage and nothing ahead', async () => {
  await origin.write('a', randomBytes(3 * MB));
  const none = await cached({ dir: '/dev/null/cache' });
  const lost = await cached();
  await rm(cacheDir(), { recursive: true });
  for (const cache of [none, lost]) {
    for (let time = 0; time < 2; time++) expect(await readBytes(cache, 'a')).toHaveLength(3 * MB);
    await waitUntilIdle(cache);
    expect(cache.stats()).toMatchObject({ hits: 0, writable: false, bytes: 0, errors: {} });
  }
});
