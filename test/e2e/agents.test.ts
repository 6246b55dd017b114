/** Tests the way from a link to a live channel with tools alone, on real parts, and checks an independent receiver's recording. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, connectAgent, withKey } from '../kit/make/agents.ts';
import { makeClip } from '../kit/make/media.ts';
import { expectNoSeam } from '../kit/make/onair.ts';
import { readPackets } from '../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { readLogs } from '../kit/system/traces.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const KEY = 'live_s3cr3t-k3y';

const dir = tempDir();
let files: WebServer;
let receiver: RtmpServer;
let system: SharedSystem;
let agent: Agent;

beforeAll(async () => {
  await makeClip(join(dir, 'film.mp4'), { seconds: 3 });
  files = await serveDir(dir);
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  system = await shareSystem();
  agent = await connectAgent(system.facts.mcpUrl ?? '', withKey(system.facts.apiKey));
});

afterAll(async () => {
  await agent?.close();
  await receiver?.close();
  await files?.close();
});

test('an agent takes a link to a live stream, sees that it is well, and takes it off air', async () => {
  const { done } = agent;
  const url = `${files.url}/film.mp4`;
  let upload = await done('create_upload_from_link', { type: 'VIDEO', url, wait: 60 });
  while (!['ready', 'failed'].includes(upload.state))
    upload = await done('get_upload', { id: upload.objectID, wait: 60 });
  expect(upload).toMatchObject({ state: 'ready', video: { codec: 'h264' } });

  const destination = await done('create_destination', { name: 'Channel', rtmpUrl: receiver.url, rtmpKey: KEY });
  expect(await done('test_destination', { id: destination.id }, { timeout: 120_000 })).toMatchObject({ ok: true });

  const wish = { name: 'Night', quality: '720p', framerate: 30, destinationID: destination.id };
  const { id } = await done('create_stream', { ...wish, videoUploadObjectID: upload.objectID });
  const first = await agent.call('start_stream', { id });
  if (first.isError) expect(first.output.code).toBe('stream_not_ready');
  await until('it is ready', async () => (await done('get_stream_readiness', { id })).ready, 120_000);

  const heard: string[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => void heard.push(message ?? '');
  const options = { onprogress, timeout: 90_000 };
  let started = await done('start_stream', { id, wait: 60 }, options);
  while (!started.done) started = await done('start_stream', { id, wait: 60 }, options);
  expect(started.stream.status).toBe('live');
  expect(heard.length).toBeGreaterThan(0);

  await until('it has looped', async () => (await done('get_stream_live_stats', { id })).loopCount >= 2, 120_000);
  const diagnosis = await done('diagnose_stream', { id });
  expect(diagnosis).toMatchObject({ findings: [], stream: { status: 'live' }, liveStats: { live: true } });
  expect(diagnosis.summary).toContain('on air, and nothing is wrong');
  expect(diagnosis.events.map(({ reason }: { reason: string }) => reason)).toContain('Live');

  let stopped = await done('stop_stream', { id, wait: 60 }, options);
  while (!stopped.done) stopped = await done('stop_stream', { id, wait: 60 }, options);
  // The stream is the last publish of the key; the one before was the test.
  const recordings = await receiver.recordings(KEY);
  expect(recordings.length).toBeGreaterThanOrEqual(2);
  const packets = await readPackets(recordings.at(-1) ?? '');
  for (const type of ['video', 'audio'])
    expect(packets.filter((packet) => packet.codec_type === type).length).toBeGreaterThan(120);
  expectNoSeam(packets);

  await done('delete_stream', { id }, options);
  await done('delete_destination', { id: destination.id });
  await done('delete_upload', { id: upload.objectID });
  expect((await done('list_streams')).data).toEqual([]);
  // The key is in no log of any part.
  for (const [place, text] of await readLogs(system)) expect(text, place).not.toContain(KEY);
});
