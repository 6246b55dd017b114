/** Proves that a rendition begins while its source arrives, and that nothing of it stays of a source that is not what it said. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importSource } from '../../../src/core/pods/prepare/job/import-source.ts';
import { entryKey, indexKey, type RenditionIndex } from '../../../src/core/pods/rendition/index.ts';
import { appendPieces } from '../../../src/core/pods/storage/pieces.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import { findChunkKeys } from '../../kit/make/chunks.ts';
import {
  encodeFitting,
  ffprobe,
  halfWritten,
  loopBesideHeavySound,
  media,
  quiet,
  room,
} from '../../kit/make/prepare.ts';
import { tools } from '../../kit/make/rendition.ts';
import { serve } from '../../kit/serve.ts';

const LIMITS = { allowPrivateLinks: true, maxBytes: 2 ** 30, timeoutSeconds: 600, minBytesPerSecond: 1 };
const KEY = 'renditions/upload-x/video-720p30.flv';
const SECONDS = 40;
const TRICKLE_BYTES = 1024;

let files: Awaited<ReturnType<typeof room>>;
/** An export of 40 s that is copied into 720p30, its tables first; and the same as it is encoded, since its keyframes are 8 s apart. */
const film: Record<'fits' | 'apart', Buffer> = { fits: Buffer.alloc(0), apart: Buffer.alloc(0) };

/** A picture that fits into a rendition and stands still, which costs the least to encode. */
const STILL_PICTURE = 'smptebars=s=160x90:r=30:d=8,scale=1280:720:flags=neighbor';

/** Loops eight seconds of the picture beside sound that has the bytes: 15 MB. */
async function makeFilm(name: string, gop: number): Promise<Buffer> {
  const clip = await media(files.path(`${name}-clip.mp4`), { video: STILL_PICTURE, output: encodeFitting(gop) });
  return loopBesideHeavySound(clip, files.path(`${name}.mov`), SECONDS);
}

beforeAll(async () => {
  files = await room();
  film.fits = await makeFilm('fits', 60);
  film.apart = await makeFilm('apart', 240);
}, 120_000);
afterAll(() => files?.[Symbol.asyncDispose]());

interface Sending {
  /** Sent at once. */
  first: Buffer;
  /** Sent once a part of the rendition can be played; undefined breaks the connection off. */
  rest?: Buffer;
  totalBytes?: number;
}

function importFrom(url: string, storage: Storage, onPlayable?: () => void) {
  const events: string[] = [];
  const renditions = { content: 'upload-x' };
  const task = { action: 'import' as const, type: 'video' as const, url, sourceKey: 'sources/x', renditions };
  const context = {
    asked: Promise.resolve('720p30'),
    ...{ storage, tools, signal: new AbortController().signal, log: quiet, limits: DEFAULT_LIMITS },
    onPrepared({ seconds }: { seconds: number }) {
      events.push(`prepared ${Math.round(seconds)}`);
      onPlayable?.();
    },
    onImported: () => events.push('imported'),
  };
  return { imported: importSource(task, context, LIMITS), events };
}

async function importSlowly({ first, rest, totalBytes }: Sending, storage: Storage) {
  const playable = Promise.withResolvers<void>();
  await using server = await serve(async (_, response) => {
    response.writeHead(200, { 'content-length': totalBytes ?? first.length + (rest?.length ?? 0) });
    response.write(first);
    let sentBytes = 0;
    // A busy machine takes longer for a part than a server may be silent.
    const trickle = setInterval(() => {
      const more = rest?.subarray(sentBytes, sentBytes + TRICKLE_BYTES);
      if (more) response.write(more);
      sentBytes += more?.length ?? 0;
    }, 1000);
    await playable.promise;
    clearInterval(trickle);
    events.push('the rest is sent');
    if (rest) response.end(rest.subarray(sentBytes));
    else response.destroy();
  });
  const { imported, events } = importFrom(server.url, storage, () => playable.resolve());
  // A failure before the rest is sent must not leave the server waiting.
  imported.catch(() => playable.resolve());
  return {
    result: await imported.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
    events,
  };
}

async function list(storage: Storage): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of storage.list('')) keys.push(key);
  return keys;
}

/** Ends shortly before the end of the media, well behind its first chunk. */
const cut = (bytes: Buffer) => Math.floor(bytes.length * 0.95);

describe('the rendition of a source that arrives', () => {
  test.each(['fits', 'apart'] as const)(
    'can be played before the rest is sent: %s',
    async (name) => {
      await using place = await room();
      const bytes = film[name];
      const { result, events } = await importSlowly(
        { first: bytes.subarray(0, cut(bytes)), rest: bytes.subarray(cut(bytes)) },
        place.storage,
      );
      expect(result).toMatchObject({
        value: { media: { sizeBytes: bytes.length }, rendition: { state: 'ready', key: KEY } },
      });
      expect(events.slice(0, 2)).toEqual(['prepared 30', 'the rest is sent']);
      expect(events).toContain('imported');
      expect(events.at(-1)).toBe(`prepared ${SECONDS}`);
      expect(await list(place.storage)).toEqual(
        expect.arrayContaining(['sources/x', indexKey(KEY), entryKey(KEY, 900)]),
      );
    },
    180_000,
  );

  test('is gone with a source whose server breaks off for good, and the import says so', async () => {
    await using place = await room();
    const first = film.fits.subarray(0, cut(film.fits));
    const { result, events } = await importSlowly({ first, totalBytes: film.fits.length }, place.storage);
    expect(events[0]).toBe('prepared 30');
    expect(result).toMatchObject({ error: { code: 'link_unreachable' } });
    expect(await list(place.storage)).toEqual([]);
    expect(await halfWritten(place.path('media'))).toEqual([]);
  }, 180_000);
});

