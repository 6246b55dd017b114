/** What a person may get wrong: each gives its stable code, leaves nothing behind, and everything else goes on. */
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../support/media.ts';
import { freePort, until } from '../support/rtmp.ts';
import { type System, startSystem } from '../support/system.ts';

const run = promisify(execFile);

interface Upload {
  objectID: string;
  state: string;
  error: { code: string; message: string } | null;
}
interface Problem {
  code: string;
  detail: string;
  issues?: Issue[];
}
interface Issue {
  code: string;
  message: string;
  fix: string;
}

let system: System;
let files: Server;
let base = '';
/** Uploads that failed and were deleted. */
const deleted: string[] = [];
/** Held back until the test lets it go: an upload that is still on its way. */
let release = () => {};

async function serve(dir: string): Promise<void> {
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  files = createServer(async (request, response) => {
    const name = (request.url ?? '').slice(1);
    if (name === 'page.html') return response.setHeader('Content-Type', 'text/html').end('<html>not a video</html>');
    if (name === 'slow.mp4') await slow;
    const body = await readFile(join(dir, name === 'slow.mp4' ? 'good.mp4' : name)).catch(() => undefined);
    if (body === undefined) response.statusCode = 404;
    return response.end(body);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const address = files.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

beforeAll(async () => {
  system = await startSystem(['--no-demo']);
  const dir = system.stateDir;
  await makeClip(join(dir, 'good.mp4'), { seconds: 2 });
  const whole = await readFile(join(dir, 'good.mp4'));
  await writeFile(join(dir, 'truncated.mp4'), whole.subarray(0, Math.floor(whole.length / 2)));
  await run('ffmpeg', ['-v', 'error', '-i', join(dir, 'good.mp4'), '-vn', '-c:a', 'copy', join(dir, 'sound.m4a')]);
  await serve(dir);
});

afterAll(async () => {
  release();
  files?.close();
  await system?.close();
});

const importFrom = async (url: string): Promise<Upload> =>
  (await system.call<Upload>('POST', '/uploads/from-link', { type: 'VIDEO', url })).body;

const settled = (objectID: string): Promise<Upload> =>
  until(
    'the upload is ready or failed',
    async () => {
      const { body } = await system.call<Upload>('GET', `/uploads/${objectID}`);
      return ['ready', 'failed'].includes(body.state) ? body : undefined;
    },
    90_000,
  );

const destination = async (rtmpUrl: string): Promise<string> =>
  (await system.call<{ id: string }>('POST', '/destinations', { name: 'd', rtmpUrl, rtmpKey: 'planted-key-1234' })).body
    .id;

const stream = async (destinationID: string, videoUploadObjectID: string): Promise<string> => {
  const body = { name: 's', quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID };
  return (await system.call<{ id: string }>('POST', '/streams', body)).body.id;
};

const kubectl = async (...args: string[]): Promise<string> => {
  const env = { PATH: process.env.PATH, HOME: system.stateDir, KUBECONFIG: system.facts.kubeconfig };
  return (await run(join(system.stateDir, 'bin/kubectl'), ['-n', 'loopstream', ...args], { env })).stdout;
};

describe('links that lead to no video', () => {
  test.each([
    ['an HTML page', 'page.html', 'media_unreadable'],
    ['nothing (404)', 'missing.mp4', 'link_unreachable'],
    ['a truncated mp4', 'truncated.mp4', 'media_unreadable'],
    ['a file with no video', 'sound.m4a', 'media_has_no_video'],
  ])('%s: the upload fails with its code', async (_what, name, code) => {
    const upload = await settled((await importFrom(`${base}/${name}`)).objectID);
    expect(upload.state).toBe('failed');
    expect(upload.error?.code).toBe(code);
    expect(upload.error?.message).toBeTruthy();
    expect((await system.call('DELETE', `/uploads/${upload.objectID}`)).status).toBe(204);
    deleted.push(upload.objectID);
    await rm(join(system.stateDir, name), { force: true });
  });
});

describe('streams that cannot start', () => {
  test('while the upload is on its way: 409, and the same words in REST and kubectl describe', async () => {
    const upload = await importFrom(`${base}/slow.mp4`);
    const id = await stream(await destination(system.facts.rtmpUrl), upload.objectID);
    const refused = await system.call<Problem>('POST', `/streams/${id}/start`);
    expect(refused.status).toBe(409);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(refused.body.code).toBe('stream_not_ready');
    const readiness = await system.call<{ ready: boolean; issues: Issue[] }>('GET', `/streams/${id}/readiness`);
    expect(readiness.body.ready).toBe(false);
    const [issue] = readiness.body.issues;
    expect(issue?.code).toBe('media_importing');
    expect(refused.body.issues?.[0]?.message).toBe(issue?.message);
    expect(await kubectl('describe', 'loopstream', id)).toContain(issue?.message);
    release();
    await settled(upload.objectID);
    await until(
      'it is ready',
      async () => (await system.call<{ ready: boolean }>('GET', `/streams/${id}/readiness`)).body.ready,
    );
  });

  test.each([
    ['does not resolve', async () => 'rtmp://no-such-host.invalid/live', 'dns_failed'],
    ['refuses', async () => `rtmp://127.0.0.1:${await freePort()}/live`, 'connection_refused'],
  ])('to a destination that %s: it keeps trying and says why, and stop stops it', async (_what, url, code) => {
    await makeClip(join(system.stateDir, 'good.mp4'), { seconds: 2 });
    const upload = await settled((await importFrom(`${base}/good.mp4`)).objectID);
    const id = await stream(await destination(await url()), upload.objectID);
    await until(
      'it is ready',
      async () => (await system.call<{ ready: boolean }>('GET', `/streams/${id}/readiness`)).body.ready,
      60_000,
    );
    const started = await system.call<{ status: string }>('POST', `/streams/${id}/start?wait=1`);
    expect(started.status).toBe(202);
    type Stats = { destinations: { connected: boolean; lastError: { code: string; message: string } | null }[] };
    const error = await until(
      'the destination’s error is told',
      async () =>
        (await system.call<Stats>('GET', `/streams/${id}/live-stats`)).body.destinations?.[0]?.lastError ?? undefined,
      30_000,
    );
    expect(error.code).toBe(code);
    expect(error.message).not.toContain('planted-key-1234');
    expect((await system.call<{ status: string }>('GET', `/streams/${id}`)).body.status).toBe('starting');
    const stopped = await system.call<{ status: string }>('POST', `/streams/${id}/stop?wait=30`);
    expect(stopped.body.status).toMatch(/^(stopped|idle)$/);
  });
});

test('a private link is refused where the setting does not allow it', async () => {
  // make run allows loopback for one's own files; link-local (cloud metadata) is refused even there.
  const upload = await settled((await importFrom('http://169.254.169.254/latest/meta-data/')).objectID);
  expect(upload.error?.code).toBe('link_forbidden');
});

test('nothing of the failed uploads is left in Kubernetes', async () => {
  expect(deleted).toHaveLength(4);
  await until(
    'their Jobs and pods are collected',
    async () => {
      const left = await kubectl('get', 'uploads,jobs,pods', '-o', 'name');
      return !deleted.some((id) => left.includes(id));
    },
    // A fresh controller manager learns of new kinds every 30 s, and collects nothing that they own before.
    60_000,
  );
});
