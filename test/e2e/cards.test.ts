/** Tests what an independent receiver sees of the cards of a stream that is on air: on, a new title, another background, and off, on real parts. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Color, GREY, isNear, RED, readColors, type Spot } from '../kit/make/colors.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { decodeErrors, readTrackPackets } from '../kit/make/media.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const KEY = 'cards';
const FPS = 30;
const SONG_SECONDS = 5;
const LOGO: Color = [0, 0, 255];
const GREEN: Color = [0, 255, 0];

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;

const lavfi = (graph: string): string[] => ['-f', 'lavfi', '-i', graph];

/** A tone, with a square of one colour for a cover. */
async function makeSong(name: string, color: string): Promise<void> {
  const [cover, path] = [join(dir, `${name}.png`), join(dir, `${name}.mp3`)];
  await makeMedia(cover, ...lavfi(`color=c=${color}:s=300x300`), '-frames:v', '1');
  const attached = ['-map', '0', '-map', '1', '-c:v', 'copy', '-disposition:v', 'attached_pic'];
  await run('ffmpeg', ['-v', 'error', ...lavfi(`sine=440:r=48000:d=${SONG_SECONDS}`), '-i', cover, ...attached, path]);
}

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  const how = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest'];
  const grey = lavfi(`color=c=0x808080:s=320x180:r=${FPS}:d=4`);
  await makeMedia(join(dir, 'grey.mp4'), ...grey, ...lavfi('sine=440:r=48000:d=4'), ...how);
  await makeMedia(join(dir, 'sky.png'), ...lavfi('color=c=0x0000ff:s=64x36'), '-frames:v', '1');
  await makeSong('red', '0xff0000');
  await makeSong('green', '0x00ff00');
  files = await serveDir(dir);
  system = await shareSystem();
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

/** The middle of the cover, a place that is behind the words alone, and the line of the title where only a long one has letters. */
const SPOTS: readonly Spot[] = [
  [640, 276],
  [40, 40],
  ...Array.from({ length: 16 }, (_, i): Spot => [320 + 6 * i, 590]),
];
const LONG_TITLE = 'M'.repeat(20);

/** Tells what a frame shows: the video, or whose card on what. */
function describeFrame([cover, behind, ...line]: Color[]): string {
  if (isNear(cover, GREY) && isNear(behind, GREY)) return 'video';
  const song = isNear(cover, RED) ? 'red' : isNear(cover, GREEN) ? 'green' : 'nothing known';
  const isLong = line.some((color) => color.every((value) => value > 200));
  return `${song}${isLong ? ' of a long title' : ''}${isNear(behind, LOGO) ? ' on the sky' : ''}`;
}

const readShown = async (recording: string): Promise<string[]> =>
  (await readColors(recording, SPOTS, ['-skip_frame', 'nokey'])).map(describeFrame);

/** Waits until the last keyframes that the receiver got show each of these, and nothing else. */
const untilShown = (...wanted: string[]) =>
  until(
    `the receiver got ${wanted.join(' and ')}`,
    async () => {
      const [recording] = await receiver.recordings(KEY);
      if (recording === undefined) return false;
      const last = (await readShown(recording)).slice(-8);
      return wanted.every((one) => last.includes(one)) && last.every((one) => wanted.includes(one));
    },
    120_000,
  );

test('cards come, change and go while their songs play, in one publish', async () => {
  const { destinations, playlists, streams, uploads } = system.client;
  const url = (name: string) => `${files.url}/${name}`;
  const video = await uploads.fromLink({ type: 'VIDEO', url: url('grey.mp4') });
  const red = await uploads.fromLink({ type: 'AUDIO', url: url('red.mp3') });
  const green = await uploads.fromLink({ type: 'AUDIO', url: url('green.mp3') });
  const sky = await uploads.fromLink({ type: 'IMAGE', url: url('sky.png') });
  const items = [red, green].map(({ objectID }) => ({ uploadObjectID: objectID }));
  const { id: playlist } = await playlists.create({ name: 'Songs', kind: 'audio', mode: 'sequential', items });
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const wish = { destinationID, videoUploadObjectID: video.objectID, audioPlaylistIDs: [playlist] };
  const { id } = await streams.create({ name: 'Radio', quality: '720p', framerate: FPS, ...wish });
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  await untilShown('video');

  const tried = await streams.update(id, { cards: {} }, { dryRun: true });
  expect(tried.storageBytes).toBe(2_000_000);
  await streams.update(id, { cards: {} });
  await untilShown('red', 'green');
  await uploads.update(red.objectID, { title: LONG_TITLE, artist: 'Ann' });
  await untilShown('red of a long title', 'green');
  await streams.update(id, { cards: { imageUploadObjectID: sky.objectID } });
  await untilShown('red of a long title on the sky', 'green on the sky');
  await streams.update(id, { cards: null });
  await untilShown('video');
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0, brokenItems: [] });
  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));

  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  const shown = (await readColors(recording, SPOTS)).map(describeFrame);
  expect(shown).not.toContain('nothing known');
  // Once both songs have cards on the sky, the video is not seen until cards are turned off.
  const sees = (frame: string) => frame !== 'video';
  const between = shown.slice(shown.indexOf('green on the sky'), shown.findLastIndex(sees));
  expect(between.filter((frame) => !sees(frame))).toEqual([]);
  expect((await readTrackPackets(recording, 'v')).notIncreasing).toBe(0);
  expect((await readTrackPackets(recording, 'a')).notIncreasing).toBe(0);
  expect(await decodeErrors(recording)).toBe('');
});
