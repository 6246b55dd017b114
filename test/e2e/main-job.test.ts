/** Tests that the README's commands work literally on a freshly started system, with nginx-rtmp as an independent receiver. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../src/core/resources/stream/sessions.ts';
import { createClient, problems } from '../../src/service/client/index.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { kubectl } from '../kit/kubectl.ts';
import { decodeErrors, makeClip, readTrackPackets } from '../kit/make/media.ts';
import { send } from '../kit/make/tus-client.ts';
import { type RtmpServer, startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { ROOT, type System, startSystem } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const CLIP_SECONDS = 3;
const dir = tempDir();
let system: System;
let receiver: RtmpServer;
let closeMedia: () => void;
let mediaUrl: string;

/** Returns the fenced block of README.md with this name. */
async function readmeBlock(name: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const block = new RegExp(`\`\`\`sh ${name}\\n([\\s\\S]*?)\\n\`\`\``).exec(readme)?.[1];
  if (block === undefined) throw new Error(`README.md has no block ${name}`);
  return block;
}

beforeAll(async () => {
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  await makeClip(join(dir, 'my.mp4'), { seconds: CLIP_SECONDS });
  const port = await reserveFreePort();
  const files = spawn('python3', ['-m', 'http.server', '--bind', '127.0.0.1', '--directory', dir, String(port)], {
    stdio: 'ignore',
  });
  closeMedia = () => files.kill();
  mediaUrl = `http://127.0.0.1:${port}/my.mp4`;
  await until('the media server answers', () =>
    fetch(mediaUrl).then(
      (r) => r.ok,
      () => false,
    ),
  );
  system = await startSystem(['--no-demo']);
});

afterAll(async () => {
  await system?.close();
  await receiver?.close();
  closeMedia?.();
});

async function readSessions(id: string): Promise<Session[]> {
  const text = await kubectl(system, 'get', 'loopstream', id, '-o', 'json');
  return (JSON.parse(text) as { status: { sessions?: Session[] } }).status.sessions ?? [];
}

/** Expects no test: a second publisher would interrupt the stream, so neither the API server nor the operator makes one. */
async function expectNoTest(destinationID: string): Promise<void> {
  const refused = system.client.destinations.test(destinationID);
  await expect(refused).rejects.toBeInstanceOf(problems.DestinationOnAir);
  await kubectl(system, 'annotate', 'destination', destinationID, '--overwrite', 'loopstream.dev/test=by-hand');
  const readTest = () =>
    kubectl(system, 'get', 'destination', destinationID, '-o', 'jsonpath={.status.test.id} {.status.test.code}');
  await until('the operator says so too', async () => (await readTest()) === 'by-hand on_air');
}

