/** Tests that a stream is on air while its file still arrives, from a link or a client, on real parts, with an independent receiver. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTrackPackets } from '../kit/make/media.ts';
import { encodeFitting, FITTING_PICTURE, loopBesideHeavySound, media } from '../kit/make/prepare.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serve, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const SECONDS = 120;
/** The part of the file that the server sends at once: more than a stream waits for. */
const SENT = 0.8;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;
let film: Buffer;
/** Ends the wait of the server, which then sends the rest, or breaks the connection off. */
let goOn: PromiseWithResolvers<'send' | 'break'>;

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  const clip = join(dir, 'clip.mp4');
  await media(clip, { video: FITTING_PICTURE, output: encodeFitting(60) });
  // 46 MB.
  film = await loopBesideHeavySound(clip, join(dir, 'film.mov'), SECONDS);
  files = await serve(async (_, response) => {
    let at = Math.floor(film.length * SENT);
    response.writeHead(200, { 'content-length': film.length });
    response.write(film.subarray(0, at));
    // A server that sends nothing at all would be given up.
    const trickle = setInterval(() => response.write(film.subarray(at, ++at)), 1000);
    const way = await goOn.promise;
    clearInterval(trickle);
    if (way === 'send') response.end(film.subarray(at));
    else response.destroy();
  });
  system = await shareSystem();
}, 120_000);

afterAll(async () => {
  goOn?.resolve('break');
  await receiver?.close();
  await files?.close();
});

async function importFilm(): Promise<string> {
  goOn = Promise.withResolvers();
  const url = `${files.url}/film.mov`;
  return (await system.client.uploads.fromLink({ type: 'VIDEO', url })).objectID;
}

/** Starts a stream that waits for an upload, and resolves when it is on air. */
async function goLive(name: string, objectID: string) {
  const { destinations, streams } = system.client;
  const { id: destinationID } = await destinations.create({ name, rtmpUrl: receiver.url, rtmpKey: name });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, videoUploadObjectID: objectID };
  const { id } = await streams.create({ name, ...wish });
  await streams.start(id, { whenReady: true });
  await until('it is on air', async () => (await streams.get(id)).status === 'live', 120_000);
  return id;
}

test('a stream plays a film whose last part has not arrived, and goes on when all of it has', async () => {
  const { streams, uploads } = system.client;
  const objectID = await importFilm();
  const id = await goLive('arriving', objectID);
  expect(await uploads.get(objectID)).toMatchObject({ state: 'importing', durationSeconds: null });
  await until('the receiver has pictures', async () => {
    const [path] = await receiver.recordings('arriving');
    const packets = path === undefined ? undefined : await readTrackPackets(path, 'v').catch(() => undefined);
    return packets !== undefined && packets.dts.length > 30;
  });
  goOn.resolve('send');
  await until('the upload is ready', async () => (await uploads.get(objectID)).state === 'ready', 120_000);
  expect((await uploads.get(objectID)).durationSeconds).toBeCloseTo(SECONDS, 0);
  const after = await streams.liveStats(id);
  expect({ live: after.live, seams: after.seam?.count }).toEqual({ live: true, seams: 0 });
  expect((await streams.get(id)).degraded).toBeNull();
}, 300_000);

test('a stream says why it cannot go on when the rest does not arrive', async () => {
  const { streams, uploads } = system.client;
  const objectID = await importFilm();
  const id = await goLive('broken', objectID);
  goOn.resolve('break');
  const failed = await until(
    'the link is given up or waited for',
    async () => {
      const upload = await uploads.get(objectID);
      return upload.error || upload.waiting ? upload : undefined;
    },
    120_000,
  );
  expect(failed.error?.message ?? failed.waiting?.message).toMatch(/connection broke|could not be fetched/);
  await until(
    'the stream says so',
    async () => {
      const { issues } = await streams.readiness(id);
      return issues.some(({ message }) => /connection broke|could not be fetched/.test(message));
    },
    60_000,
  );
}, 300_000);

/** Sends a part of a resumable upload; returns its URL. */
async function sendPart(method: 'POST' | 'PATCH', url: string, headers: Record<string, string>, body: Buffer) {
  const response = await fetch(url, {
    method,
    body: new Uint8Array(body),
    headers: {
      'x-api-key': system.facts.apiKey,
      'tus-resumable': '1.0.0',
      'content-type': 'application/offset+octet-stream',
      ...headers,
    },
  });
  expect(response.ok).toBe(true);
  return new URL(response.headers.get('location') ?? url, url).href;
}

test('a stream plays a film that its client still sends, and goes on when all of it is there', async () => {
  const { streams, uploads } = system.client;
  const at = Math.floor(film.length * SENT);
  const type = `type ${Buffer.from('VIDEO').toString('base64')}`;
  const declared = { 'upload-length': String(film.length), 'upload-metadata': type };
  const url = await sendPart('POST', `${system.facts.apiUrl}/uploads/resumable`, declared, film.subarray(0, at));
  const objectID = url.split('/').at(-1) ?? '';
  const id = await goLive('sending', objectID);
  expect(await uploads.get(objectID)).toMatchObject({ state: 'importing', durationSeconds: null });
  await sendPart('PATCH', url, { 'upload-offset': String(at) }, film.subarray(at));
  await until('the upload is ready', async () => (await uploads.get(objectID)).state === 'ready', 120_000);
  expect((await uploads.get(objectID)).durationSeconds).toBeCloseTo(SECONDS, 0);
  expect(await streams.liveStats(id)).toMatchObject({ live: true });
}, 300_000);
