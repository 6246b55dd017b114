/** Tests that a stream is on air while its media is being prepared, on real parts, with an independent receiver. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../kit/make/media.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

/** Half of it is left to be prepared when its beginning is on air, on a machine without other work. */
const SECONDS = 120;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  // Another size and frame rate than the stream's: it must be encoded.
  await makeClip(join(dir, 'film.mp4'), { seconds: SECONDS, hertz: 440, colour: 'red', size: '320x180', fps: 25 });
  files = await serveDir(dir);
  system = await shareSystem();
}, 120_000);

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

test('a stream plays a film while the rest of it is prepared; one that is to wait for all does so', async () => {
  const { destinations, streams, uploads } = system.client;
  const url = `${files.url}/film.mp4`;
  const { objectID } = await uploads.fromLink({ type: 'VIDEO', url });
  const make = async (name: string, start: 'Progressive' | 'Prepared') => {
    const { id: destinationID } = await destinations.create({ name, rtmpUrl: receiver.url, rtmpKey: name });
    const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, videoUploadObjectID: objectID };
    return (await streams.create({ name, start, ...wish })).id;
  };
  const [soon, later] = [await make('soon', 'Progressive'), await make('later', 'Prepared')];
  await streams.start(soon, { whenReady: true });
  await until('it is on air', async () => (await streams.get(soon)).status === 'live', 300_000);

  const readiness = await streams.readiness(soon);
  expect(readiness).toMatchObject({ ready: true, issues: [], estimatedReadyAt: expect.any(String) });
  expect(readiness.prepared).toBeGreaterThan(0);
  expect(readiness.prepared).toBeLessThan(1);
  expect((await uploads.get(objectID)).state).toBe('preparing');
  const waiting = await streams.readiness(later);
  expect(waiting).toMatchObject({ ready: false, issues: [{ code: 'media_preparing' }] });
  expect(waiting.issues[0]?.message).toMatch(/\d+ % of it is prepared\./);
  const stats = await until('the position is known', async () => {
    const now = await streams.liveStats(soon);
    return now.positionSeconds !== null && now;
  });
  expect(stats.positionSeconds).toBeLessThan(SECONDS);
  expect(Math.abs((stats.durationSeconds ?? 0) - SECONDS)).toBeLessThan(1);

  await until('the other may start', async () => (await streams.readiness(later)).ready, 400_000);
  expect((await streams.readiness(soon)).prepared).toBe(1);
  // On a machine that other tests keep busy, the film may be encoded too slowly: what is there is then repeated, without a pause.
  const { live, reconnects, seam } = await streams.liveStats(soon);
  expect({ live, reconnects }).toEqual({ live: true, reconnects: 0 });
  expect(seam?.maxStepMs).toBeLessThanOrEqual(1000 / 30 + 1);
  await expect.poll(async () => (await streams.get(soon)).degraded).toBeNull();
}, 900_000);
