/** Tests a destination's Secret that others change while a stream is on air: kubectl here, as External Secrets would. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { type RtmpRecorder, startRtmpRecorder } from '../kit/fake/rtmp-recorder.ts';
import { kubectl } from '../kit/kubectl.ts';
import { everyCommandLine } from '../kit/make/destinations.ts';
import { makeClip } from '../kit/make/media.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const LOGIN = { user: 'publisher@example.com', password: 'verysecret-pw-4711' };
const WITHIN_MS = 60_000;

const dir = tempDir();
let system: SharedSystem;
let server: RtmpRecorder;
let files: ReturnType<typeof execFile>;
let uploadID: string;
beforeAll(async () => {
  await makeClip(join(dir, 'clip.mp4'), { seconds: 2, hertz: 440, colour: 'red', size: '320x180', fps: 25 });
  [system, server] = await Promise.all([shareSystem(), startRtmpRecorder({ login: { ...LOGIN, style: 'wowza' } })]);
  const port = await reserveFreePort();
  files = execFile('python3', ['-m', 'http.server', '--bind', '127.0.0.1', '--directory', dir, String(port)]);
  const url = `http://127.0.0.1:${port}/clip.mp4`;
  await until('the media server answers', async () => (await fetch(url).catch(() => undefined))?.ok);
  uploadID = (await system.client.uploads.fromLink({ type: 'VIDEO', url })).objectID;
  await until('it is imported', async () => (await system.client.uploads.get(uploadID)).state === 'ready', 120_000);
});
afterAll(async () => {
  files?.kill();
  await server?.close();
});

const patch = (id: string, stringData: Record<string, string>) =>
  kubectl(system, 'patch', 'secret', id, '--type=merge', '-p', JSON.stringify({ stringData }));
const names = () => server.publishes.map(({ name }) => name);

test('a login from the API publishes; a new key replaces the old one within a minute; a missing Secret is reported', async () => {
  const { destinations, streams } = system.client;
  const rtmpUrl = `rtmp://${encodeURIComponent(LOGIN.user)}:${LOGIN.password}@127.0.0.1:${server.port}/live/{stream_key}`;
  const made = await destinations.create({ name: 'Behind a login', rtmpUrl, rtmpKey: 'first-key-0815' });
  const shown = { rtmpUrl: `rtmp://127.0.0.1:${server.port}/live`, rtmpKeyHint: '0815', hasLogin: true };
  expect(made).toMatchObject(shown);
  const { id: destinationID } = made;
  expect(await destinations.test(destinationID)).toMatchObject({ ok: true, stage: 'publish', code: null });
  await destinations.update(destinationID, { rtmpPassword: 'verysecret-wrong' });
  expect(await destinations.test(destinationID)).toMatchObject({ ok: false, code: 'login_refused' });
  await destinations.update(destinationID, { rtmpPassword: LOGIN.password });
  const stream = {
    name: 'Rotated',
    quality: '720p',
    framerate: 30,
    destinationID,
    videoUploadObjectID: uploadID,
  } as const;
  const { id } = await streams.create(stream);
  await until('it is ready', async () => (await streams.readiness(id)).ready, 120_000);
  expect((await streams.start(id, { wait: 60 })).status).toBe('live');

  const changedAt = performance.now();
  await patch(destinationID, { rtmpKey: 'second-key-4711' });
  await until('published with the new key', () => names().includes('second-key-4711'), WITHIN_MS);
  expect(performance.now() - changedAt).toBeLessThan(WITHIN_MS);
  const before = names().length;
  await until('it is live again', async () => (await streams.liveStats(id)).destinations?.[0]?.connected, 60_000);
  expect(names().slice(before - 1)).toEqual(['second-key-4711']);
  // The pod reads the Secret itself, and may have it sooner than the operator.
  const isShown = async () => (await destinations.get(destinationID)).rtmpKeyHint === '4711';
  await until('the destination shows it', isShown, WITHIN_MS);
  expect(await destinations.get(destinationID)).toMatchObject({ ...shown, rtmpKeyHint: '4711' });
  expect(names().slice(before - 1)).toEqual(['second-key-4711']);

  const deletedAt = performance.now();
  await kubectl(system, 'delete', 'secret', destinationID);
  const findIssue = async () =>
    (await streams.readiness(id)).issues.find(({ code }) => code === 'destination_secret_missing');
  await until('readiness says so', findIssue, WITHIN_MS);
  expect(performance.now() - deletedAt).toBeLessThan(WITHIN_MS);
  expect(await kubectl(system, 'describe', 'destination', destinationID)).toContain(
    'The Secret of the destination does not exist.',
  );
  // The stream on air continues with its old Secret.
  const bytes = server.mediaBytes();
  await until('media comes', () => server.mediaBytes() > bytes);
  expect(names().slice(before - 1)).toEqual(['second-key-4711']);

  const everything = await kubectl(system, 'get', 'onair,pods,events', '-o', 'json');
  const stats = JSON.stringify([await streams.liveStats(id), await streams.events(id).page()]);
  for (const text of [everything, stats, everyCommandLine(), server.received()]) {
    // The assertion message excludes the text, which would show the secret.
    expect(/verysecret|-key-0815/.test(text.replaceAll('first-key-0815', ''))).toBe(false);
  }
  await streams.delete(id);
  await until('it is off air', async () => (await streams.list().page()).data.every((one) => one.id !== id), 60_000);
});
