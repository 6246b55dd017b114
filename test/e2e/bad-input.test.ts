/** Tests mistakes of people: each gives its stable code, leaves nothing behind, and everything else goes on. */
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { API_VERSION } from '../../src/core/resources/common/names.ts';
import { type ProblemError, problems, type Upload } from '../../src/service/client/index.ts';
import { reserveFreePort } from '../../tools/process/ports.ts';
import { kubectl } from '../kit/kubectl.ts';
import { makeClip } from '../kit/make/media.ts';
import { send } from '../kit/make/tus-client.ts';
import { startTestRedis } from '../kit/real/redis.ts';
import { startRtmpServer } from '../kit/real/rtmp.ts';
import { run } from '../kit/run.ts';
import { startApiProcess } from '../kit/system/api-process.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import {
  fetchPlace,
  listEncodings,
  listPlaces,
  type Place,
  readEnvironment,
  watchRedis,
} from '../kit/system/traces.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const dir = tempDir();
let system: SharedSystem;
let files: Server;
let base = '';
/** Uploads that failed and were deleted. */
const deleted: string[] = [];
/** The server holds this file back until the test releases it: an upload that is still on its way. */
let release = () => {};

async function serve(): Promise<void> {
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
  system = await shareSystem();
  await makeClip(join(dir, 'good.mp4'), { seconds: 2 });
  const whole = await readFile(join(dir, 'good.mp4'));
  await writeFile(join(dir, 'truncated.mp4'), whole.subarray(0, Math.floor(whole.length / 2)));
  await run('ffmpeg', ['-v', 'error', '-i', join(dir, 'good.mp4'), '-vn', '-c:a', 'copy', join(dir, 'sound.m4a')]);
  // The index of an MP4 follows its media.
  await writeFile(join(dir, 'unfinished.mp4'), whole.subarray(0, whole.lastIndexOf('moov') - 4));
  await writeFile(join(dir, 'zeros.mp4'), Buffer.alloc(100_000));
  await writeFile(join(dir, 'empty.mp4'), '');
  await serve();
});

afterAll(() => {
  release();
  files?.close();
});

const importFrom = (url: string): Promise<Upload> => system.client.uploads.fromLink({ type: 'VIDEO', url });

const settled = (objectID: string): Promise<Upload> =>
  until(
    'the upload is ready or failed',
    async () => {
      const upload = await system.client.uploads.get(objectID);
      return ['ready', 'failed'].includes(upload.state) ? upload : undefined;
    },
    90_000,
  );

const destination = async (rtmpUrl: string): Promise<string> =>
  (await system.client.destinations.create({ name: 'd', rtmpUrl, rtmpKey: 'planted-key-1234' })).id;

const stream = async (destinationID: string, videoUploadObjectID: string): Promise<string> => {
  const body = { name: 's', quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID } as const;
  return (await system.client.streams.create(body)).id;
};

const refusal = (call: Promise<unknown>): Promise<ProblemError> =>
  call.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ProblemError) => error,
  );

const isReady = (id: string, timeoutMs?: number): Promise<boolean> =>
  until('it is ready', async () => (await system.client.streams.readiness(id)).ready, timeoutMs);

describe('links that lead to no video', () => {
  test.each([
    ['an HTML page', 'page.html', 'link_is_a_page'],
    ['nothing (404)', 'missing.mp4', 'link_unreachable'],
    ['a truncated mp4', 'truncated.mp4', 'media_unreadable'],
    ['a file with no video', 'sound.m4a', 'media_has_no_video'],
  ])('%s: the upload fails with its code', async (_what, name, code) => {
    const upload = await settled((await importFrom(`${base}/${name}`)).objectID);
    expect(upload.state).toBe('failed');
    expect(upload.error?.code).toBe(code);
    expect(upload.error?.message).toBeTruthy();
    await system.client.uploads.delete(upload.objectID);
    deleted.push(upload.objectID);
    await rm(join(dir, name), { force: true });
  });
});

