/** Tests that a quiet video is on air as it is, and with the wanted loudness from its next turn, on real parts, with an independent receiver. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeMedia } from '../kit/make/made-media.ts';
import { decodeErrors, readTrackPackets } from '../kit/make/media.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const KEY = 'loudness';
const SECONDS = 8;
const TARGET_LUFS = -14;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  const picture = `testsrc2=size=320x180:rate=30:duration=${SECONDS}`;
  const hum = `sine=frequency=440:sample_rate=48000:duration=${SECONDS},volume=-3dB`;
  const how = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest'];
  await makeMedia(join(dir, 'quiet.mp4'), '-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', hum, ...how);
  files = await serveDir(dir);
  system = await shareSystem();
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

/** Integrated loudness of a part of a recording, in LUFS (EBU R 128). */
async function measureLufs(recording: string, ...part: string[]): Promise<number> {
  const meter = ['-vn', '-af', 'ebur128=framelog=verbose', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', ['-hide_banner', ...part, '-i', recording, ...meter]);
  return Number(/Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(stderr)?.[1]);
}

test('a stream with a loudness starts with the sound of the file, and has the loudness later in the same publish', async () => {
  const { destinations, streams, uploads } = system.client;
  const url = `${files.url}/quiet.mp4`;
  const { objectID } = await uploads.fromLink({ type: 'VIDEO', url });
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, videoUploadObjectID: objectID };
  const { id, loudness } = await streams.create({ name: 'Even', ...wish, loudness: { maxBoostDb: 20 } });
  expect(loudness).toEqual({ targetLufs: TARGET_LUFS, maxTruePeakDb: -1, maxBoostDb: 20 });
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');

  const [sound] = await until(
    'its sound is ready',
    async () => {
      const { sounds } = await uploads.get(objectID);
      return sounds[0]?.state === 'ready' && sounds;
    },
    180_000,
  );
  expect(sound).toMatchObject({ targetLufs: TARGET_LUFS, limitedBy: null });
  const { loudness: measured } = await uploads.get(objectID);
  expect(measured?.integratedLufs).toBeLessThan(-20);
  const readFrames = async () => (await streams.liveStats(id)).framesSent ?? 0;
  const before = await readFrames();
  // The new sound is taken up at the item's next turn, and the program may be a turn late.
  await until('four turns more', async () => (await readFrames()) >= before + 30 * SECONDS * 4, 60_000);
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0, brokenItems: [] });

  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));
  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  expect(await measureLufs(recording, '-t', '4')).toBeLessThan(-20);
  expect(Math.abs((await measureLufs(recording, '-sseof', '-8')) - TARGET_LUFS)).toBeLessThanOrEqual(1);
  expect((await readTrackPackets(recording, 'a')).notIncreasing).toBe(0);
  expect(await decodeErrors(recording)).toBe('');
});
