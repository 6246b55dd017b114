/** Proves that a source is in storage whole, or not at all, though its copy is written while it is examined. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, truncate } from 'node:fs/promises';
import { buffer, text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { importSource } from '../../../../../../src/core/pods/prepare/job/import-source.ts';
import type { JobContext } from '../../../../../../src/core/pods/prepare/steps/context.ts';
import { chunkKey, entryKey, indexKey, parseIndex } from '../../../../../../src/core/pods/rendition/index.ts';
import { type Storage, StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { DEFAULT_LIMITS } from '../../../../../../src/core/protocol/media-limits.ts';
import { findChunkKeys } from '../../../../../kit/make/chunks.ts';
import { halfWritten, media, quiet, room } from '../../../../../kit/make/prepare.ts';
import { picture, TONE, tools } from '../../../../../kit/make/rendition.ts';
import { override } from '../../../../../kit/make/tiny-rendition.ts';
import { serve } from '../../../../../kit/serve.ts';

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

/** The storage with other methods in place of its own. */
const withMethods = (storage: Storage, methods: { [Name in keyof Storage]?: Storage[Name] | undefined }): Storage =>
  new Proxy(storage, {
    get: (_, name: keyof Storage) => (name in methods ? methods[name] : storage[name]?.bind(storage)),
  });

/** A storage on another file system, as one in S3: it takes no file over. */
const apart = (storage: Storage): Storage => withMethods(storage, { adopt: undefined });

test.each([
  ['taken over', (storage: Storage) => storage],
  ['copied', apart],
])('a file that plays is in storage, byte for byte: %s', async (_, reach) => {
  await using place = await room();
  const source = await media(place.path('in.mkv'), NOISY);
  const { media: found } = await importFile(source, reach(place.storage));
  const bytes = await readFile(source);
  expect(bytes.length).toBeGreaterThan(2 ** 21);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(found).toMatchObject({ sizeBytes: bytes.length, sha256, video: { width: 640 } });
  expect((await buffer(await place.storage.read('sources/x'))).equals(bytes)).toBe(true);
  expect(await halfWritten(place.path('media'))).toEqual([]);
});

test('a storage that is away while the file arrives has it afterwards', async () => {
  await using place = await room();
  const source = await media(place.path('in.mkv'), NOISY);
  const outages = [new StorageError('unavailable', 'The storage is away.')];
  const away = withMethods(place.storage, {
    adopt: undefined,
    async write(...args: Parameters<Storage['write']>) {
      const outage = outages.pop();
      if (outage) throw outage;
      await place.storage.write(...args);
    },
  });
  await importFile(source, away);
  expect((await buffer(await place.storage.read('sources/x'))).equals(await readFile(source))).toBe(true);
});

test.each([
  ['taken over', (storage: Storage) => storage],
  ['copied', apart],
])('a file that is cut off leaves nothing behind: %s', async (_, reach) => {
  await using place = await room();
  const source = await media(place.path('in.mkv'), { ...NOISY, video: `${NOISY.video},tpad=stop_duration=20` });
  await truncate(source, 3 * 2 ** 20);
  await expect(importFile(source, reach(place.storage))).rejects.toMatchObject({ code: 'media_unreadable' });
  expect(await list(place.storage)).toEqual([]);
  expect(await halfWritten(place.path('media'))).toEqual([]);
});

const refuse = () => Promise.reject(new StorageError('full', 'The storage directory is full.'));

test.each([
  ['one that takes files over', { adopt: refuse }],
  ['one that copies', { adopt: undefined, write: refuse }],
])('a full storage is the reason to name, unless the file is refused itself: %s', async (_, methods) => {
  await using place = await room();
  const full = withMethods(place.storage, methods);
  const good = await media(place.path('in.mp4'), { video: picture('64x64') });
  await expect(importFile(good, full)).rejects.toMatchObject({ code: 'full' });
  await truncate(good, 1000);
  await expect(importFile(good, full)).rejects.toMatchObject({ code: 'media_unreadable' });
});

/** The rendition that a stream waits for. */
const KEY = 'renditions/upload-x/video-720p30.flv';
/** Two seconds that are copied into 720p30. */
const FITS = {
  video: picture('1280x720', 30, 2),
  audio: 'sine=440:r=48000:d=2',
  output: ['-pix_fmt', 'yuv420p', '-g', '30', '-bf', '0', '-b:v', '1M', '-ac', '2', '-c:a', 'aac'],
};

