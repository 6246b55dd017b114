/** Tests the records of uploads on both kinds of storage: who finds a source again, and who does not. */
import { readFile } from 'node:fs/promises';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { listReferredKeys } from '../../../src/core/operator/upload/sweep.ts';
import { sweep } from '../../../src/core/pods/prepare/job/sweep.ts';
import { runPrepare } from '../../../src/core/pods/prepare/main.ts';
import { listRecords, readRecord, writeRecord } from '../../../src/core/pods/records/store.ts';
import { packKeep } from '../../../src/core/pods/storage/keep-list.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { prepareConfig } from '../../../src/core/protocol/environment.ts';
import { hashLink, type RecordsTask, recordKey, type UploadIdentity } from '../../../src/core/protocol/records.ts';
import { PrepareResult, type PrepareTask } from '../../../src/core/protocol/task.ts';
import { posterKey } from '../../../src/core/resources/upload/poster.ts';
import { importContent } from '../../../src/core/resources/upload/spec.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { MEDIA, upload } from '../../kit/make/operator.ts';
import { quiet, room } from '../../kit/make/prepare.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { serve } from '../../kit/serve.ts';

let s3: S3Server;
let film: Buffer;

beforeAll(async () => {
  s3 = await startS3Server();
  await s3.client.send(new CreateBucketCommand({ Bucket: 'media' }));
  await using place = await room();
  await makeMedia(place.path('in.mp4'), '-f', 'lavfi', '-i', 'testsrc=s=64x64:r=30:d=0.5');
  film = await readFile(place.path('in.mp4'));
});
afterAll(() => s3?.close());

type Room = Awaited<ReturnType<typeof room>>;

let prefix = 0;
/** Opens an empty storage of each kind. */
const KINDS: [kind: string, open: (place: Room) => { url: string; env: Record<string, string> }][] = [
  ['a directory', (place) => ({ url: place.storageUrl, env: {} })],
  [
    'S3',
    () => ({
      url: `s3://media/p${prefix++}?endpoint=${s3.endpoint}`,
      env: {
        LOOPSTREAM_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
        LOOPSTREAM_S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      },
    }),
  ],
];

const HOME: UploadIdentity = {
  installation: 'cluster-1',
  namespace: 'tv',
  name: 'upl-film',
  account: 'acc-1',
  uid: 'old',
  track: 'video',
  origin: 'sent',
};
const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const hours = (count: number) => new Date(LONG_AGO.getTime() + count * 3_600_000);

/** The Jobs of one storage. */
async function openJobs(place: Room, [, open]: (typeof KINDS)[number]) {
  const { url, env } = open(place);
  const storage = await openStorage(url, { credentials: s3.credentials });
  const run = async (task: PrepareTask, records: RecordsTask) => {
    const config = prepareConfig({
      ...env,
      LOOPSTREAM_TASK: JSON.stringify(task),
      LOOPSTREAM_RECORDS: JSON.stringify(records),
      LOOPSTREAM_RESULT_FILE: place.path('result'),
      LOOPSTREAM_STORAGE_URL: url,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    });
    await runPrepare(config, new Lifecycle(), quiet);
    const result: unknown = JSON.parse(await readFile(place.path('result'), 'utf8'));
    if (!Value.Check(PrepareResult, result)) throw new Error(`not a result: ${JSON.stringify(result)}`);
    return result;
  };
  const importSent = (upload: UploadIdentity, records: Partial<RecordsTask> = {}) => {
    const sent = { key: `incoming/${upload.uid}`, sizeBytes: film.length };
    const task: PrepareTask = { action: 'import', sent, type: upload.track, sourceKey: `sources/${upload.uid}` };
    return run(task, { installation: upload.installation, upload, ...records });
  };
  const send = async (upload: UploadIdentity) => {
    await storage.write(`incoming/${upload.uid}/0000000000000000-${String(film.length).padStart(16, '0')}`, film);
    return importSent(upload);
  };
  const clear = (keep: string[], now: Date, records?: Partial<RecordsTask>) =>
    sweep(
      { action: 'sweep', keep: packKeep(keep, 0, 1), shard: 0, shards: 1, graceSeconds: 3600 },
      {
        storage,
        signal: new AbortController().signal,
        log: quiet,
        records: { installation: HOME.installation, ...records },
      },
      now,
    );
  return { storage, run, importSent, send, clear };
}

const recordsIn = async (storage: Storage) => {
  const found: string[] = [];
  for await (const { uid, sourceKey } of listRecords(storage)) found.push(`${uid} ${sourceKey}`);
  return found;
};
const NOT_FOUND = { action: 'failed', error: { code: 'prepare_failed' } };

