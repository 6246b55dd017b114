import { createHash, randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { CreateBucketCommand, HeadObjectCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { Storage, StorageCredentials } from '../../../src/core/pods/storage/storage.ts';
import { describeKeeper, listKeys } from '../../kit/make/storage-suite.ts';
import { buildFlv, followEntries, makeChunks, readAll } from '../../kit/make/tiny-rendition.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const LARGE_BYTES = 20 * 2 ** 20;

let server: S3Server;
let bucket: string;
let buckets = 0;
let scratchDir: string;
let storage: Storage;

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server?.close());
beforeEach(async () => {
  bucket = `media-${++buckets}`;
  await server.client.send(new CreateBucketCommand({ Bucket: bucket }));
  scratchDir = tempDir();
  storage = await open();
});

const open = (name = bucket, credentials: StorageCredentials = server.credentials, prefix = '/loop/media') =>
  openStorage(`s3://${name}${prefix}?endpoint=${server.endpoint}&region=us-east-1&forcePathStyle=true`, {
    credentials,
    scratchDir,
  });
const leftovers = async () => {
  const { Uploads = [] } = await server.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return [...(await readdir(scratchDir)), ...Uploads.map(({ Key = '' }) => Key)];
};
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const inPieces = (bytes: Buffer, size = 60_000) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })(),
    { objectMode: false },
  );
/** Every way of using a storage; each must fail alike. */
const uses: [string, (storage: Storage) => Promise<unknown>][] = [
  ['head', (keeper) => keeper.head('a')],
  ['read', (keeper) => keeper.read('a')],
  ['write', (keeper) => keeper.write('a', Buffer.from('x'))],
  ['write of many parts', (keeper) => keeper.write('a', inPieces(Buffer.alloc(LARGE_BYTES)))],
  ['publish', (keeper) => keeper.publish('a', async () => undefined)],
  ['withLocalFile', (keeper) => keeper.withLocalFile('a', async () => 1)],
  ['delete', (keeper) => keeper.delete('a')],
  ['list', (keeper) => listKeys(keeper, '')],
];

describeKeeper('S3', { storage: () => storage, leftovers });

describe('S3', () => {
  test('two prefixes of a bucket do not see each other', async () => {
    const other = await open(bucket, server.credentials, '/loop/media-2');
    await storage.write('a', Buffer.from('x'));
    await other.write('b', Buffer.from('x'));
    expect(await listKeys(storage, '')).toEqual(['a']);
    expect(await listKeys(other, '')).toEqual(['b']);
    const whole = await open(bucket, server.credentials, '');
    expect(await listKeys(whole, '')).toEqual(['loop/media-2/b', 'loop/media/a']);
  });

  test('a large object goes up in parts and is read back completely and by ranges across them', async () => {
    const bytes = randomBytes(LARGE_BYTES);
    await storage.write('large', inPieces(bytes));
    const { ETag } = await server.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'loop/media/large' }));
    expect(ETag).toMatch(/-3"$/);
    expect((await storage.head('large'))?.sizeBytes).toBe(LARGE_BYTES);
    expect(sha256(await buffer(await storage.read('large')))).toBe(sha256(bytes));
    const [start, end] = [8 * 2 ** 20 - 1000, 16 * 2 ** 20 + 1000];
    const range = await buffer(await storage.read('large', { start, end }));
    expect(sha256(range)).toBe(sha256(bytes.subarray(start, end)));
    expect(await leftovers()).toEqual([]);
  });

  test('more keys than one answer of the server holds are all listed', async () => {
    const names = Array.from({ length: 1010 }, (_, index) => `many/${String(index).padStart(4, '0')}`);
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => storage.write(name, Buffer.from('x'))));
    }
    expect(await listKeys(storage, 'many/')).toEqual(names);
  });
});

describe('the chunks of a rendition', () => {
  test('that two Jobs make at once are whole for whoever reads them, and for both indexes', async () => {
    const jobs = Promise.all(['ff', 'ee'].map((mark) => makeChunks(storage, buildFlv(70, { mark }))));
    let isOver = false;
    const ended = jobs.finally(() => {
      isOver = true;
    });
    while (!isOver) await followEntries(storage);
    for (const index of await ended) expect((await readAll(storage, index)).length).toBe(index.sizeBytes);
    expect(await followEntries(storage)).toBe(1680);
    expect(await leftovers()).toEqual([]);
  });
});

