/** Tests renditions in an S3 storage that is full, fails, or does not show at once what has been written. */
import { EventEmitter, once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CreateBucketCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runPrepare } from '../../../src/core/pods/prepare/main.ts';
import { deleteChunks } from '../../../src/core/pods/prepare/transcode/chunk-writer.ts';
import { type Chunk, chunkKey, entryKey, indexKey } from '../../../src/core/pods/rendition/index.ts';
import { CachedStorage } from '../../../src/core/pods/storage/cache.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { ItemReader } from '../../../src/core/pods/streamer/tracks/item-reader.ts';
import { prepareConfig } from '../../../src/core/protocol/environment.ts';
import type { PrepareTask } from '../../../src/core/protocol/task.ts';
import { media, quiet, room } from '../../kit/make/prepare.ts';
import { listKeys as listAll } from '../../kit/make/storage-suite.ts';
import { buildFlv, followEntries, KEY, listKeys, makeChunks } from '../../kit/make/tiny-rendition.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { type Fault, type FaultyS3, freezeListings, hideAtFirst, startFaultyS3 } from './s3-faults.ts';

let server: S3Server;
let faulty: FaultyS3;
let bucket: string;
let buckets = 0;
let scratchDir: string;
/** The storage behind the faults, and the one with them. */
let direct: Storage;
let storage: Storage;

const getUrl = (endpoint: string) => `s3://${bucket}?endpoint=${endpoint}`;
beforeAll(async () => {
  server = await startS3Server();
  faulty = await startFaultyS3(server.endpoint);
});
afterAll(async () => {
  await faulty?.close();
  await server?.close();
});
beforeEach(async () => {
  bucket = `faults-${++buckets}`;
  await server.client.send(new CreateBucketCommand({ Bucket: bucket }));
  scratchDir = tempDir();
  const options = { credentials: server.credentials, scratchDir };
  direct = await openStorage(getUrl(server.endpoint), options);
  storage = await openStorage(getUrl(faulty.endpoint), options);
});
afterEach(() => {
  faulty.fault = undefined;
});

const leftovers = async () => {
  const { Uploads = [] } = await server.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return [...(await readdir(scratchDir)), ...Uploads.map(({ Key = '' }) => Key)];
};
const flv = buildFlv(70);

async function make(): Promise<string> {
  const index = JSON.stringify(await makeChunks(storage, flv));
  await storage.write(indexKey(KEY), Buffer.from(index));
  return index;
}

const BORDERS: [string, RegExp, number][] = [
  ['a chunk', /\.000000720\.[0-9a-f]{16}$/, 720],
  ['the entry of a chunk', /\.000000720\.json$/, 720],
  ['the index', /flv\.json$/, 1680],
];
const FAULTS: [string, Fault, string][] = [
  ['has no room', { status: 507, code: 'InsufficientStorage' }, 'full'],
  ['has used up its quota', { status: 403, code: 'QuotaExceeded' }, 'full'],
  ['fails', { status: 500, code: 'InternalError' }, 'unavailable'],
  ['asks for patience', { status: 503, code: 'SlowDown' }, 'unavailable'],
  ['breaks off', 'cut', 'unavailable'],
];
const CASES = BORDERS.flatMap(([what, pattern, frames]) =>
  FAULTS.map(([how, fault, code]) => ({ what, how, pattern, frames, fault, code })),
);

describe('S3', () => {
  test.each(CASES)('that $how at $what leaves nothing half, and the next attempt completes the rest', async (one) => {
    faulty.fault = ({ method, key }) => (method === 'PUT' && one.pattern.test(key) ? one.fault : undefined);
    await expect(make()).rejects.toMatchObject({ name: 'StorageError', code: one.code });
    expect(await leftovers()).toEqual([]);
    expect(await followEntries(direct)).toBe(one.frames);
    expect(await direct.head(indexKey(KEY))).toBeUndefined();
    const [first = ''] = await listKeys(direct);
    const before = await direct.head(first);
    faulty.fault = undefined;
    const index = await make();
    expect(await followEntries(direct)).toBe(1680);
    expect(await direct.head(first)).toEqual(before);
    expect(await text(await direct.read(indexKey(KEY)))).toBe(index);
  });

  test('that never answers a request is asked again', async () => {
    let silent = 0;
    faulty.fault = ({ method }) => (method === 'PUT' && silent++ === 0 ? 'silence' : undefined);
    await storage.write('sources/x', Buffer.from('x'));
    expect((await direct.head('sources/x'))?.sizeBytes).toBe(1);
  }, 90_000);
});

