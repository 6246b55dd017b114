/** Tests that a list goes on air with its playable items, and that the others join, on real parts, with an independent receiver. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip, readTrackPackets } from '../kit/make/media.ts';
import { readColours, readTones } from '../kit/make/probe.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { sendFile, serve, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

/** Each clip has a tone and a colour of its own. */
const CLIPS = {
  good: { seconds: 3, hertz: 440, colour: 'red' },
  late: { seconds: 4, hertz: 880, colour: 'blue' },
} as const;
const KEY = 'left-out';
/** The time between two pictures at 30 a second, with the rounding of a timestamp to milliseconds. */
const LARGEST_STEP_S = 0.035;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;
/** The server of the late clip reports that it is busy until then. */
let isOpen = false;

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  for (const [name, clip] of Object.entries(CLIPS))
    await makeClip(join(dir, `${name}.mp4`), { ...clip, size: '320x180', fps: 25 });
  await writeFile(join(dir, 'broken.mp4'), 'This is no video.'.repeat(1000));
  files = await serve((request, response) => {
    const name = request.url?.slice(1) ?? '';
    if (name === 'late.mp4' && !isOpen) response.writeHead(503, { 'retry-after': '2' }).end();
    else sendFile(join(dir, name), response);
  });
  system = await shareSystem();
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

test('a list of good, broken and importing items is on air with the good one; the importing one joins without a gap', async () => {
  const { destinations, playlists, streams, uploads } = system.client;
  const base = files.url;
  const importClip = async (name: string) =>
    (await uploads.fromLink({ type: 'VIDEO', url: `${base}/${name}.mp4` })).objectID;
  const [broken, good, late] = [await importClip('broken'), await importClip('good'), await importClip('late')];
  await until('one is broken', async () => (await uploads.get(broken)).state === 'failed', 120_000);
  const items = [broken, good, late].map((uploadObjectID) => ({ uploadObjectID }));
  const list = await playlists.create({ name: 'Mixed', kind: 'video', mode: 'sequential', items });
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const playlistIDs = [list.id];
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, playlistIDs };
  const blocked = await streams.create({ name: 'Blocked', onItemFailure: 'Block', ...wish });
  expect(await streams.readiness(blocked.id)).toMatchObject({ ready: false, issues: [{ field: 'playlistIDs' }] });
  await streams.delete(blocked.id);

  const { id, onItemFailure } = await streams.create({ name: 'Channel', ...wish });
  expect(onItemFailure).toBe('Skip');
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  const { warnings } = await streams.readiness(id);
  expect(warnings).toMatchObject([
    { code: 'media_failed', field: 'playlistIDs', item: { playlistID: list.id, index: 0, objectID: broken } },
    { code: 'media_importing', field: 'playlistIDs', item: { playlistID: list.id, index: 2, objectID: late } },
  ]);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  const stats = await until('the good one plays', async () => {
    const now = await streams.liveStats(id);
    return now.current?.id === good && now;
  });
  expect(stats.current).toMatchObject({ id: good, playlistID: list.id, index: 1 });
  expect(stats.brokenItems).toMatchObject([
    { id: broken, index: 0, code: 'media_failed' },
    { id: late, index: 2, code: 'media_importing' },
  ]);
  await until('it says what it goes without', async () => (await streams.get(id)).degraded?.code === 'items_left_out');

  isOpen = true;
  await until('the late one plays', async () => (await streams.liveStats(id)).current?.id === late, 180_000);
  // The counters are ahead of the output: the good clip is back when this much more was made.
  const readFramesSent = async () => (await streams.liveStats(id)).framesSent ?? 0;
  const before = await readFramesSent();
  const enough = before + 30 * (CLIPS.late.seconds + CLIPS.good.seconds);
  await until('and the good one again', async () => (await readFramesSent()) >= enough, 60_000);
  expect((await streams.readiness(id)).warnings).toMatchObject([{ item: { objectID: broken } }]);
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0 });

  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));
  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  expect((await readColours(recording)).slice(0, 3)).toEqual(['red', 'blue', 'red']);
  expect((await readTones(recording, [440, 880])).slice(0, 3)).toEqual([440, 880, 440]);
  const { maxStep, notIncreasing } = await readTrackPackets(recording, 'v');
  expect(notIncreasing).toBe(0);
  expect(maxStep).toBeLessThanOrEqual(LARGEST_STEP_S);
});