async function importWithRendition(path: string, storage: Storage, more: Partial<JobContext> = {}) {
  await using server = await serve((_, response) => {
    createReadStream(path).pipe(response);
  });
  const task = { action: 'import' as const, type: 'video' as const, url: server.url, sourceKey: 'sources/x' };
  const context = {
    ...{ storage, tools, signal: new AbortController().signal, log: quiet, limits: DEFAULT_LIMITS },
    asked: Promise.resolve('720p30'),
  };
  return await importSource({ ...task, renditions: { content: 'upload-x' } }, { ...context, ...more }, LIMITS);
}

test.each([
  ['copied', FITS],
  ['encoded', { video: picture('320x240', 25, 2), audio: TONE }],
])('a rendition that a stream waits for is made with the import: %s', async (_, options) => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), options);
  const events: string[] = [];
  const { media: found, rendition } = await importWithRendition(source, place.storage, {
    onImported: ({ media }) => events.push(`imported ${media.video?.width}`),
    onPrepared: ({ seconds, totalSeconds }) => events.push(`prepared ${seconds === totalSeconds}`),
  });
  expect(rendition).toMatchObject({ ...{ profile: '720p30', state: 'ready' }, key: KEY });
  expect(rendition?.durationSeconds).toBeCloseTo(found.durationSeconds, 1);
  // Nothing is played of a file that has not been read to its end.
  expect([...new Set(events)]).toEqual([`imported ${found.video?.width}`, 'prepared true']);
  expect(await list(place.storage)).toEqual(expect.arrayContaining(['sources/x', indexKey(KEY), entryKey(KEY, 0)]));
});

test('a file that is refused leaves no chunk behind', async () => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), FITS);
  const refused = importWithRendition(source, place.storage, { limits: { ...DEFAULT_LIMITS, durationSeconds: 1 } });
  await expect(refused).rejects.toMatchObject({ code: 'media_too_long' });
  expect(await list(place.storage)).toEqual([]);
  expect(await halfWritten(place.path('media'))).toEqual([]);
});

test('a rendition is made for a stream that waits only once the source has been read', async () => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), FITS);
  const asked = Promise.withResolvers<string>();
  // An import takes the source into storage at its end.
  const slow = withMethods(place.storage, {
    async adopt(...args: Parameters<NonNullable<Storage['adopt']>>) {
      const isTaken = (await place.storage.adopt?.(...args)) ?? false;
      asked.resolve('720p30');
      return isTaken;
    },
  });
  const { rendition } = await importWithRendition(source, slow, { asked: asked.promise });
  expect(rendition).toMatchObject({ state: 'ready', key: KEY });
});

test('a profile that does not exist is not made', async () => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), FITS);
  const { rendition } = await importWithRendition(source, place.storage, { asked: Promise.resolve('../../x') });
  expect(rendition).toBeUndefined();
  expect(await list(place.storage)).toEqual(['renditions/upload-x/video-poster.jpg', 'sources/x']);
});

test('a rendition that cannot be made does not fail the import, and leaves no chunk behind', async () => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), FITS);
  const { rendition, media: found } = await importWithRendition(source, place.storage, {
    tools: { ...tools, ffmpeg: 'false' },
  });
  expect(rendition).toBeUndefined();
  expect(found.video?.width).toBe(1280);
  expect(await list(place.storage)).toEqual(['sources/x']);
});

test('a storage that fails while chunks are deleted fails no import, and hides no reason', async () => {
  await using place = await room();
  const source = await media(place.path('in.mp4'), FITS);
  const list = async function* () {
    yield* [];
    throw new StorageError('unavailable', 'The storage lists nothing.');
  };
  const storage = override(place.storage, { list });
  const { rendition, media: found } = await importWithRendition(source, storage, {
    tools: { ...tools, ffmpeg: 'false' },
  });
  expect(rendition).toBeUndefined();
  expect(found.video?.width).toBe(1280);
  await truncate(source, 5000);
  await expect(importWithRendition(source, storage)).rejects.toMatchObject({ code: 'media_unreadable' });
});

test('another file from the same link replaces the chunks of the one before', async () => {
  await using place = await room();
  const before = await media(place.path('before.mp4'), FITS);
  await importWithRendition(before, place.storage);
  const chunks = await findChunkKeys(place.storage, KEY, 0);
  await importWithRendition(before, place.storage);
  expect(await findChunkKeys(place.storage, KEY, 0)).toEqual(chunks);
  const after = await media(place.path('after.mp4'), { ...FITS, video: `${FITS.video},negate` });
  await importWithRendition(after, place.storage);
  const index = parseIndex(await text(await place.storage.read(indexKey(KEY))));
  if (index?.version === 1) throw new Error('not an index');
  const [replaced] = index?.chunks ?? [];
  expect(replaced && chunks.includes(chunkKey(KEY, replaced))).toBe(false);
  expect(JSON.parse(await text(await place.storage.read(entryKey(KEY, 0))))).toMatchObject({ chunk: replaced });
});