describe.each(KINDS)('in %s', (...kind) => {
  test('a restored upload has its source again, and nothing is sent twice', async () => {
    await using place = await room();
    const { storage, importSent, send } = await openJobs(place, kind);
    const first = await send(HOME);
    expect(await recordsIn(storage)).toEqual(['old sources/old']);
    const restored = { ...HOME, uid: 'new' };
    expect(await importSent(restored)).toMatchObject({
      action: 'import',
      media: 'media' in first && first.media,
      sourceKey: 'sources/old',
    });
    // The record is that of the new Upload, which may be lost and restored again.
    expect(await recordsIn(storage)).toEqual(['new sources/old']);
    expect(await importSent({ ...HOME, uid: 'third' })).toMatchObject({ sourceKey: 'sources/old' });
    const text = JSON.stringify(
      await readRecord(storage, recordKey({ ...HOME, uid: 'third', sourceKey: 'sources/old' })),
    );
    expect(text).toContain('acc-1');
    expect(text).not.toContain(s3.credentials.secretAccessKey);
  });

  test.each<[string, Partial<UploadIdentity>]>([
    ['another account', { account: 'acc-2' }],
    ['no account', { account: undefined as never }],
    ['another namespace', { namespace: 'other' }],
    ['another name', { name: 'upl-other' }],
    ['another track', { track: 'audio' }],
    ['a link', { origin: hashLink('https://example.com/film.mp4') }],
  ])('an upload of %s gets nothing', async (_, change) => {
    await using place = await room();
    const { storage, importSent, send } = await openJobs(place, kind);
    await send(HOME);
    const { account, ...rest } = { ...HOME, uid: 'new', ...change };
    expect(await importSent({ ...rest, ...(account !== undefined && { account }) })).toMatchObject(NOT_FOUND);
    expect(await recordsIn(storage)).toEqual(['old sources/old']);
  });

  test('a record that lies, or that is copied below another name, gives nobody a source', async () => {
    await using place = await room();
    const { storage, importSent, send } = await openJobs(place, kind);
    await send(HOME);
    const key = recordKey({ ...HOME, sourceKey: 'sources/old' });
    const record = await readRecord(storage, key);
    if (!record) throw new Error('there is no record');
    const thief = { ...HOME, name: 'upl-thief', account: 'acc-2', uid: 'thief' };
    // As it is, and with a claim to be another's.
    await storage.write(recordKey({ ...thief, sourceKey: 'sources/old' }), Buffer.from(JSON.stringify(record)));
    expect(await importSent({ ...thief, uid: 'new' })).toMatchObject(NOT_FOUND);
    for (const media of [
      { ...record.media, sha256: '0'.repeat(64) },
      { ...record.media, sizeBytes: film.length - 1 },
    ]) {
      await writeRecord(storage, { ...record, media });
      expect(await importSent({ ...HOME, uid: 'new' })).toMatchObject(NOT_FOUND);
    }
    for (const text of ['', '{', 'null', '[]', '{"media":{}}', 'x'.repeat(100_000)]) {
      await storage.write(key, Buffer.from(text));
      expect(await importSent({ ...HOME, uid: 'new' })).toMatchObject(NOT_FOUND);
    }
    // A later release may say more.
    await storage.write(key, Buffer.from(JSON.stringify({ ...record, colour: 'blue' })));
    expect(await importSent({ ...HOME, uid: 'new' })).toMatchObject({ sourceKey: 'sources/old' });
  });

  test.each([
    ['cut', () => film.subarray(0, film.length - 1)],
    ['changed', () => Buffer.concat([film.subarray(1), Buffer.from('x')])],
    ['gone', () => undefined],
  ])('a source that is %s is not taken up', async (_, change) => {
    await using place = await room();
    const { storage, importSent, send } = await openJobs(place, kind);
    await send(HOME);
    const bytes = change();
    if (bytes) await storage.write('sources/old', bytes);
    else await storage.delete('sources/old');
    expect(await importSent({ ...HOME, uid: 'new' })).toMatchObject(NOT_FOUND);
  });

  test('an upload that is deleted and made again under its name is fetched again', async () => {
    await using place = await room();
    const { storage, run, importSent, send, clear } = await openJobs(place, kind);
    await send(HOME);
    expect(await importSent({ ...HOME, uid: 'new' }, { deletedUids: ['old'] })).toMatchObject(NOT_FOUND);
    await clear([], hours(0), { deleted: [{ uid: 'old', sourceKey: 'sources/old' }] });
    expect(await recordsIn(storage)).toEqual([]);
    expect(await importSent({ ...HOME, uid: 'new' })).toMatchObject(NOT_FOUND);
    await using server = await serve((_, response) => response.end(film));
    const task: PrepareTask = { action: 'import', url: server.url, type: 'video', sourceKey: 'sources/link' };
    const upload = { ...HOME, uid: 'link', origin: hashLink(server.url) };
    expect(await run(task, { installation: HOME.installation, upload })).toMatchObject({ action: 'import' });
    expect(await recordsIn(storage)).toEqual(['link sources/link']);
  });

  test('a source goes where its deletion was seen; where its upload is merely not there, it stays for a month', async () => {
    await using place = await room();
    const { storage, send, clear } = await openJobs(place, kind);
    await send(HOME);
    await send({ ...HOME, name: 'upl-lost', uid: 'lost' });
    const deleted = [{ uid: 'old', sourceKey: 'sources/old' }];
    await clear([], hours(0), { deleted });
    const now = Date.now() / 3_600_000 - LONG_AGO.getTime() / 3_600_000;
    // The marks are of now, since no file that is newer than its mark is deleted.
    await clear(['sources/old', 'sources/lost'], hours(now));
    expect(await clear([], hours(now + 1))).toMatchObject({ deleted: 0, marked: 2 });
    expect(await clear([], hours(now + 3))).toMatchObject({ deleted: 1, suspicious: 1 });
    expect(await storage.head('sources/old')).toBeUndefined();
    expect(await recordsIn(storage)).toEqual(['lost sources/lost']);
    expect(await clear([], hours(now + 24 * 29))).toMatchObject({ deleted: 0, suspicious: 1 });
    expect(await clear([], hours(now + 24 * 32))).toMatchObject({ deleted: 1 });
    expect(await recordsIn(storage)).toEqual([]);
  });

  test('the poster of a deleted upload goes after the grace time, and that of one that is there stays', async () => {
    await using place = await room();
    const { storage, clear } = await openJobs(place, kind);
    const [gone, kept] = ['gone', 'kept'].map((name) => posterKey(importContent(`uid-of-${name}`), 'video')) as [
      string,
      string,
    ];
    for (const key of [gone, kept]) await storage.write(key, Buffer.from([0xff, 0xd8, 0xff]));
    // The list of the operator after the deletion: of an upload alone, or of all that an account had.
    const uploads = [upload('kept', { media: MEDIA, poster: kept })];
    const keep = [...listReferredKeys({ uploads, jobs: [], pods: [], streams: [], begun: [] })];
    const now = (Date.now() - LONG_AGO.getTime()) / 3_600_000;
    expect(await clear(keep, hours(now))).toMatchObject({ deleted: 0, marked: 1 });
    expect(await clear(keep, hours(now + 3))).toMatchObject({ deleted: 1 });
    expect(await storage.head(gone)).toBeUndefined();
    expect(await storage.head(kept)).toBeDefined();
  });

  test('a source that two uploads share stays until both were deleted', async () => {
    await using place = await room();
    const { storage, send, clear } = await openJobs(place, kind);
    await send(HOME);
    const record = await readRecord(storage, recordKey({ ...HOME, sourceKey: 'sources/old' }));
    if (!record) throw new Error('there is no record');
    const second = { ...record, name: 'upl-second', uid: 'second' };
    await clear([], hours(0), { deleted: [{ uid: 'old', sourceKey: 'sources/old' }], records: [second] });
    expect(await recordsIn(storage)).toEqual(['second sources/old']);
    const now = (Date.now() - LONG_AGO.getTime()) / 3_600_000;
    await clear(['sources/old'], hours(now));
    await clear([], hours(now + 1));
    expect(await clear([], hours(now + 9))).toMatchObject({ deleted: 0, suspicious: 1 });
    await clear([], hours(now + 10), { deleted: [{ uid: 'second', sourceKey: 'sources/old' }] });
    expect(await storage.head('sources/old')).toBeUndefined();
  });

  test('a second installation with the same prefix is refused, and neither deletes what the other names', async () => {
    await using place = await room();
    const { storage, run, send, importSent, clear } = await openJobs(place, kind);
    await send(HOME);
    const other = { ...HOME, installation: 'cluster-2', uid: 'other' };
    const refused = { action: 'failed', error: { code: 'storage_taken', message: expect.stringContaining('prefix') } };
    expect(await importSent(other)).toMatchObject(refused);
    const task: PrepareTask = { action: 'sweep', keep: packKeep([], 0, 1), shard: 0, shards: 1, graceSeconds: 0 };
    expect(await run(task, { installation: 'cluster-2' })).toMatchObject(refused);
    // One that wrote here before: its sources stay for ever.
    await storage.write('sources/other', film);
    const { media } = (await readRecord(storage, recordKey({ ...HOME, sourceKey: 'sources/old' }))) ?? {};
    if (media) await writeRecord(storage, { ...other, sourceKey: 'sources/other', media });
    const now = (Date.now() - LONG_AGO.getTime()) / 3_600_000;
    await clear(['sources/old'], hours(now + 1));
    expect(await clear(['sources/old'], hours(now + 24 * 99))).toMatchObject({ deleted: 0, suspicious: 1 });
    expect(await storage.head('sources/other')).toBeDefined();
  });
});