describe('the main job, as the README shows it', () => {
  test('from a link to a stream that an independent receiver gets, and to its stop', async () => {
    const main = await readmeBlock('main-job');
    const playlist = await readmeBlock('playlist');
    const stop = await readmeBlock('main-job-stop');
    // Between the two blocks the script waits for a line on stdin, as a person would watch for a while.
    const script = `set -eu\n${main}\n${playlist}\necho "STREAM=$STREAM"\nread -r _\n${stop}\n`;
    const shell = spawn('bash', ['-c', script], {
      env: {
        ...process.env,
        API: system.facts.apiUrl,
        KEY: system.facts.apiKey,
        MEDIA_URL: mediaUrl,
        RTMP_URL: receiver.url,
        RTMP_KEY: 'my-channel',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    shell.stdout.on('data', (chunk) => (output += chunk));
    shell.stderr.on('data', (chunk) => (errors += chunk));
    const exited = once(shell, 'exit');
    const id = await until(
      'the README’s script is on air',
      () => {
        if (shell.exitCode !== null) throw new Error(`the script ended with ${shell.exitCode}:\n${output}\n${errors}`);
        return /STREAM=(\S+)/.exec(output)?.[1];
      },
      120_000,
    );
    expect(output).toMatch(/"ok": true,\s+"stage": "publish"/);
    expect(output).toMatch(/^live$/m);
    expect(output).toMatch(/"version": 2,\s+"items": 2/);

    // At least three loops must pass: the stream itself counts them, and the recording below proves them.
    await until(
      'four loops have passed',
      async () => ((await system.client.streams.liveStats(id)).loopCount ?? 0) >= 4,
      60_000,
    );
    await expectNoTest((await system.client.streams.get(id)).destinationID);
    await system.client.streams.skip(id);
    shell.stdin.write('\n');
    await exited;
    expect(shell.exitCode, errors).toBe(0);
    expect(output.trim().split('\n').at(-1)).toBe('stopped');

    // The test of the destination was the first publisher, the stream the second and the last.
    const countPublishes = async () =>
      (await receiver.log()).split('\n').filter((line) => line.includes('my-channel')).length;
    await until('the receiver saw the publishers leave', async () => (await countPublishes()) === 2);
    const recordings = await receiver.recordings('my-channel');
    expect(recordings).toHaveLength(2);
    const [, recording = ''] = recordings;
    const [video, audio] = [await readTrackPackets(recording, 'v'), await readTrackPackets(recording, 'a')];
    expect(video.dts.length).toBeGreaterThan(3 * CLIP_SECONDS * 30);
    expect(video.notIncreasing + audio.notIncreasing).toBe(0);
    expect(video.maxStep).toBeLessThanOrEqual(1 / 30 + 0.0015);
    expect(audio.maxStep).toBeLessThanOrEqual(1024 / 48_000 + 0.0015);
    expect(await decodeErrors(recording)).toBe('');

    expect((await system.client.streams.get(id)).status).toBe('stopped');
    // Its status has the time on air: the receiver's media, less the read-ahead and two reports.
    const [session, ...others] = await readSessions(id);
    const seconds = (video.dts.at(-1) ?? 0) - (video.dts[0] ?? 0);
    expect(others).toEqual([]);
    expect(session?.endedAt).toBeDefined();
    expect(session?.onAirSeconds).toBeLessThanOrEqual(seconds);
    expect(session?.onAirSeconds).toBeGreaterThan(seconds - 6);
    const { stdout } = await run('ps', ['-eo', 'args']);
    expect(stdout.includes('my-channel')).toBe(false);
  });

  test('status, the API description and the account answer as the contract says', async () => {
    const open = createClient({ baseUrl: system.facts.apiUrl });
    expect(await open.status()).toMatchObject({ status: 'ok' });
    expect(await open.openApi()).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      info: { version: '1.0.0' },
    });
    expect((await system.client.me()).email).toContain('@');
    const list = await system.client.streams.list({ limit: 1 }).page();
    expect(list.data).toHaveLength(1);
    expect(list.page).toEqual({ hasMore: false, nextCursor: null });
  });
});

test('a destination that is asked to be tested twenty times with one key is published to once', async () => {
  const body = { name: 'Tested', rtmpUrl: receiver.url, rtmpKey: 'tested-channel' };
  const { id } = await system.client.destinations.create(body);
  const idempotencyKey = crypto.randomUUID();
  const ask = () => system.client.destinations.test(id, { idempotencyKey });
  const tests = await Promise.all(Array.from({ length: 20 }, ask));
  expect(tests[0]).toMatchObject({ ok: true, stage: 'publish', code: null });
  for (const test of tests) expect(test).toEqual(tests[0]);
  expect(await receiver.recordings('tested-channel')).toHaveLength(1);
  await until(
    'its pod is gone',
    async () => !(await kubectl(system, 'get', 'pods', '-o', 'name')).includes('pod/test-'),
  );
});

test('a file that is sent is as good as one from a link, and kept once however often it comes', async () => {
  const { apiUrl, apiKey } = system.facts;
  const ids: string[] = [];
  for (const memory of ['first', 'second']) {
    const sending = { endpoint: `${apiUrl}/uploads/resumable`, apiKey, path: join(dir, 'my.mp4') };
    const { url } = await send({ ...sending, memory: join(dir, memory) });
    const id = url.split('/').at(-1) ?? '';
    await until('it is ready', async () => (await system.client.uploads.get(id)).state === 'ready', 60_000);
    ids.push(id);
  }
  const path = 'jsonpath={.items[*].status.sourceKey}';
  const keys = async () => (await kubectl(system, 'get', 'uploads', '-o', path)).split(' ');
  // The first test imported the same file from a link.
  const [key, ...others] = await keys();
  expect(others).toEqual([key, key]);
  await system.client.uploads.delete(ids[0] ?? '');
  expect(await keys()).toEqual([key, key]);
});
