/** Tests the least bitrate that a platform takes for healthy, at receivers that an unchanged streamer sends a still to. */
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isVideoFrame, parseFlv } from '../../../src/core/pods/rendition/flv.ts';
import { findLeastKbps } from '../../../src/core/resources/destination/least-bitrate.ts';
import { connected } from '../../kit/make/destinations.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { startRtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';
import { onAirWithHosts } from './hosts.ts';
import { expectPicturesOf, readWhole } from './pictures.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const WINDOW_MS = 10_000;
const INGEST = 'a.rtmp.youtube.com';

/** The least and the highest bitrate of all windows of so long, in kbit/s, pictures and sound. */
function findRates(data: Buffer, windowMs = WINDOW_MS): { least: number; highest: number } {
  const tags = parseFlv(data);
  const endMs = tags.at(-1)?.timestampMs ?? 0;
  const starts = tags.filter(isVideoFrame).map(({ timestampMs }) => timestampMs);
  const rates = starts
    .filter((from) => from + windowMs <= endMs)
    .map((from) =>
      tags.reduce(
        (sum, { timestampMs, body }) => sum + (timestampMs >= from && timestampMs < from + windowMs ? body.length : 0),
        0,
      ),
    );
  const [least, highest] = [Math.min, Math.max].map((find) => (find(...rates) * 8) / windowMs);
  return { least: least ?? 0, highest: highest ?? 0 };
}

test('YouTube gets at least 1,500 kbit/s in each ten seconds, other servers as little as before, and the pictures are equal', async () => {
  const least = findLeastKbps(INGEST, '720p30');
  expect(least).toBe(1500);
  const hosts = join(studio.root, 'hosts');
  await writeFile(hosts, `127.0.0.1 ${INGEST}\n`);
  const youtube = await startRtmpServer({ record: join(studio.root, 'youtube'), application: 'live2' });
  studio.cleanups.push(youtube.close);
  const stream = await onAirWithHosts(studio, hosts, {
    plain: [studio.rtmp.url, 'plain'],
    youtube: [`rtmp://${INGEST}:${youtube.port}/live2`, 'filled'],
  });
  await Promise.all(['plain', 'youtube'].map((name) => connected(stream, name)));
  const [plain, filled] = await until(
    'twenty seconds have arrived',
    async () => {
      const files = [(await studio.rtmp.recordings('plain'))[0], (await youtube.recordings('filled'))[0]];
      if (!files[0] || !files[1] || (await stat(files[1])).size < (25 * least * 1000) / 8) return false;
      return [files[0], files[1]] as const;
    },
    120_000,
  );
  const stats = await until('a minute is measured', async () => {
    const now = await stream.stats();
    return now.destinations.every(({ bitrateKbps }) => bitrateKbps !== null) && now;
  });
  expect(stats.keyframeIntervalSeconds).toBeGreaterThan(0);
  const [own, platform] = ['plain', 'youtube'].map((name) => stats.destinations.find((one) => one.name === name));
  expect(own).toMatchObject({ leastBitrateKbps: null });
  expect(own?.bitrateKbps).toBeLessThan(least * 0.75);
  expect(platform).toMatchObject({ leastBitrateKbps: least });
  expect(platform?.bitrateKbps).toBeGreaterThanOrEqual(least * 0.95);
  for (const one of stats.destinations) expect(Math.abs((one.pace ?? 0) - 1)).toBeLessThan(0.1);
  await stream.stop();
  const data = await readWhole(filled);
  expect(findRates(data).least).toBeGreaterThanOrEqual(least);
  expect(findRates(await readWhole(plain)).least).toBeLessThan(least * 0.75);
  expect(await decodeErrors(filled)).toBe('');
  expect(await expectPicturesOf(plain, filled)).toBeGreaterThan(20 * 30);
  await rm(hosts);
});

test('a destination’s own least bitrate changes on air without another connection, and 0 ends the filler', async () => {
  const own = 3000;
  const program = buildProgram(studio.items, { destinations: ['raised', 'ended'] });
  const { url } = studio.rtmp;
  const stream = await studio.onAir(program, { raised: [url, 'raised'], ended: [url, 'ended', undefined, own] });
  await Promise.all(['raised', 'ended'].map((name) => connected(stream, name)));
  const listLeast = async () =>
    Object.fromEntries((await stream.stats()).destinations.map((one) => [one.name, one.leastBitrateKbps]));
  expect(await listLeast()).toEqual({ raised: null, ended: own });
  const readSize = async (key: string) => (await stat((await studio.rtmp.recordings(key))[0] ?? '')).size;
  /** Only what is filled grows so fast. */
  const send = async (key: string, seconds: number) => {
    const wanted = (await readSize(key)) + (seconds * own * 1000) / 8;
    await until(`${seconds} s of ${key}`, async () => (await readSize(key)) >= wanted, 60_000);
  };
  await send('ended', 6);
  await stream.destination('raised', url, 'raised', undefined, own);
  await stream.destination('ended', url, 'ended', undefined, 0);
  await until('both are taken up', async () => {
    const { raised, ended } = await listLeast();
    return raised === own && ended === null;
  });
  await send('raised', 8);
  expect((await stream.stats()).destinations.map(({ reconnects }) => reconnects)).toEqual([0, 0]);
  await stream.stop();
  for (const key of ['raised', 'ended']) {
    const [recording = '', ...others] = await studio.rtmp.recordings(key);
    expect(others).toEqual([]);
    const { least, highest } = findRates(await readWhole(recording), 3000);
    expect(least).toBeLessThan(own * 0.75);
    expect(highest).toBeGreaterThanOrEqual(own * 0.95);
    expect(await decodeErrors(recording)).toBe('');
  }
});
