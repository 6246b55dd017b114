import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runPrepare } from '../../../src/core/pods/prepare/main.ts';
import { entryKey, indexKey } from '../../../src/core/pods/rendition/index.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { prepareConfig } from '../../../src/core/protocol/environment.ts';
import { PrepareResult, type PrepareTask } from '../../../src/core/protocol/task.ts';
import { findChunkKeys } from '../../kit/make/chunks.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { quiet, room } from '../../kit/make/prepare.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { serve } from '../../kit/serve.ts';

let s3: S3Server;
const url = (bucket: string) => `s3://${bucket}/loop?endpoint=${s3.endpoint}`;

beforeAll(async () => {
  s3 = await startS3Server();
  await s3.client.send(new CreateBucketCommand({ Bucket: 'media' }));
});
afterAll(() => s3?.close());

type Room = Awaited<ReturnType<typeof room>>;

/** Returns the Job's result, with the exit code of its process. */
async function runJob(place: Room, task: PrepareTask, bucket: string, secretAccessKey: string) {
  const config = prepareConfig({
    LOOPSTREAM_TASK: JSON.stringify(task),
    LOOPSTREAM_RESULT_FILE: place.path('result'),
    LOOPSTREAM_STORAGE_URL: url(bucket),
    LOOPSTREAM_S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    LOOPSTREAM_S3_SECRET_ACCESS_KEY: secretAccessKey,
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
  });
  const code = await runPrepare(config, new Lifecycle(), quiet);
  const result: unknown = JSON.parse(await readFile(place.path('result'), 'utf8'));
  if (!Value.Check(PrepareResult, result)) throw new Error(`not a result: ${JSON.stringify(result)}`);
  return { code, result };
}

test('a source goes to S3, and a rendition of it with its index', async () => {
  await using place = await room();
  const [frames, tone] = ['testsrc=s=320x180:r=30:d=2', 'sine=r=48000:d=2'];
  await makeMedia(place.path('in.mp4'), '-f', 'lavfi', '-i', frames, '-f', 'lavfi', '-i', tone, '-c:a', 'aac');
  const content = await readFile(place.path('in.mp4'));
  await using server = await serve((_, response) => response.end(content));
  const run = (task: PrepareTask) => runJob(place, task, 'media', s3.credentials.secretAccessKey);
  const sourceKey = 'sources/x';
  const imported = await run({ action: 'import', url: `${server.url}/in.mp4`, type: 'video', sourceKey });
  expect(imported).toMatchObject({ code: 0, result: { media: { sizeBytes: content.length } } });
  const renditionKey = 'renditions/y/video-720p30.flv';
  const task: PrepareTask = { action: 'rendition', type: 'video', sourceKey, profile: '720p30', renditionKey };
  expect(await run(task)).toMatchObject({ code: 0, result: { rendition: { state: 'ready', key: renditionKey } } });
  const storage = await openStorage(url('media'), { credentials: s3.credentials });
  for (const key of [
    sourceKey,
    ...(await findChunkKeys(storage, renditionKey, 0)),
    entryKey(renditionKey, 0),
    indexKey(renditionKey),
  ]) {
    expect((await storage.head(key))?.sizeBytes).toBeGreaterThan(0);
  }
});

test.each([
  [
    'credentials that are wrong',
    'media',
    randomBytes(16).toString('hex'),
    /rejected the credentials|denies these credentials/,
  ],
  ['a bucket that is missing', 'nowhere', undefined, /Bucket nowhere does not exist in the S3 storage\. Create it\./],
])('%s are reported in the result, in words that help and hold no secret', async (_, bucket, secret, sentence) => {
  await using place = await room();
  // The storage only receives media, so the file has to be some.
  await makeMedia(place.path('in.mp4'), '-f', 'lavfi', '-i', 'testsrc=s=64x64:r=30:d=0.2');
  const content = await readFile(place.path('in.mp4'));
  await rm(place.path('in.mp4'));
  await using server = await serve((_request, response) => response.end(content));
  const task: PrepareTask = { action: 'import', url: server.url, type: 'video', sourceKey: 'sources/z' };
  const { code, result } = await runJob(place, task, bucket, secret ?? s3.credentials.secretAccessKey);
  expect({ code, result }).toMatchObject({ code: 1, result: { action: 'failed', error: { code: 'prepare_failed' } } });
  const { message } = (result as Extract<PrepareResult, { action: 'failed' }>).error;
  expect(message).toMatch(sentence);
  expect(JSON.stringify(result)).not.toContain(secret ?? s3.credentials.secretAccessKey);
  expect(JSON.stringify(result)).not.toContain(s3.credentials.accessKeyId);
  expect(await readdir(place.dir)).toEqual(['result']);
});
