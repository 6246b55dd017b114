/** Tests what an independent receiver sees of the overlays of a stream that is on air: on, edited, with a logo, and off, on real parts. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Color, GREY, isNear, RED, readColors, type Spot } from '../kit/make/colors.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { decodeErrors, readTrackPackets } from '../kit/make/media.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const KEY = 'overlays';
const FPS = 30;
const SHOW_SECONDS = 4;
const ADVERT_SECONDS = 2;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;

/** A colour for as long as its item is, with a tone. */
async function makeItem(name: string, color: string, seconds: number) {
  const picture = `color=c=${color}:s=320x180:r=${FPS}:d=${seconds}`;
  const tone = `sine=frequency=440:sample_rate=48000:duration=${seconds}`;
  const how = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest'];
  await makeMedia(join(dir, name), '-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', tone, ...how);
}

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  await makeItem('show.mp4', '0x808080', SHOW_SECONDS);
  await makeItem('advert.mp4', '0x0000ff', ADVERT_SECONDS);
  await makeMedia(join(dir, 'logo.png'), '-f', 'lavfi', '-i', 'color=c=red:s=64x64', '-frames:v', '1');
  files = await serveDir(dir);
  system = await shareSystem();
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

// A text of the colour of its box is a bar, and a longer text makes a longer one.
const BAR = { anchor: 'TopLeft', sizePercent: 20, color: '#FF0000', boxColor: '#FF0000' } as const;
const OPENING = { ...BAR, text: 'Now', anchor: 'BottomLeft', show: { firstSeconds: 1 } } as const;

const SPOTS: readonly Spot[] = [
  [640, 400],
  [80, 100],
  [500, 100],
  [1200, 100],
  [80, 600],
];

/** Tells what a frame shows: its item, and the layers that stay over it. */
function describeFrame([item, bar, longBar, logo]: Color[]): string {
  const layers = [
    ...(isNear(bar, RED) ? [isNear(longBar, RED) ? 'long text' : 'text'] : []),
    ...(isNear(logo, RED) ? ['logo'] : []),
  ];
  return [isNear(item, GREY) ? 'show' : 'advert', ...layers].join(', ');
}

interface Turn {
  shows: string;
  frames: Color[][];
}

/** Splits frames into runs that show the same. */
function listTurns(frames: Color[][]): Turn[] {
  const turns: Turn[] = [];
  for (const frame of frames) {
    const shows = describeFrame(frame);
    const last = turns.at(-1);
    if (last?.shows === shows) last.frames.push(frame);
    else turns.push({ shows, frames: [frame] });
  }
  return turns;
}

/** Waits until the receiver has got a whole turn of the item with these layers, the last of all so far, and what follows it. */
const untilShown = (shows: string) =>
  until(
    `the receiver got a turn of: ${shows}`,
    async () => {
      const [recording] = await receiver.recordings(KEY);
      if (recording === undefined) return false;
      const turns = listTurns(await readColors(recording, SPOTS, ['-skip_frame', 'nokey']));
      return turns.at(-1)?.shows === 'advert' && turns.at(-2)?.shows === shows;
    },
    120_000,
  );

test('overlays come, change and go where an item begins, in one publish, and an item that opts out has none', async () => {
  const { destinations, playlists, streams, uploads } = system.client;
  const url = (name: string) => `${files.url}/${name}`;
  const show = await uploads.fromLink({ type: 'VIDEO', url: url('show.mp4') });
  const advert = await uploads.fromLink({ type: 'VIDEO', url: url('advert.mp4'), overlays: 'NONE' });
  const logo = await uploads.fromLink({ type: 'IMAGE', url: url('logo.png') });
  const items = [show, advert].map(({ objectID }) => ({ uploadObjectID: objectID }));
  const { id: playlist } = await playlists.create({ name: 'Hour', kind: 'video', mode: 'sequential', items });
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const wish = { destinationID, playlistIDs: [playlist] };
  const { id } = await streams.create({ name: 'Branded', quality: '720p', framerate: FPS, ...wish });
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  await untilShown('show');

  const setLayers = (...layers: object[]) => streams.update(id, { overlays: { layers } });
  await setLayers({ ...BAR, text: 'i' }, OPENING);
  await untilShown('show, text');
  await setLayers({ ...BAR, text: 'Loopstream' }, OPENING);
  await untilShown('show, long text');
  const picture = { imageUploadObjectID: logo.objectID, anchor: 'TopRight', sizePercent: 10 };
  await setLayers({ ...BAR, text: 'Loopstream' }, picture, OPENING);
  await untilShown('show, long text, logo');
  await streams.update(id, { overlays: null });
  await untilShown('show');
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0, brokenItems: [] });
  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));

  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  // The first begins where the clock of the list stands, and the last ends with the stream.
  const turns = listTurns(await readColors(recording, SPOTS)).slice(1, -1);
  const lengths = turns.map(({ shows, frames }) => [shows, frames.length]);
  expect(lengths).toEqual(
    turns.map(({ shows }) => [shows, FPS * (shows === 'advert' ? ADVERT_SECONDS : SHOW_SECONDS)]),
  );
  const shown = turns.map(({ shows }) => shows).filter((shows) => shows !== 'advert');
  expect(shown.filter((shows, i) => shows !== shown[i - 1])).toEqual([
    ...['show', 'show, text', 'show, long text', 'show, long text, logo', 'show'],
  ]);
  for (const { shows, frames } of turns) {
    const opening = frames.flatMap((frame, i) => (isNear(frame[4], RED) ? [i] : []));
    expect(opening, shows).toEqual(shows.includes('text') ? Array.from({ length: FPS }, (_, i) => i) : []);
  }
  expect((await readTrackPackets(recording, 'v')).notIncreasing).toBe(0);
  expect((await readTrackPackets(recording, 'a')).notIncreasing).toBe(0);
  expect(await decodeErrors(recording)).toBe('');
});