describe('files with nothing to play', () => {
  test.each([
    ['that was never finished', 'unfinished.mp4', 'media_unfinished'],
    ['of zeros', 'zeros.mp4', 'media_empty'],
  ])('one %s, sent by tus, fails with its code', async (_what, name, code) => {
    const { url } = await send({
      endpoint: `${system.facts.apiUrl}/uploads/resumable`,
      apiKey: system.facts.apiKey ?? '',
      path: join(dir, name),
      memory: join(dir, `${name}.urls`),
    });
    const upload = await settled(url.split('/').at(-1) ?? '');
    expect(upload).toMatchObject({ state: 'failed', error: { code, message: expect.stringMatching(/\w\.$/) } });
    await system.client.uploads.delete(upload.objectID);
  });

  test('one without a byte is refused when tus begins it', async () => {
    const headers = { 'X-API-Key': system.facts.apiKey ?? '', 'Tus-Resumable': '1.0.0', 'Upload-Length': '0' };
    const answer = await fetch(`${system.facts.apiUrl}/uploads/resumable`, { method: 'POST', headers });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('the file is empty');
  });

  test.each([
    ['that was never finished', 'unfinished.mp4', 'media_unfinished'],
    ['of zeros', 'zeros.mp4', 'media_empty'],
    ['without a byte', 'empty.mp4', 'media_empty'],
  ])('one %s, in an Upload by kubectl, fails with its code, and describe says so', async (_what, name, code) => {
    const resource = {
      apiVersion: API_VERSION,
      kind: 'Upload',
      metadata: { name },
      spec: { track: 'video', source: { url: `${base}/${name}` } },
    };
    await writeFile(join(dir, 'upload.json'), JSON.stringify(resource));
    await kubectl(system, 'create', '-f', join(dir, 'upload.json'));
    await kubectl(system, 'wait', '--for=jsonpath={.status.phase}=failed', `upload/${name}`, '--timeout=90s');
    expect(await kubectl(system, 'get', 'upload', name, '-o', 'jsonpath={.status.error.code}')).toBe(code);
    expect(await kubectl(system, 'describe', 'upload', name)).toContain('MediaFailed');
    await kubectl(system, 'delete', 'upload', name);
  });
});

describe('streams that cannot start', () => {
  test('while the upload is on its way: 409, and the same words in REST and kubectl describe', async () => {
    const upload = await importFrom(`${base}/slow.mp4`);
    const id = await stream(await destination(system.facts.rtmpUrl), upload.objectID);
    const refused = await refusal(system.client.streams.start(id));
    expect(refused).toBeInstanceOf(problems.StreamNotReady);
    const readiness = await system.client.streams.readiness(id);
    expect(readiness.ready).toBe(false);
    const [issue] = readiness.issues;
    expect(issue?.code).toBe('media_importing');
    expect(refused.issues[0]?.message).toBe(issue?.message);
    expect(await kubectl(system, 'describe', 'loopstream', id)).toContain(issue?.message);
    release();
    await settled(upload.objectID);
    await isReady(id);
  });

  test.each([
    ['does not resolve', async () => 'rtmp://no-such-host.invalid/live', 'dns_failed'],
    ['refuses', async () => `rtmp://127.0.0.1:${await reserveFreePort()}/live`, 'connection_refused'],
  ])('to a destination that %s: it keeps trying and says why, and stop stops it', async (_what, url, code) => {
    await makeClip(join(dir, 'good.mp4'), { seconds: 2 });
    const upload = await settled((await importFrom(`${base}/good.mp4`)).objectID);
    const id = await stream(await destination(await url()), upload.objectID);
    await isReady(id, 60_000);
    const { streams } = system.client;
    expect((await streams.start(id, { wait: 1 })).status).toBe('starting');
    const error = await until(
      'the destination’s error is told',
      async () => (await streams.liveStats(id)).destinations[0]?.lastError ?? undefined,
      30_000,
    );
    expect(error.code).toBe(code);
    expect(error.message).not.toContain('planted-key-1234');
    expect((await streams.get(id)).status).toBe('starting');
    expect((await streams.stop(id, { wait: 30 })).status).toMatch(/^(stopped|idle)$/);
  });
});

