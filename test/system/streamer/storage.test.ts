import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { indexKey } from '../../../src/core/pods/rendition/index.ts';
import type { CacheStats } from '../../../src/core/pods/storage/cache.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { cutRendition, publishChunk, publishIndex } from '../../kit/make/chunks.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const BUCKET = 'media';

let studio: Studio;
let s3: S3Server;
const credentialsDir = tempDir();
let caches = 0;

beforeAll(async () => {
  [studio, s3] = await Promise.all([openStudio(), startS3Server()]);
  for (const [name, value] of Object.entries(s3.credentials)) await writeFile(join(credentialsDir, name), `${value}\n`);
  await s3.client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  for (const item of studio.items) await upload(item);
});
afterEach(async () => {
  await studio?.cleanUp();
  await s3?.stop();
  await s3?.start();
});
afterAll(async () => {
  await studio?.close();
  await s3?.close();
});

async function upload({ rendition }: ProgramItem): Promise<void> {
  for (const key of [rendition, indexKey(rendition)]) {
    const Body = await readFile(join(studio.root, 'storage', key));
    await s3.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body }));
  }
}

/** Runs a streamer whose media is in S3, and that checks for changes all the time. */
async function onAir(items: ProgramItem[], key: string, cacheDir = join(studio.root, `cache-${++caches}`)) {
  const env = {
    LOOPSTREAM_STORAGE_URL: `s3://${BUCKET}?endpoint=${s3.endpoint}`,
    LOOPSTREAM_STORAGE_CREDENTIALS_DIR: credentialsDir,
    LOOPSTREAM_CACHE_DIR: cacheDir,
  };
  const cache = { freshMs: 500, patienceMs: 500 };
  return studio.onAir(buildProgram(items), { main: [studio.rtmp.url, key] }, { env, cache });
}
const readCache = async (stream: Running) => (await stream.stats()).cache as CacheStats;
const metric = async (stream: Running, name: string) => {
  const text = await (await fetch(`${stream.base}/metrics`)).text();
  const line = text.split('\n').find((l) => l.startsWith(`loopstream_streamer_${name} `));
  return Number(line?.split(' ')[1]);
};
const seams = async (stream: Running) => (await stream.stats()).seam.count;

test('S3 gone does not touch a stream whose items are cached, and the metrics say so', async () => {
  const stream = await onAir(studio.items, 'outage');
  await live(stream);
  // After a round of 5.5 s everything has been read once.
  await until('a round', async () => (await seams(stream)) >= 3, 30_000);
  const before = await readCache(stream);
  expect(before).toMatchObject({ errors: {}, writable: true });
  expect(await metric(stream, 'storage_available')).toBe(1);
  await s3.stop();
  const [from, since] = [await stream.stats(), performance.now()];
  await until('a minute', () => performance.now() - since > 60_000, 90_000);
  // The wall clock measures it: the timestamps of the media would not show a pause.
  const seconds = (performance.now() - since) / 1000;
  expect(((await stream.stats()).framesSent - from.framesSent) / 30).toBeGreaterThan(seconds - 2);
  const away = await readCache(stream);
  expect(away.misses).toBe(before.misses);
  expect(away.fetchedBytes).toBe(before.fetchedBytes);
  expect(await metric(stream, 'cache_hits_total')).toBeGreaterThanOrEqual(before.hits + 30);
  expect(await metric(stream, 'storage_errors_total{code="unavailable"}')).toBeGreaterThan(0);
  expect(await metric(stream, 'storage_available')).toBe(0);
  expect(away.failure).toMatch(/cannot be reached/);
  expect(await stream.stats()).toMatchObject({ skippedItems: 0, live: true, reconnects: 0, playable: true });
  await s3.start();
  await until('it answers again', async () => (await metric(stream, 'storage_available')) === 1);
  await stream.stop();
  expect(stream.log()).not.toContain(s3.credentials.secretAccessKey);
  const recordings = await studio.rtmp.recordings('outage');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  expectNoSeam(packets);
  for (const [type, perMinute] of Object.entries({ video: 60 * 30, audio: 60 * 46 }))
    expect(packets.filter((packet) => packet.codec_type === type).length).toBeGreaterThan(perMinute);
}, 120_000);

interface Film {
  items: ProgramItem[];
  sizeBytes: number;
}

/** Uploads a film of ten chunks of twelve seconds twice; only the complete one has an index. */
async function uploadFilm(): Promise<Film> {
  const seconds = 120;
  const whole = await makeRendition(join(studio.root, 'whole'), 'film', { frames: seconds * 30, bitrateKbps: 1000 });
  const data = await readFile(join(studio.root, 'whole', whole.rendition));
  const cut = cutRendition(data, { fps: 30, frames: 12 * 30 });
  const bucket = await openStorage(`s3://${BUCKET}?endpoint=${s3.endpoint}`, { credentials: s3.credentials });
  const items = ['complete', 'growing'].map((id) => ({ id, name: id, rendition: `renditions/${id}.flv` }));
  for (const { id, rendition } of items) {
    for (const at of cut.entries.keys()) await publishChunk(bucket, rendition, cut, at);
    if (id === 'complete') await publishIndex(bucket, rendition, cut);
  }
  return { items, sizeBytes: data.length };
}

let film: Promise<Film> | undefined;
const makeFilm = () => (film ??= uploadFilm());

