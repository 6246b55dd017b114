/** Tests the least bitrate that a platform takes for healthy, at receivers that an unchanged streamer sends a still to. */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { isVideoFrame, parseFlv } from '../../../src/core/pods/rendition/flv.ts';
import { findLeastKbps } from '../../../src/core/resources/destination/least-bitrate.ts';
import { connected } from '../../kit/make/destinations.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { startRtmpServer } from '../../kit/real/rtmp.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';
import { onAirWithHosts } from './hosts.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const WINDOW_MS = 10_000;
const INGEST = 'a.rtmp.youtube.com';

/** The least bitrate of all windows of ten seconds, in kbit/s, pictures and sound. */
function findLeast(data: Buffer): number {
  const tags = parseFlv(data);
  const endMs = tags.at(-1)?.timestampMs ?? 0;
  const starts = tags.filter(isVideoFrame).map(({ timestampMs }) => timestampMs);
  const rates = starts
    .filter((from) => from + WINDOW_MS <= endMs)
    .map((from) =>
      tags.reduce(
        (sum, { timestampMs, body }) => sum + (timestampMs >= from && timestampMs < from + WINDOW_MS ? body.length : 0),
        0,
      ),
    );
  return (Math.min(...rates) * 8) / WINDOW_MS;
}

/** Cuts what is still being written behind the last whole tag. */
async function readWhole(path: string): Promise<Buffer> {
  const data = await readFile(path);
  for (let size = data.length; size > data.length - 8_000_000; size -= 1) {
    try {
      parseFlv(data.subarray(0, size));
      return data.subarray(0, size);
    } catch {}
  }
  throw new Error(`${path} has no whole tag`);
}

/** A hash of each picture, with the time at which it is shown. */
async function listPictures(path: string): Promise<string[]> {
  const args = ['-v', 'error', '-copyts', '-i', path, '-map', '0:v', '-f', 'framemd5', '-'];
  const { stdout } = await run('ffmpeg', args);
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
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
  expect(findLeast(data)).toBeGreaterThanOrEqual(least);
  expect(findLeast(await readWhole(plain))).toBeLessThan(least * 0.75);
  expect(await decodeErrors(filled)).toBe('');
  const [wanted, got] = [await listPictures(plain), await listPictures(filled)];
  const hashes = new Set(wanted.map((line) => line.split(',').at(-1)?.trim()));
  expect(got.length).toBeGreaterThan(20 * 30);
  expect(got.filter((line) => !hashes.has(line.split(',').at(-1)?.trim()))).toEqual([]);
  await rm(hosts);
});