describe('a Job', () => {
  const task: PrepareTask = {
    action: 'rendition',
    type: 'audio',
    sourceKey: 'sources/x',
    profile: '720p30',
    renditionKey: 'renditions/x/audio-720p30.flv',
  };
  async function run(place: Awaited<ReturnType<typeof room>>) {
    const config = prepareConfig({
      LOOPSTREAM_TASK: JSON.stringify(task),
      LOOPSTREAM_RESULT_FILE: place.path('result'),
      LOOPSTREAM_STORAGE_URL: getUrl(faulty.endpoint),
      LOOPSTREAM_S3_ACCESS_KEY_ID: server.credentials.accessKeyId,
      LOOPSTREAM_S3_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
      LOOPSTREAM_INPUT_DIR: scratchDir,
    });
    const code = await runPrepare(config, new Lifecycle(), quiet);
    return { code, result: JSON.parse(await readFile(place.path('result'), 'utf8')) };
  }

  test('ends with storage_full where there is no room, tries again where there is trouble, and then completes', async () => {
    await using place = await room();
    const tone = await media(place.path('tone.m4a'), { audio: 'sine=440:d=2' });
    await direct.write('sources/x', await readFile(tone));
    for (const pattern of [/\.000000000\.[0-9a-f]{16}$/, /\.000000000\.json$/, /flv\.json$/]) {
      for (const [, fault, code] of FAULTS.slice(0, 3)) {
        faulty.fault = ({ method, key }) => (method === 'PUT' && pattern.test(key) ? fault : undefined);
        expect(await run(place)).toMatchObject(
          code === 'full'
            ? { code: 0, result: { action: 'failed', error: { code: 'storage_full' } } }
            : { code: 1, result: { action: 'failed', error: { code: 'prepare_failed' } } },
        );
        expect(await leftovers()).toEqual([]);
      }
    }
    faulty.fault = undefined;
    expect(await run(place)).toMatchObject({ code: 0, result: { rendition: { state: 'ready' } } });
  }, 120_000);
});

describe('an S3 that is out of date', () => {
  test('in its listings loses no chunk, keeps none that has to go, and makes none again', async () => {
    await makeChunks(storage, buildFlv(70, { gopSeconds: 4 }));
    const before = await listKeys(direct);
    await deleteChunks(direct, KEY);
    faulty.fault = await freezeListings(server.client, bucket);
    // These are in no listing, the division of another release.
    await makeChunks(direct, buildFlv(70, { gopSeconds: 4 }));
    expect(await listKeys(direct)).toEqual(before);
    expect(await listAll(storage, KEY)).toEqual([]);
    const index = await make();
    expect(await followEntries(direct)).toBe(1680);
    const { chunks } = JSON.parse(index) as { chunks: Chunk[] };
    const entries = chunks.map(({ firstFrame }) => entryKey(KEY, firstFrame));
    expect((await listKeys(direct)).filter((key) => key.endsWith('.json'))).toEqual(entries);
    await deleteChunks(storage, KEY);
    const left = chunks.map((chunk) => chunkKey(KEY, chunk));
    expect((await listKeys(direct)).filter((key) => left.includes(key) || key.endsWith('.json'))).toEqual([]);
  });

  test('in what it reads gives no mix: what is not found is made again, and the rendition is whole', async () => {
    await makeChunks(direct, buildFlv(70, { mark: 'ee' }));
    faulty.fault = hideAtFirst(/\.000000(000|720)\./, 1);
    const index = await make();
    expect(await followEntries(direct)).toBe(1680);
    expect((JSON.parse(index) as { chunks: Chunk[] }).chunks).toHaveLength(3);
    expect(await leftovers()).toEqual([]);
  });

  test('is played through a cache as far as it shows what there is, and further once it does', async () => {
    await makeChunks(direct, flv);
    const cached = await CachedStorage.open(storage, { dir: join(scratchDir, 'cache'), maxBytes: 2 ** 24, log: quiet });
    try {
      faulty.fault = hideAtFirst(/\.000000720\.[0-9a-f]{16}$/, 2);
      expect(await countPictures(cached)).toEqual({ pictures: 1680, error: undefined });
      faulty.fault = hideAtFirst(/\.000001440\.[0-9a-f]{16}$/, 1000);
      await cached.discard((await listKeys(direct)).find((key) => /\.000001440\.[0-9a-f]{16}$/.test(key)) ?? '');
      expect(await countPictures(cached)).toEqual({ pictures: 1440, error: undefined });
    } finally {
      await cached.close();
    }
  });
});

/** Plays a rendition to its end, as far as it is prepared. */
async function countPictures(from: Storage) {
  const events = new EventEmitter();
  const item = { id: 'x', name: 'x', rendition: KEY };
  const options = { storage: from, item, kind: 'video' as const, offsetTicks: 0 };
  const reader = await ItemReader.open({ ...options, onData: () => events.emit('data') });
  try {
    for (let pictures = 0; ; ) {
      const tag = reader.takeVideo();
      reader.takeAudio();
      if (tag === 'end') return { pictures, error: reader.error };
      if (tag === 'wait') await once(events, 'data');
      else pictures++;
    }
  } finally {
    reader.close();
  }
}
