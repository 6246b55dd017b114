/** Tests that rules which kubectl applies are on air, and that an edit, a publish and a rollback of them follow in the same publish. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ACCOUNT_LABEL } from '../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../src/core/resources/stream/resource.ts';
import type { Upload } from '../../src/core/resources/upload/resource.ts';
import { startWebhookSink } from '../kit/fake/webhook-sink.ts';
import { kubectl } from '../kit/kubectl.ts';
import { makeClip, readTrackPackets } from '../kit/make/media.ts';
import { readColours } from '../kit/make/probe.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const CLIPS = {
  film: { seconds: 4, hertz: 440, colour: 'red' },
  jingle: { seconds: 2, hertz: 660, colour: 'green' },
  news: { seconds: 2, hertz: 880, colour: 'blue' },
} as const;
const KEY = 'ruled';
/** The time between two pictures at 30 a second, with the rounding of a timestamp to milliseconds. */
const LARGEST_STEP_S = 0.035;

const dir = tempDir();
let system: SharedSystem;
let receiver: RtmpServer;
let files: WebServer;
/** The objectIDs of the uploads. */
const ids = { film: '', jingle: '', news: '' };

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  for (const [name, clip] of Object.entries(CLIPS))
    await makeClip(join(dir, `${name}.mp4`), { ...clip, size: '320x180', fps: 25 });
  files = await serveDir(dir);
  system = await shareSystem();
  for (const name of Object.keys(ids) as (keyof typeof ids)[])
    ids[name] = (await system.client.uploads.fromLink({ type: 'VIDEO', url: `${files.url}/${name}.mp4` })).objectID;
});

afterAll(async () => {
  await receiver?.close();
  await files?.close();
});

const play = (uploadName: string) => [{ name: 'break', when: { eachItems: 1 }, uploadName }];

/** Applies a playlist with rules as a person does, with a file. */
async function apply(rules: unknown, name = KEY): Promise<void> {
  const upload = JSON.parse(await kubectl(system, 'get', 'upload', ids.film, '-o', 'json')) as Upload;
  const metadata = { name, labels: { [ACCOUNT_LABEL]: upload.metadata.labels?.[ACCOUNT_LABEL] } };
  const spec = { track: 'video', mode: 'sequential', items: [{ uploadName: ids.film }], rules };
  const file = join(dir, 'playlist.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'loopstream.dev/v1beta1', kind: 'Playlist', metadata, spec }));
  await kubectl(system, 'apply', '-f', file);
}

test('rules of a playlist that kubectl applies are on air, and their edit, publish and rollback follow at the next border in one publish', async () => {
  const { destinations, playlists, streams, uploads } = system.client;
  for (const id of Object.values(ids))
    await until('it is imported', async () => (await uploads.get(id)).state === 'ready', 180_000);
  await apply(play(ids.jingle));
  const { id: destinationID } = await destinations.create({ name: KEY, rtmpUrl: receiver.url, rtmpKey: KEY });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, playlistIDs: [KEY] };
  const { id } = await streams.create({ name: 'Ruled', ...wish });
  await until('all of it is prepared', async () => (await streams.readiness(id)).warnings.length === 0, 180_000);
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');
  const plays = async (name: keyof typeof ids) => {
    await until(`${name} plays`, async () => (await streams.liveStats(id)).current?.id === ids[name], 60_000);
    // The receiver has it a little later.
    const readFrames = async () => (await streams.liveStats(id)).framesSent ?? 0;
    const before = await readFrames();
    await until('it is seen', async () => (await readFrames()) >= before + 45, 60_000);
  };
  const readRules = async () => new Set((await streams.timeline(id)).items.map(({ rule }) => rule));
  await plays('jingle');
  expect(await readRules()).toEqual(new Set([null, 'break']));

  // Nothing was ever published, so an edit of the object is what streams play.
  await apply(play(ids.news));
  await plays('news');

  const { version } = await playlists.get(KEY);
  await playlists.publish(KEY, { version });
  const quiet = await playlists.update(KEY, { version, rules: [] });
  await plays('news');
  await playlists.publish(KEY, { version: quiet.version });
  await until('no rule is to come', async () => !(await readRules()).has('break'));

  const { version: last } = await playlists.rollback(KEY, { version });
  await playlists.publish(KEY, { version: last });
  await plays('news');
  expect(await streams.liveStats(id)).toMatchObject({ reconnects: 0 });

  expect((await streams.stop(id, { wait: 60 })).status).toBe('stopped');
  await until('the receiver saw it leave', async () => (await receiver.log()).includes(KEY));
  const [recording = '', ...others] = await receiver.recordings(KEY);
  expect(others).toEqual([]);
  expect((await readColours(recording)).map(([initial]) => initial).join('')).toMatch(/^r(gr)+(br)+b?$/);
  const { maxStep, notIncreasing } = await readTrackPackets(recording, 'v');
  expect(notIncreasing).toBe(0);
  expect(maxStep).toBeLessThanOrEqual(LARGEST_STEP_S);
});

test('a rule that cannot play in time is told by a signed event with its cause, and by the status and an Event for kubectl', async () => {
  const { destinations, endpoints, streams, uploads } = system.client;
  const name = 'hurried';
  for (const id of [ids.film, ids.news])
    await until('it is imported', async () => (await uploads.get(id)).state === 'ready', 180_000);
  // Items of four seconds leave no border at ten.
  await apply([{ name: 'news', when: { everySeconds: 10 }, lateSeconds: 0, uploadName: ids.news }], name);
  const { id: destinationID } = await destinations.create({ name, rtmpUrl: receiver.url, rtmpKey: name });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID, playlistIDs: [name] };
  const { id } = await streams.create({ name: 'Hurried', ...wish });
  const sink = await startWebhookSink();
  onTestFinished(async () => {
    await streams.delete(id);
    await sink.close();
  });
  const endpoint = await endpoints.create({ kind: 'webhook', url: `${sink.url}/hook`, types: ['insert.dropped'] });
  await until('it is ready', async () => (await streams.readiness(id)).ready, 180_000);
  await streams.start(id, { wait: 60 });

  const webhook = await until('its webhook', async () => sink.received[0], 120_000);
  sink.check(webhook, (await endpoints.secret(endpoint.id)).secret);
  const { status } = JSON.parse(await kubectl(system, 'get', 'loopstream', id, '-o', 'json')) as LoopStream;
  const [entry] = status?.droppedRules ?? [];
  expect(entry).toMatchObject({ rule: 'news', track: 'video', reason: 'RuleLate', number: 1 });
  expect(webhook.body).toMatchObject({
    type: 'insert.dropped',
    objectID: id,
    data: {
      ...{ code: 'rule_late', rule: 'news', count: 1 },
      dueAt: entry?.dueAt,
      message: expect.stringContaining('The rule "news" was left out when it was due at'),
      fix: expect.stringContaining('lateSeconds'),
    },
  });
  const events = await kubectl(system, 'events', '--for', `loopstream/${id}`, '--types=Warning');
  expect(events).toMatch(/RuleLate .*The rule "news" was left out/);
});
