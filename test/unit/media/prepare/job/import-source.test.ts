/** Proves that a source is in storage whole, or not at all, though its copy is written while it is examined. */
import { createReadStream } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../../src/media/limits.ts';
import { importSource } from '../../../../../src/media/prepare/job/import-source.ts';
import { type Storage, StorageError } from '../../../../../src/media/storage/storage.ts';
import { halfWritten, media, quiet, room, serve } from '../../../../kit/make/prepare.ts';
import { picture, tools } from '../../../../kit/make/rendition.ts';

const LIMITS = { allowPrivateLinks: true, maxBytes: 2 ** 30, timeoutSeconds: 60, minBytesPerSecond: 1 };

/** Noise, so that the file has several pieces. */
const NOISY = { video: 'nullsrc=s=640x360:r=30:d=2,noise=alls=100:allf=t', output: ['-b:v', '20M'] };

async function importFile(path: string, storage: Storage) {
  await using server = await serve((_, response) => {
    createReadStream(path).pipe(response);
  });
  const task = { action: 'import' as const, type: 'video' as const, url: server.url, sourceKey: 'sources/x' };
  const context = { storage, tools, signal: new AbortController().signal, log: quiet, limits: DEFAULT_LIMITS };
  return await importSource(task, context, LIMITS);
}

async function list(storage: Storage): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of storage.list('')) keys.push(key);
  return keys;
}

test('a file that plays is in storage, byte for byte', async () => {
  await using place = await room();
  const source = await media(place.path('in.mkv'), NOISY);
  const { media: found } = await importFile(source, place.storage);
  const bytes = await readFile(source);
  expect(bytes.length).toBeGreaterThan(2 ** 21);
  expect(found).toMatchObject({ sizeBytes: bytes.length, video: { width: 640 } });
  expect((await buffer(await place.storage.read('sources/x'))).equals(bytes)).toBe(true);
});

test('a file that is cut off leaves nothing behind', async () => {
  await using place = await room();
  const source = await media(place.path('in.mkv'), { ...NOISY, video: `${NOISY.video},tpad=stop_duration=20` });
  await truncate(source, 3 * 2 ** 20);
  await expect(importFile(source, place.storage)).rejects.toMatchObject({ code: 'media_unreadable' });
  expect(await list(place.storage)).toEqual([]);
  expect(await halfWritten(place.path('media'))).toEqual([]);
});

test('a full storage is the reason to name, unless the file is refused itself', async () => {
  await using place = await room();
  const full: Storage = Object.assign(Object.create(place.storage), {
    write: () => Promise.reject(new StorageError('full', 'The storage directory is full.')),
  });
  const good = await media(place.path('in.mp4'), { video: picture('64x64') });
  await expect(importFile(good, full)).rejects.toMatchObject({ code: 'full' });
  await truncate(good, 1000);
  await expect(importFile(good, full)).rejects.toMatchObject({ code: 'media_unreadable' });
});
