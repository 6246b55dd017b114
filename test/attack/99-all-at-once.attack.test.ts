/** Attacks with everything at once: two accounts without credit attack in every way, and a third goes on air as usual. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../kit/make/media.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { makeStrangers } from '../kit/system/strangers.ts';
import { findServer } from '../kit/system/traces.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';
import { type Onslaught, startOnslaught } from './onslaught.ts';

/** The chart's limit of the API server's memory. */
const API_MEMORY_BYTES = 512 * 2 ** 20;

const dir = tempDir();
let files: Server;
let onslaught: Onslaught;
let victim: SharedSystem;

beforeAll(async () => {
  await makeClip(join(dir, 'clip.mp4'), { seconds: 4, size: '320x180' });
  files = createServer((_request, response) => void createReadStream(join(dir, 'clip.mp4')).pipe(response));
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  victim = await shareSystem();
  const { mallory, accomplice } = await makeStrangers();
  onslaught = await startOnslaught([mallory, accomplice]);
});
afterAll(async () => {
  await onslaught?.stop();
  files?.closeAllConnections();
  files?.close();
});

test('a third account imports, tests its destination and is on air', async () => {
  const { client, facts } = victim;
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/clip.mp4`;
  const { objectID } = await client.uploads.fromLink({ type: 'VIDEO', url });
  const destination = await client.destinations.create({
    name: 'mine',
    rtmpUrl: facts.rtmpUrl,
    rtmpKey: 'all-at-once',
  });
  expect(await client.destinations.test(destination.id)).toMatchObject({ ok: true });
  const { id } = await client.streams.create({
    name: 'mine',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination.id,
    videoUploadObjectID: objectID,
  });
  await until('nothing keeps it off air', async () => (await client.streams.readiness(id)).ready, 240_000);
  await client.streams.start(id, { wait: 60 });
  await until('it is live', async () => (await client.streams.get(id)).status === 'live', 60_000);
  await client.streams.delete(id);
});

test('the attackers’ errors name their own mistakes, and no failure of the service', async () => {
  await onslaught.sent;
  const faults = [...onslaught.answers.keys()].filter((answer) => / 5\d\d/.test(answer) && !/server_busy/.test(answer));
  expect(faults, JSON.stringify([...onslaught.answers])).toEqual([]);
});

test('the API server keeps within the memory that the chart gives it', async () => {
  const pid = findServer(victim, 'api');
  const [, residentPages = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
  expect(Number(residentPages) * 4096).toBeLessThan(API_MEMORY_BYTES);
});