test('a private link is refused where the setting does not allow it', async () => {
  // make run allows loopback for a person's own files; link-local (cloud metadata) is refused even there.
  const url = 'http://169.254.169.254/latest/meta-data/';
  expect(await refusal(importFrom(url))).toMatchObject({ status: 422, code: 'link_forbidden' });
});

test('a secret is found in any encoding', () => {
  const secret = 'planted/key+one&two=ü?';
  const around = ['', 'x', 'xy', 'xyz'].flatMap((before) => [before, `${before}/`].map((text) => text + secret));
  const hidden = around.flatMap((text) => [
    ...[`${text} and more`, `${text}${text}`].flatMap((plain) => {
      const bytes = Buffer.from(plain);
      return [
        ...[plain, bytes.toString('latin1'), bytes.toString('base64'), bytes.toString('base64url')],
        encodeURIComponent(plain),
      ];
    }),
    JSON.stringify({ text }),
    JSON.stringify({ text }).replaceAll('&', '\\u0026'),
  ]);
  const disguises = listEncodings(secret);
  expect(hidden.filter((text) => !disguises.some((one) => text.includes(one)))).toEqual([]);
  expect(disguises.every((one) => one.length > 16)).toBe(true);
});

/** Starts another API server of the system, which counts requests in Redis. */
async function startWithRedis() {
  const redis = await startTestRedis();
  const watch = await watchRedis(redis.url);
  const environment = readEnvironment(system, 'api');
  const ports = { LOOPSTREAM_PORT: '0', LOOPSTREAM_OPS_PORT: '0', LOOPSTREAM_HOST: '127.0.0.1' };
  const api = await startApiProcess({ ...environment, ...ports, LOOPSTREAM_REDIS_URL: redis.url });
  return {
    url: api.url,
    password: redis.password,
    places: async (): Promise<Place[]> => [
      ...(await watch.dump()),
      ['the log of the other API server', api.logs()],
      await fetchPlace(`${api.opsUrl}/metrics`),
    ],
    stop: async () => {
      api.signal('SIGTERM');
      await api.ended;
      watch.close();
      await redis.kill();
    },
  };
}