test('S3 gone for a minute near the end of a chunk touches no stream, whether its rendition is complete or growing', async () => {
  const streams = [];
  for (const item of (await makeFilm()).items) {
    const stream = await onAir([item], `outage-${item.id}`);
    await live(stream);
    streams.push(stream);
  }
  const since = performance.now();
  await until('the end of a chunk', () => performance.now() - since > 10_000);
  const before = await Promise.all(streams.map(readCache));
  await s3.stop();
  const from = await Promise.all(streams.map((stream) => stream.stats()));
  const gone = performance.now();
  await until('a minute', () => performance.now() - gone > 60_000, 90_000);
  const seconds = (performance.now() - gone) / 1000;
  for (const [at, stream] of streams.entries()) {
    const stats = await stream.stats();
    expect((stats.framesSent - (from[at]?.framesSent ?? 0)) / 30).toBeGreaterThan(seconds - 2);
    expect(stats).toMatchObject({
      skippedItems: 0,
      reconnects: 0,
      seam: { count: 0 },
      preparationBehind: { count: 0 },
    });
    const away = await readCache(stream);
    expect(away.fetchedBytes).toBe(before[at]?.fetchedBytes);
    expect(away.hits).toBeGreaterThan(before[at]?.hits ?? 0);
    await stream.stop();
    const [recording] = await studio.rtmp.recordings(`outage-${at === 0 ? 'complete' : 'growing'}`);
    expectNoSeam(await readPackets(recording as string));
  }
}, 180_000);

test('a stream that starts while S3 is away says so, sends the slate, and plays where its clock stands when S3 is back', async () => {
  await s3.stop();
  // The list has one item: of several, readable ones would play first, and start the clock.
  const stream = await onAir(studio.items.slice(0, 1), 'late');
  await until('not playable', async () => !(await stream.stats()).playable);
  await live(stream);
  const seenAt = Date.now();
  expect(await stream.status('/healthz')).toBe(200);
  const readiness = await fetch(`${stream.base}/readyz`);
  expect(readiness.status).toBe(200);
  expect(await readiness.json()).toMatchObject({
    status: 'ready',
    errors: [{ code: 'storage_unavailable', message: expect.stringMatching(/^The S3 storage cannot be reached/) }],
  });
  expect((await stream.stats()).brokenItems).toContainEqual(
    expect.objectContaining({ id: 'one', code: 'storage_unavailable', message: expect.stringMatching(/storage/) }),
  );
  expect(await metric(stream, 'storage_available')).toBe(0);
  const awayMs = 8000;
  await until('away for longer than a round', () => Date.now() - seenAt > awayMs);
  await s3.start();
  await until('it plays', async () => (await stream.stats()).currentItem !== null);
  // A restart of the list when S3 came back would have set an epoch of that moment or later.
  const { clock } = await stream.stats();
  expect(Date.parse(clock.video?.epoch ?? '')).toBeLessThan(seenAt);
}, 120_000);

test('a streamer that restarts while S3 is away plays its predecessor’s cache', async () => {
  const cacheDir = join(studio.root, 'kept');
  const first = await onAir(studio.items, 'first', cacheDir);
  await until('a round', async () => (await seams(first)) >= 3, 30_000);
  await first.stop();
  await s3.stop();
  const second = await onAir(studio.items, 'second', cacheDir);
  await live(second);
  await until('a round', async () => (await seams(second)) >= 3, 30_000);
  expect(await second.stats()).toMatchObject({ skippedItems: 0, playable: true });
  expect(await readCache(second)).toMatchObject({ fetchedBytes: 0, misses: 0 });
}, 120_000);

test('a streamer that restarts while S3 is away plays on in a rendition that is being prepared', async () => {
  const cacheDir = join(studio.root, 'kept-growing');
  const { items, sizeBytes } = await makeFilm();
  const growing = items.filter(({ id }) => id === 'growing');
  const first = await onAir(growing, 'growing-first', cacheDir);
  await live(first);
  await until('the film is cached', async () => (await readCache(first)).fetchedBytes >= sizeBytes, 30_000);
  await first.stop();
  await s3.stop();
  const second = await onAir(growing, 'growing-second', cacheDir);
  await live(second);
  await until('ten seconds', async () => (await second.stats()).framesSent > 300, 30_000);
  expect(await second.stats()).toMatchObject({ skippedItems: 0, seam: { count: 0 }, playable: true });
  expect((await readCache(second)).fetchedBytes).toBe(0);
}, 120_000);

test('without a readable Secret the error names its requirement, and no more', async () => {
  const empty = join(studio.root, 'no-credentials');
  await mkdir(dirname(empty), { recursive: true });
  const env = {
    LOOPSTREAM_STORAGE_URL: `s3://${BUCKET}?endpoint=${s3.endpoint}`,
    LOOPSTREAM_CACHE_DIR: `${empty}-cache`,
  };
  const settings = { ...env, LOOPSTREAM_STORAGE_CREDENTIALS_DIR: empty };
  const program = buildProgram(studio.items.slice(0, 1));
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'none'] }, { env: settings });
  const failure = await until('a failure', async () => (await readCache(stream)).failure);
  expect(failure).toBe(
    'The credentials of the S3 storage cannot be read: its Secret needs the keys accessKeyId and secretAccessKey.',
  );
});