test('the rendition of an upload can be played before its client has sent the rest', async () => {
  await using place = await room();
  const bytes = film.fits;
  const key = 'incoming/x';
  const send = (start: number, part: Buffer) =>
    appendPieces(place.storage, key, start, Readable.from([part]), async () => undefined);
  await send(0, bytes.subarray(0, cut(bytes)));
  const sent = { key, sizeBytes: bytes.length, isArriving: true };
  const events: string[] = [];
  const imported = importSource(
    { action: 'import', type: 'video', sent, sourceKey: 'sources/x', renditions: { content: 'upload-x' } },
    {
      asked: Promise.resolve('720p30'),
      ...{ storage: place.storage, tools, signal: new AbortController().signal, log: quiet, limits: DEFAULT_LIMITS },
      onPrepared({ seconds }) {
        if (events.push(`prepared ${Math.round(seconds)}`) > 1) return;
        events.push('the rest is sent');
        void send(cut(bytes), bytes.subarray(cut(bytes)));
      },
    },
    LIMITS,
  );
  expect(await imported).toMatchObject({ media: { sizeBytes: bytes.length }, rendition: { state: 'ready', key: KEY } });
  expect(events.slice(0, 2)).toEqual(['prepared 30', 'the rest is sent']);
  expect(events.at(-1)).toBe(`prepared ${SECONDS}`);
}, 180_000);

test('the chunks of an upload stay when its client pauses, and the next Job goes on with them', async () => {
  await using place = await room();
  const bytes = film.fits;
  const key = 'incoming/x';
  const send = (start: number, part: Buffer) =>
    appendPieces(place.storage, key, start, Readable.from([part]), async () => undefined);
  const playable = Promise.withResolvers<void>();
  let listings = 0;
  // The Job does not notice the pause before a part can be played.
  const list: Storage['list'] = async function* (prefix) {
    if (prefix.startsWith(key) && listings++ > 0) await playable.promise;
    yield* place.storage.list(prefix);
  };
  const storage = new Proxy(place.storage, {
    get: (target, name: keyof Storage) => (name === 'list' ? list : target[name]?.bind(target)),
  });
  const run = (isArriving: boolean) => {
    const sent = { key, sizeBytes: bytes.length, ...(isArriving && { isArriving }) };
    return importSource(
      { action: 'import', type: 'video', sent, sourceKey: 'sources/x', renditions: { content: 'upload-x' } },
      {
        asked: Promise.resolve('720p30'),
        ...{ storage, tools, signal: new AbortController().signal, log: quiet, limits: DEFAULT_LIMITS },
        onPrepared: () => playable.resolve(),
      },
      { ...LIMITS, windowSeconds: 0.5 },
    );
  };
  await send(0, bytes.subarray(0, cut(bytes)));
  await expect(run(true)).rejects.toMatchObject({ code: 'prepare_failed', retryAfterSeconds: 0 });
  const before = await findChunkKeys(place.storage, KEY, 0);
  expect(before).toHaveLength(1);
  await send(cut(bytes), bytes.subarray(cut(bytes)));
  expect(await run(false)).toMatchObject({ rendition: { state: 'ready', key: KEY } });
  expect(await findChunkKeys(place.storage, KEY, 0)).toEqual(before);
}, 180_000);

test('a source that its server declares shorter than its media is refused when it has arrived, and never played', async () => {
  await using place = await room();
  const path = files.path('short.mov');
  await writeFile(path, film.fits.subarray(0, cut(film.fits)));
  await using server = await serve((_, response) => {
    response.writeHead(200, { 'content-length': cut(film.fits) });
    createReadStream(path, { highWaterMark: 2 ** 20 }).pipe(response);
  });
  const { imported, events } = importFrom(server.url, place.storage);
  await expect(imported).rejects.toMatchObject({ code: 'media_unreadable' });
  expect(events).toEqual([]);
  expect(await list(place.storage)).toEqual([]);
});

test('a copy that breaks behind its first chunk begins again, encoded, and all its chunks are of one kind', async () => {
  await using place = await room();
  const bytes = Buffer.from(film.fits);
  const { packets } = await ffprobe(files.path('fits.mov'), '-select_streams', 'v', '-show_packets');
  // The keyframes at 34 and 36 s contain no picture, so the group of pictures before them is too long.
  for (const { pos, size } of [packets[1020], packets[1080]])
    bytes.fill(0, Number(pos) + 4, Number(pos) + Number(size));
  const { result } = await importSlowly(
    { first: bytes.subarray(0, cut(bytes)), rest: bytes.subarray(cut(bytes)) },
    place.storage,
  );
  expect(result).toMatchObject({ value: { rendition: { state: 'ready' } } });
  const read = async (key: string) => JSON.parse(await text(await place.storage.read(key)));
  const index = (await read(indexKey(KEY))) as RenditionIndex;
  expect(index.video?.frames).toBe(SECONDS * 30);
  for (const chunk of index.chunks) expect((await read(entryKey(KEY, chunk.firstFrame))).chunk).toEqual(chunk);
  expect(new Set(index.chunks.map(({ video }) => video?.header)).size).toBe(1);
}, 360_000);
