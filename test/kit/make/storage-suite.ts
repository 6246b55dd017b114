/** Registers the tests that every storage of media bytes passes. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { appendPieces, arrivedBytes, deletePieces, joinedPieces } from '../../../src/core/pods/storage/pieces.ts';
import type { ReadRange, Storage } from '../../../src/core/pods/storage/storage.ts';

interface Keeper {
  /** Empty at the start of each test. */
  storage: () => Storage;
  /** Temporary files and unfinished uploads, which a write may not leave behind. */
  leftovers: () => Promise<string[]>;
}

export async function readText(storage: Storage, key: string, range?: ReadRange): Promise<string> {
  return (await buffer(await storage.read(key, range))).toString();
}

export async function listKeys(storage: Storage, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const key of storage.list(prefix)) found.push(key);
  return found;
}

const HOSTILE_KEYS = [
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
  'x'.repeat(600),
];

export function describeKeeper(name: string, { storage, leftovers }: Keeper): void {
  const text = (key: string, range?: ReadRange) => readText(storage(), key, range);

  describe(`${name} keeps objects`, () => {
    test('an object is read back completely and by half-open ranges', async () => {
      await storage().write('sources/a', Readable.from([Buffer.from('hello '), Buffer.from('world')]));
      expect(await text('sources/a')).toBe('hello world');
      expect(await text('sources/a', { start: 6 })).toBe('world');
      expect(await text('sources/a', { end: 5 })).toBe('hello');
      expect(await text('sources/a', { start: 2, end: 5 })).toBe('llo');
      expect(await text('sources/a', { start: 6, end: 100 })).toBe('world');
      expect(await text('sources/a', { start: 3, end: 3 })).toBe('');
      expect(await text('sources/a', { start: 11 })).toBe('');
      const head = await storage().head('sources/a');
      expect(head?.sizeBytes).toBe(11);
      expect(Math.abs(Date.now() - (head?.modifiedAt.getTime() ?? 0))).toBeLessThan(60_000);
    });

    test('a range with memory for it is read there or left beside it, and nothing behind its end', async () => {
      await storage().write('a', Buffer.from('hello world'));
      for (const [range, expected] of [
        [{ start: 2, end: 7 }, 'llo w'],
        [{ start: 6, end: 100 }, 'world'],
        [{ start: 3, end: 3 }, ''],
      ] as const) {
        const memory = Buffer.alloc(200, '-');
        const into = memory.subarray(4);
        expect(await text('a', { ...range, into })).toBe(expected);
        const there = into.subarray(0, expected.length).toString();
        expect([expected, '-'.repeat(expected.length)]).toContain(there);
        expect(memory.toString()).toBe(`----${there}`.padEnd(200, '-'));
      }
    });

    test('writing again replaces the object, also with nothing', async () => {
      await storage().write('a', Buffer.from('one'));
      expect(await text('a')).toBe('one');
      await storage().write('a', Buffer.alloc(0));
      expect(await text('a')).toBe('');
      expect(await text('a', { start: 0, end: 10 })).toBe('');
      await storage().write('a', Readable.from([]));
      expect((await storage().head('a'))?.sizeBytes).toBe(0);
    });

    test('a read that is held to a version gets that one or none', async () => {
      await storage().write('a', Buffer.from('first'));
      const version = (await storage().head('a'))?.version;
      expect(version).toBeTruthy();
      expect(await text('a', { start: 1, end: 3, version })).toBe('ir');
      await storage().write('a', Buffer.from('other'));
      expect((await storage().head('a'))?.version).not.toBe(version);
      // A reader that keeps its first read may still have that version.
      const held = await text('a', { start: 1, end: 3, version }).catch((error: { code?: string }) => error.code);
      expect(['ir', 'changed']).toContain(held);
    });

    test('an absent object has no head and cannot be read', async () => {
      await storage().write('a/b', Buffer.from('x'));
      for (const key of ['nothing', 'a', 'a/b/c']) {
        expect(await storage().head(key)).toBeUndefined();
        await expect(storage().read(key)).rejects.toMatchObject({ name: 'StorageError', code: 'not_found' });
        await expect(storage().read(key, { start: 1, end: 1 })).rejects.toMatchObject({ code: 'not_found' });
        await expect(storage().withLocalFile(key, async () => 1)).rejects.toMatchObject({ code: 'not_found' });
      }
    });

    test('list finds by prefix, in order', async () => {
      for (const key of ['renditions/b/2', 'renditions/a/1', 'sources/x']) {
        await storage().write(key, Buffer.from('x'));
      }
      expect(await listKeys(storage(), 'renditions/')).toEqual(['renditions/a/1', 'renditions/b/2']);
      expect(await listKeys(storage(), 'renditions/b')).toEqual(['renditions/b/2']);
      expect(await listKeys(storage(), '')).toHaveLength(3);
      expect(await listKeys(storage(), 'nowhere/')).toEqual([]);
    });

    test('delete removes the object and is content when there is none', async () => {
      await storage().write('renditions/a/1', Buffer.from('x'));
      await storage().delete('renditions/a/1');
      await storage().delete('renditions/a/1');
      expect(await storage().head('renditions/a/1')).toBeUndefined();
      expect(await listKeys(storage(), '')).toEqual([]);
    });

    test('a read that is aborted ends with an error', async () => {
      await storage().write('a', Buffer.alloc(4 * 2 ** 20));
      const stop = new AbortController();
      const body = await storage().read('a', {}, stop.signal);
      stop.abort();
      await expect(buffer(body)).rejects.toThrow();
    });

    test('a local file holds the object for as long as it is used', async () => {
      await storage().write('a/b', Buffer.from('content'));
      expect(await storage().withLocalFile('a/b', (path) => readFile(path, 'utf8'))).toBe('content');
      await expect(storage().withLocalFile('a/b', () => Promise.reject(new Error('it broke')))).rejects.toThrow(
        'broke',
      );
      expect(await leftovers()).toEqual([]);
    });

    test.each(HOSTILE_KEYS)('the key %j is refused', async (key) => {
      await expect(storage().write(key, Buffer.from('x'))).rejects.toThrow('is not a storage key');
      await expect(storage().publish(key, async () => undefined)).rejects.toThrow('is not a storage key');
      await expect(storage().head(key)).rejects.toThrow('is not a storage key');
      await expect(storage().read(key)).rejects.toThrow('is not a storage key');
      await expect(storage().withLocalFile(key, async () => 1)).rejects.toThrow('is not a storage key');
      await expect(storage().delete(key)).rejects.toThrow('is not a storage key');
    });
  });

  describe(`${name}: an object that arrives in pieces`, () => {
    const MIB = 2 ** 20;
    const nothing = async () => undefined;
    const append = (start: number, ...chunks: Buffer[]) =>
      appendPieces(storage(), 'incoming/a', start, Readable.from(chunks), nothing);
    const { signal } = new AbortController();
    const joined = async () =>
      Buffer.concat(await Readable.from(joinedPieces(storage(), 'incoming/a', signal)).toArray());

    test('is as long as its bytes without a gap, and is read in order', async () => {
      expect(await arrivedBytes(storage(), 'incoming/a')).toBe(0);
      const content = randomBytes(9 * MIB + 5);
      const told: number[] = [];
      const body = Readable.from([content.subarray(0, 7), content.subarray(7, 9 * MIB)]);
      const end = await appendPieces(storage(), 'incoming/a', 0, body, async (bytes) => void told.push(bytes));
      expect([end, ...told]).toEqual([9, 0.25, 0.75, 1.75, 3.75, 7.75, 9].map((mib) => mib * MIB));
      expect(await append(9 * MIB, content.subarray(9 * MIB))).toBe(content.length);
      expect(await arrivedBytes(storage(), 'incoming/a')).toBe(content.length);
      expect((await joined()).equals(content)).toBe(true);
      await deletePieces(storage(), 'incoming/a');
      expect(await listKeys(storage(), '')).toEqual([]);
    });

    test('keeps the bytes that came before its body broke off', async () => {
      const broken = async function* () {
        yield Buffer.from('half');
        throw new Error('the line dropped');
      };
      await expect(appendPieces(storage(), 'incoming/a', 0, broken(), nothing)).rejects.toThrow('the line dropped');
      expect(await arrivedBytes(storage(), 'incoming/a')).toBe(4);
    });

    test('is right when two have kept the same bytes in pieces of their own, and ends at a gap', async () => {
      await append(0, Buffer.from('0123456789'));
      await append(0, Buffer.from('0123'));
      await append(4, Buffer.from('456'));
      await append(7, Buffer.from('789abc'));
      await append(10, Buffer.from('abcdef'));
      await append(99, Buffer.from('far'));
      expect(await arrivedBytes(storage(), 'incoming/a')).toBe(16);
      expect((await joined()).toString()).toBe('0123456789abcdef');
    });
  });

  describe(`${name}: a write is all or nothing`, () => {
    test('a body that fails in the middle leaves the old object and no leftovers', async () => {
      await storage().write('a', Buffer.from('old'));
      for (const bytes of [2, 10 * 2 ** 20]) {
        const broken = Readable.from(
          (async function* () {
            yield Buffer.alloc(bytes);
            throw Object.assign(new Error('the line dropped'), { code: 'ECONNRESET' });
          })(),
          { objectMode: false },
        );
        await expect(storage().write('a', broken)).rejects.toMatchObject({
          message: 'the line dropped',
          name: 'Error',
        });
      }
      expect(await text('a')).toBe('old');
      expect(await leftovers()).toEqual([]);
    });

    test('an aborted write leaves nothing', async () => {
      for (const bytes of [1, 10 * 2 ** 20]) {
        const stop = new AbortController();
        const endless = new Readable({ read() {} });
        endless.push(Buffer.alloc(bytes));
        const writing = storage().write('a', endless, stop.signal);
        stop.abort();
        await expect(writing).rejects.toMatchObject({ name: 'AbortError' });
      }
      expect(await storage().head('a')).toBeUndefined();
      expect(await leftovers()).toEqual([]);
    });

    test('publish shows the file only when the program that fills it has ended well', async () => {
      await storage().publish('a/b', async (path) => {
        await writeFile(path, 'filled');
        expect(await storage().head('a/b')).toBeUndefined();
      });
      expect(await text('a/b')).toBe('filled');
      const failing = async (path: string) => {
        await writeFile(path, 'half');
        throw new Error('it broke');
      };
      await expect(storage().publish('a/b', failing)).rejects.toThrow('it broke');
      expect(await text('a/b')).toBe('filled');
      expect(await leftovers()).toEqual([]);
    });

    test('a full disk is a StorageError full', async () => {
      const writing = storage().publish('a', () => writeFile('/dev/full', 'x'));
      await expect(writing).rejects.toMatchObject({ name: 'StorageError', code: 'full' });
      expect(await leftovers()).toEqual([]);
    });
  });
}