describe('configuration errors are reported', () => {
  test.each(uses)('%s with wrong credentials', async (_, use) => {
    const { accessKeyId } = server.credentials;
    for (const credentials of [
      { accessKeyId, secretAccessKey: 'hunter2-hunter2' },
      { accessKeyId: 'AKIANOBODY', secretAccessKey: 'hunter2-hunter2' },
    ]) {
      const error = await use(await open(bucket, credentials)).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'StorageError', code: 'unavailable' });
      expect((error as Error).message).toMatch(/rejected the credentials|denies these credentials/);
      const shown = inspect(error, { depth: 20, showHidden: true });
      expect(shown).not.toContain(credentials.accessKeyId);
      expect(shown).not.toContain('hunter2');
      expect(await leftovers()).toEqual([]);
    }
  });

  test.each(uses)('%s with a bucket that is missing', async (_, use) => {
    await expect(use(await open('nowhere'))).rejects.toMatchObject({
      name: 'StorageError',
      code: 'unavailable',
      message: 'Bucket nowhere does not exist in the S3 storage. Create it.',
    });
  });
});

describe('credentials in files', () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const fill = async (credentials: StorageCredentials) => {
    for (const [name, value] of Object.entries(credentials)) await writeFile(join(scratchDir, name), `${value}\n`);
  };
  const fromFiles = (directory = scratchDir) =>
    openStorage(`s3://${bucket}?endpoint=${server.endpoint}`, { credentials: { directory } });

  test('that are renewed are taken up within a minute, without a restart', async () => {
    await fill({ ...server.credentials, secretAccessKey: 'hunter2-hunter2' });
    const keeper = await fromFiles();
    await expect(keeper.write('a', Buffer.from('x'))).rejects.toMatchObject({ message: /rejected the credentials/ });
    await fill(server.credentials);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    await keeper.write('a', Buffer.from('x'));
    expect((await keeper.head('a'))?.sizeBytes).toBe(1);
  });

  test.each(uses)('that are missing are said by %s', async (_, use) => {
    await expect(use(await fromFiles(join(scratchDir, 'nowhere')))).rejects.toMatchObject({
      name: 'StorageError',
      code: 'unavailable',
      message: /cannot be read: its Secret needs the keys accessKeyId and secretAccessKey/,
    });
  });
});

describe('a server that goes away', () => {
  afterEach(() => server.stop().then(() => server.start()));

  test('is a StorageError unavailable, soon', async () => {
    await server.stop();
    for (const use of [uses[0], uses[1], uses[2]]) {
      await expect(use?.[1](storage)).rejects.toMatchObject({ code: 'unavailable', message: /cannot be reached/ });
    }
  });

  test('and comes back in the middle of a read costs no byte', async () => {
    const bytes = randomBytes(LARGE_BYTES);
    await storage.write('large', bytes);
    const chunks: Buffer[] = [];
    let gone: Promise<void> | undefined;
    for await (const chunk of await storage.read('large', { start: 1000 })) {
      chunks.push(chunk as Buffer);
      if (gone) continue;
      await server.stop();
      gone = server.start();
    }
    await gone;
    expect(sha256(Buffer.concat(chunks))).toBe(sha256(bytes.subarray(1000)));
  });

  test('and comes back with another object does not mix the two', async () => {
    await storage.write('large', randomBytes(LARGE_BYTES));
    const body = await storage.read('large');
    await server.stop();
    await server.start();
    await storage.write('large', randomBytes(LARGE_BYTES));
    await expect(buffer(body)).rejects.toMatchObject({ code: 'changed', message: /was replaced/ });
  });

  test('during a write is waited for', async () => {
    const bytes = randomBytes(LARGE_BYTES);
    let back: Promise<void> | undefined;
    const body = Readable.from(
      (async function* () {
        yield bytes.subarray(0, 10 * 2 ** 20);
        await server.stop();
        back = server.start();
        yield bytes.subarray(10 * 2 ** 20);
      })(),
      { objectMode: false },
    );
    await storage.write('large', body);
    await back;
    expect(sha256(await buffer(await storage.read('large')))).toBe(sha256(bytes));
  });
});
