/** The README followed to the letter on a freshly started system, with nginx-rtmp as a receiver that is not ours. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../src/streams/sessions.ts';
import { decodeErrors, makeClip, packetsOf } from '../support/media.ts';
import { freePort, type RtmpServer, startRtmpServer, until } from '../support/rtmp.ts';
import { ROOT, type System, startSystem } from '../support/system.ts';

const run = promisify(execFile);
const CLIP_SECONDS = 3;
let dir: string;
let system: System;
let receiver: RtmpServer;
let closeMedia: () => void;
let mediaUrl: string;

/** The fenced block of README.md that carries this name. */
async function readmeBlock(name: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const block = new RegExp(`\`\`\`sh ${name}\\n([\\s\\S]*?)\\n\`\`\``).exec(readme)?.[1];
  if (block === undefined) throw new Error(`README.md has no block ${name}`);
  return block;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'loopstream-main-job-'));
  receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  await makeClip(join(dir, 'my.mp4'), { seconds: CLIP_SECONDS });
  const port = await freePort();
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
  await rm(dir, { recursive: true, force: true });
});

async function sessionsOf(id: string): Promise<Session[]> {
  const { stateDir, facts } = system;
  const env = { PATH: process.env.PATH, HOME: stateDir, KUBECONFIG: facts.kubeconfig };
  const args = ['-n', 'loopstream', 'get', 'loopstream', id, '-o', 'json'];
  const { stdout } = await run(join(stateDir, 'bin/kubectl'), args, { env });
  return (JSON.parse(stdout) as { status: { sessions?: Session[] } }).status.sessions ?? [];
}

describe('the main job, as the README shows it', () => {
  test('from a link to a stream that an independent receiver gets, and to its stop', async () => {
    const main = await readmeBlock('main-job');
    const stop = await readmeBlock('main-job-stop');
    // Between the two blocks the script waits for a line on stdin, as a person would watch for a while.
    const script = `set -eu\n${main}\necho "STREAM=$STREAM"\nread -r _\n${stop}\n`;
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
    expect(output).toMatch(/^live$/m);

    // At least three loops must pass: the count is the stream's own, the proof is in the recording below.
    await until(
      'four loops have passed',
      async () =>
        ((await system.call<{ loopCount: number | null }>('GET', `/streams/${id}/live-stats`)).body.loopCount ?? 0) >=
        4,
      60_000,
    );
    expect((await system.call('POST', `/streams/${id}/skip`)).status).toBe(200);
    shell.stdin.write('\n');
    await exited;
    expect(shell.exitCode, errors).toBe(0);
    expect(output.trim().split('\n').at(-1)).toBe('stopped');

    await until('the receiver saw the publisher leave', async () => (await receiver.log()).includes('my-channel'));
    const recordings = await receiver.recordings('my-channel');
    expect(recordings).toHaveLength(1);
    const [recording = ''] = recordings;
    const [video, audio] = [await packetsOf(recording, 'v'), await packetsOf(recording, 'a')];
    expect(video.dts.length).toBeGreaterThan(3 * CLIP_SECONDS * 30);
    expect(video.notIncreasing + audio.notIncreasing).toBe(0);
    expect(video.maxStep).toBeLessThanOrEqual(1 / 30 + 0.0015);
    expect(audio.maxStep).toBeLessThanOrEqual(1024 / 48_000 + 0.0015);
    expect(await decodeErrors(recording)).toBe('');

    const { body } = await system.call<{ status: string }>('GET', `/streams/${id}`);
    expect(body.status).toBe('stopped');
    // The time that it was on air stands in its status: what the receiver has, less what was sent ahead and two reports.
    const [session, ...others] = await sessionsOf(id);
    const seconds = (video.dts.at(-1) ?? 0) - (video.dts[0] ?? 0);
    expect(others).toEqual([]);
    expect(session?.endedAt).toBeDefined();
    expect(session?.onAirSeconds).toBeLessThanOrEqual(seconds);
    expect(session?.onAirSeconds).toBeGreaterThan(seconds - 6);
    const { stdout } = await run('ps', ['-eo', 'args']);
    expect(stdout.includes('my-channel')).toBe(false);
  });

  test('status, the API description and the account answer as the contract says', async () => {
    const { apiUrl } = system.facts;
    expect((await fetch(`${apiUrl}/status`)).status).toBe(200);
    const description = (await (await fetch(`${apiUrl}/openapi.json`)).json()) as {
      openapi: string;
      info: { version: string };
    };
    expect(description.openapi).toMatch(/^3\.1/);
    expect(description.info.version).toBe('1.0.0');
    const me = await system.call<{ id: string; email: string; firstName: string }>('GET', '/me');
    expect(me.status).toBe(200);
    expect(me.body.email).toContain('@');
    const list = await system.call<{ data: unknown[]; page: { hasMore: boolean; nextCursor: string | null } }>(
      'GET',
      '/streams?limit=1',
    );
    expect(list.body.data).toHaveLength(1);
    expect(list.body.page).toEqual({ hasMore: false, nextCursor: null });
  });
});
