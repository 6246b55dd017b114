/** Tests that a client's parts become a source as a link's content does: once and whole, whatever happens to the Job. */
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { importSource } from '../../../../../src/core/pods/prepare/job/import-source.ts';
import { readJoin, writeJoin } from '../../../../../src/core/pods/storage/joins.ts';
import {
  appendPieces,
  arrivedBytes,
  dropUnverified,
  markUnverified,
} from '../../../../../src/core/pods/storage/pieces.ts';
import type { Storage } from '../../../../../src/core/pods/storage/storage.ts';
import { DEFAULT_LIMITS } from '../../../../../src/core/protocol/media-limits.ts';
import { media, quiet, room } from '../../../../kit/make/prepare.ts';

const KEY = 'incoming/x';
const LIMITS = { allowPrivateLinks: false, maxBytes: 1, timeoutSeconds: 1, minBytesPerSecond: 0 };
const { signal } = new AbortController();
type Room = Awaited<ReturnType<typeof room>>;

const runImport = async (
  { storage }: Room,
  sizeBytes: number,
  ffprobe = 'ffprobe',
  onProgress?: (part: number) => void,
) => {
  const { media: info } = await importSource(
    { action: 'import', sent: { key: KEY, sizeBytes }, type: 'video', sourceKey: 'sources/x' },
    {
      storage,
      tools: { ffmpeg: 'ffmpeg', ffprobe, drawText: 'draw-text' },
      signal,
      log: quiet,
      limits: DEFAULT_LIMITS,
      ...(onProgress && { onProgress }),
    },
    LIMITS,
  );
  return info;
};

/** Sends the content in two pieces. */
async function sendTo(storage: Storage, content: Buffer): Promise<void> {
  const half = Math.floor(content.length / 2);
  for (const [start, part] of [
    [0, content.subarray(0, half)],
    [half, content.subarray(half)],
  ] as const)
    await appendPieces(storage, KEY, start, Readable.from([part]), async () => undefined);
}

async function film(place: Room): Promise<Buffer> {
  const content = await readFile(await media(place.path('in.mp4'), { video: 'testsrc2=s=320x180:r=25:d=1' }));
  await sendTo(place.storage, content);
  return content;
}

test('the source has the sent bytes, with their hash, and the pieces are gone', async () => {
  await using place = await room();
  const content = await film(place);
  const progress: number[] = [];
  const info = await runImport(place, content.length, 'ffprobe', (part) => progress.push(part));
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(info).toMatchObject({ sha256, sizeBytes: content.length, durationSeconds: 1, video: { codec: 'h264' } });
  expect(progress.at(-1)).toBe(1);
  expect((await readFile(place.path('media/sources/x'))).equals(content)).toBe(true);
  expect(await arrivedBytes(place.storage, KEY)).toBe(0);
  // The Job ended before its report arrived: the next one finds the source.
  expect(await runImport(place, content.length)).toEqual(info);
});

test('a fault of the moment leaves everything for the next try', async () => {
  await using place = await room();
  const content = await film(place);
  await expect(runImport(place, content.length, place.path('no-such-program'))).rejects.toThrow();
  expect(await runImport(place, content.length)).toMatchObject({ sizeBytes: content.length });
});

test('a file without media is media_unreadable, and no source', async () => {
  await using place = await room();
  await sendTo(place.storage, randomBytes(50_000));
  await expect(runImport(place, 50_000)).rejects.toMatchObject({ code: 'media_unreadable' });
  expect(await place.storage.head('sources/x')).toBeUndefined();
});

test('missing pieces are reported, and nothing is made of the rest', async () => {
  await using place = await room();
  await sendTo(place.storage, randomBytes(1000));
  await expect(runImport(place, 2000)).rejects.toMatchObject({ code: 'prepare_failed' });
  expect(await place.storage.head('sources/x')).toBeUndefined();
});

