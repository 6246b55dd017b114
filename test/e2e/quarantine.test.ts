/** Tests that an upload in quarantine leaves the air of a real stream and comes back, by the API and by kubectl, with an independent receiver. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectl } from '../kit/kubectl.ts';
import { makeClip, readTrackPackets } from '../kit/make/media.ts';
import { readColours } from '../kit/make/probe.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

/** The claimed clip is too long to end by itself. */
const CLIPS = {
  fine: { seconds: 4, hertz: 440, colour: 'red' },
  claimed: { seconds: 120, hertz: 880, colour: 'blue' },
} as const;
const KEY = 'quarantine';
const REASON = 'A claim is being checked.';
/** The time between two pictures at 30 a second, with the rounding of a timestamp to milliseconds. */
const LARGEST_STEP_S = 0.035;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  for (const [name, clip] of Object.entries(CLIPS))
    await makeClip(join(dir, `${name}.mp4`), { ...clip, size: '320x180', fps: 25 });
  files = await serveDir(dir);
  system = await shareSystem();
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

test('an upload is cut off the air by the API and by kubectl, in one publish, and plays again when that ends', async () => {
  const { client } = system;
  const { destinations, playlists, streams, uploads } = client;
  const base = files.url;
  const importClip = async (name: string) =>
    (await uploads.fromLink({ type: 'VIDEO', url: `${base}/${name}.mp4` })).objectID;
  const [fine, claimed] = [await importClip('fine'), await importClip('claimed')];
  const items = [fine, claimed].map((uploadObjectID) => ({ uploadObjectID }));
  const list = await playlists.create({ name: 'Both', kind: 'video', mode: 'sequential', items });
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, playlistIDs: [list.id] };
  const { id } = await streams.create({ name: 'Channel', ...wish });
  for (const one of [fine, claimed])
    await until('it is prepared', async () => (await uploads.get(one)).state === 'ready', 180_000);
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  const plays = (upload: string) =>
    until(`${upload} plays`, async () => (await streams.liveStats(id)).current?.id === upload, 60_000);
  const seen = async (frames: number) => {
    const readFrames = async () => (await streams.liveStats(id)).framesSent ?? 0;
    const before = await readFrames();
    await until('it is seen', async () => (await readFrames()) >= before + frames, 60_000);
  };
  await plays(claimed);
  await seen(60);

  await uploads.quarantine(claimed, { reason: REASON, cut: true });
  await plays(fine);
  await until('it says what it goes without', async () => (await streams.readiness(id)).warnings.length > 0);
  expect(await streams.readiness(id)).toMatchObject({
    ready: true,
    warnings: [{ code: 'upload_quarantined', item: { objectID: claimed }, message: expect.stringContaining(REASON) }],
  });
  const timeline = await streams.timeline(id);
  expect(new Set(timeline.items.map((item) => item.id))).toEqual(new Set([fine]));
  expect((await playlists.get(list.id)).version).toBe(list.version);
  await seen(60);

  await uploads.release(claimed);
  await plays(claimed);
  await seen(60);
  const patch = (quarantine: unknown) =>
    kubectl(system, 'patch', 'upload', claimed, '--type=merge', '-p', JSON.stringify({ spec: { quarantine } }));
  await patch({ reason: REASON, cut: true });
  await plays(fine);
  await kubectl(system, 'wait', '--for=condition=Quarantined', `upload/${claimed}`, '--timeout=30s');
  expect((await uploads.get(claimed)).quarantine).toMatchObject({ reason: REASON, since: expect.any(String) });
  await seen(60);
  await patch(null);
  await plays(claimed);
  await seen(60);
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0 });
  const told = async () => (await client.events.list({ types: 'upload.quarantined,upload.released' }).page()).data;
  await until('each is an event', async () => (await told()).length === 4);

  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));
  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  expect(await readColours(recording)).toEqual(['red', 'blue', 'red', 'blue', 'red', 'blue']);
  const { maxStep, notIncreasing } = await readTrackPackets(recording, 'v');
  expect(notIncreasing).toBe(0);
  expect(maxStep).toBeLessThanOrEqual(LARGEST_STEP_S);
});