test('stream keys and API keys are in no log, metric, process list, object, table, counter or answer', async () => {
  // The secrets have characters that URLs, JSON and base64 encode differently.
  const planted = [`+${randomUUID()}=`, `&${randomUUID()}/+<ü>`] as const;
  const other = await startWithRedis();
  const secrets = [...planted, system.facts.apiKey, other.password];
  const answers: string[] = [];
  /** `status` is the expected answer: a call without an effect would prove nothing. */
  const call = async (request: string, status: number, body?: unknown, headers?: Record<string, string>) => {
    const [method = '', path = ''] = request.split(' ');
    const answer = await fetch(`${other.url}${path}`, {
      method,
      headers: { 'x-api-key': system.facts.apiKey, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    expect({ request, status: answer.status, text }).toMatchObject({ request, status });
    answers.push(text, JSON.stringify([...answer.headers]));
    return JSON.parse(text) as { id: string };
  };
  const receiver = await startRtmpServer({ record: join(dir, 'recordings') });
  try {
    // A destination on air, an unreachable one, tests of both, and keys in the wrong places.
    const [onAir, refusing] = await Promise.all(
      [receiver.url, `rtmp://127.0.0.1:${await reserveFreePort()}/live`].map(async (rtmpUrl, n) => {
        const body = { name: `planted ${n}`, rtmpUrl, rtmpKey: planted[n] };
        return (await call('POST /v1/destinations', 201, body, { 'idempotency-key': `planted-${n}` })).id;
      }),
    );
    await makeClip(join(dir, 'good.mp4'), { seconds: 2 });
    const upload = await settled((await importFrom(`${base}/good.mp4`)).objectID);
    const ids = await Promise.all([onAir, refusing].map((to = '') => stream(to, upload.objectID)));
    for (const to of [onAir, refusing]) await call(`POST /v1/destinations/${to}/test`, 200);
    const halfLogin = { rtmpUrl: `rtmp://${encodeURIComponent(planted[0])}@127.0.0.1/live` };
    await call(`PATCH /v1/destinations/${onAir}`, 422, halfLogin);
    const unused = { name: 'unused', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: planted[1], rtmpUser: planted[0] };
    await call('POST /v1/destinations', 201, { ...unused, rtmpPassword: planted[1] });
    await call('POST /v1/streams', 422, { name: 's', rtmpKey: planted[0], apiKey: system.facts.apiKey });
    await call(
      `GET /v1/streams?rtmpKey=${encodeURIComponent(planted[0])}&x-api-key=${system.facts.apiKey}`,
      200,
      undefined,
    );
    const query = 'mutation ($input: DestinationCreateInput!) { createDestination(input: $input) { __typename } }';
    const variables = { input: { name: 5, rtmpUrl: planted[0], rtmpKey: [planted[1]] } };
    await call('POST /graphql', 200, { query, variables });
    await call('POST /v1/streams', 401, {}, { 'x-api-key': `${system.facts.apiKey}x` });
    for (const id of ids) await isReady(id, 60_000);
    for (const id of ids) await system.client.streams.start(id, { wait: 1 });
    await until('one is live', async () => (await system.client.streams.get(ids[0] ?? '')).status === 'live', 60_000);
    const readLastError = async () => (await system.client.streams.liveStats(ids[1] ?? '')).destinations[0]?.lastError;
    await until('the error of the other is told', async () => (await readLastError()) ?? undefined, 30_000);
    for (const id of ids)
      for (const path of ['', '/live-stats', '/events', '/readiness']) await call(`GET /v1/streams/${id}${path}`, 200);
    const places = [
      // A streamer of another account may end during the search.
      ...(await vi.waitFor(() => listPlaces(system), { timeout: 120_000, interval: 1_000 })),
      ...(await other.places()),
      ['the answers', answers.join('\n')] as const,
    ];
    expect(places.length).toBeGreaterThan(50);
    expect(places.filter(([where]) => where.endsWith('/stats')).length).toBeGreaterThan(0);
    // The search finds the ids, which are no secrets: so it covers the real data.
    const known = places.filter(([, text]) => ids.some((id) => text.includes(id)));
    expect(known.length).toBeGreaterThan(3);
    const { id: accountId } = await system.client.me();
    expect(places.filter(([, text]) => text.includes(accountId)).map(([where]) => where)).toEqual(
      expect.arrayContaining(['what Redis holds', 'what Redis was asked']),
    );
    const disguises = secrets.flatMap(listEncodings);
    const traces = places.flatMap(([where, text]) => disguises.filter((one) => text.includes(one)).map(() => where));
    expect(traces).toEqual([]);
    for (const id of ids) await system.client.streams.stop(id, { wait: 30 });
  } finally {
    await receiver.close();
    await other.stop();
  }
});

test('nothing of the failed uploads is left in Kubernetes', async () => {
  expect(deleted).toHaveLength(4);
  await until(
    'their Jobs and pods are collected',
    async () => {
      const left = await kubectl(system, 'get', 'uploads,jobs,pods', '-o', 'name');
      return !deleted.some((id) => left.includes(id));
    },
    // The controller manager learns of new kinds every 30 s, and collects nothing of theirs before.
    60_000,
  );
});