test('parts that were joined to an upload are read in their order, and all is gone then', async () => {
  await using place = await room();
  const content = await readFile(await media(place.path('in.mp4'), { video: 'testsrc2=s=320x180:r=25:d=1' }));
  const keys = ['incoming/second', 'incoming/first', 'incoming/third'];
  const third = Math.ceil(content.length / 3);
  for (const [i, key] of keys.entries()) {
    const part = content.subarray(i * third, (i + 1) * third);
    await appendPieces(place.storage, key, 0, Readable.from([part]), async () => undefined);
  }
  const importParts = () =>
    importSource(
      { action: 'import', sent: { key: KEY, sizeBytes: content.length, keys }, type: 'video', sourceKey: 'sources/x' },
      {
        storage: place.storage,
        tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: 'draw-text' },
        signal,
        log: quiet,
        limits: DEFAULT_LIMITS,
      },
      LIMITS,
    );
  const bytesOf = () => Promise.all(keys.map((key) => arrivedBytes(place.storage, key)));
  const before = await bytesOf();
  for (const joined of [undefined, keys.slice(1), keys.toReversed()]) {
    if (joined) await writeJoin(place.storage, KEY, joined);
    await expect(importParts()).rejects.toMatchObject({ code: 'prepare_failed' });
    expect(await bytesOf()).toEqual(before);
  }
  await writeJoin(place.storage, KEY, keys);
  const { media: info } = await importParts();
  expect(info.sha256).toBe(createHash('sha256').update(content).digest('hex'));
  expect(await bytesOf()).toEqual([0, 0, 0]);
  expect(await readJoin(place.storage, KEY)).toBeUndefined();
});

describe('an upload that a client still sends', () => {
  const importArriving = (place: Room, sizeBytes: number, onProgress: (part: number) => void = () => undefined) =>
    importSource(
      { action: 'import', sent: { key: KEY, sizeBytes, isArriving: true }, type: 'video', sourceKey: 'sources/x' },
      {
        storage: place.storage,
        tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: 'draw-text' },
        ...{ signal, log: quiet, onProgress },
        limits: DEFAULT_LIMITS,
      },
      { ...LIMITS, windowSeconds: 0.5 },
    );
  const send = (place: Room, start: number, bytes: Buffer) =>
    appendPieces(place.storage, KEY, start, Readable.from([bytes]), async () => undefined);
  const make = async (place: Room) =>
    readFile(await media(place.path('in.mp4'), { video: 'testsrc2=s=320x180:r=25:d=1' }));

  test('is imported while it comes', async () => {
    await using place = await room();
    const content = await make(place);
    const half = Math.floor(content.length / 2);
    await send(place, 0, content.subarray(0, half));
    const hasHalf = Promise.withResolvers<void>();
    const imported = importArriving(
      place,
      content.length,
      (part) => part * content.length >= half && hasHalf.resolve(),
    );
    await hasHalf.promise;
    await send(place, half, content.subarray(half));
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect((await imported).media).toMatchObject({ sha256, sizeBytes: content.length });
    expect((await buffer(await place.storage.read('sources/x'))).equals(content)).toBe(true);
    expect(await arrivedBytes(place.storage, KEY)).toBe(0);
  });

  test('is left when the client pauses, and all that it has sent stays', async () => {
    await using place = await room();
    const content = await make(place);
    await send(place, 0, content.subarray(0, 5000));
    await expect(importArriving(place, content.length)).rejects.toMatchObject({
      code: 'prepare_failed',
      retryAfterSeconds: 0,
    });
    expect(await arrivedBytes(place.storage, KEY)).toBe(5000);
    expect(await place.storage.head('sources/x')).toBeUndefined();
    await send(place, 5000, content.subarray(5000));
    expect(await runImport(place, content.length)).toMatchObject({ sizeBytes: content.length });
  });

  test('is read as far as it is verified', async () => {
    await using place = await room();
    const content = await make(place);
    await send(place, 0, content.subarray(0, 5000));
    await markUnverified(place.storage, KEY, 5000);
    await send(place, 5000, Buffer.alloc(3000));
    const hasBegun = Promise.withResolvers<void>();
    const imported = importArriving(place, content.length, () => hasBegun.resolve());
    await hasBegun.promise;
    await dropUnverified(place.storage, KEY);
    await send(place, 5000, content.subarray(5000));
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect((await imported).media).toMatchObject({ sha256 });
  });
});
