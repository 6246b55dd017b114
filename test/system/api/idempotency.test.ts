/** Tests retries of clients that lost the answer: one effect, whatever happened to the server. */
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { createDb } from '../../../src/service/db/pool.ts';
import { deleteOldKeys } from '../../../src/service/domain/idempotency/store.ts';
import { ERRORS } from '../../../src/service/lib/errors.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { type Client, call } from '../../kit/system/api.ts';
import { startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
let ada: Client;
let pool: pg.Pool;
beforeAll(async () => {
  started = await startStreamsApi();
  ada = started.ada;
  pool = new pg.Pool({ connectionString: started.api.databaseUrl, max: 1 });
});
afterAll(async () => {
  await pool?.end();
  await started?.api.stop();
});

const destination = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
const problem = (code: keyof typeof ERRORS) => ({
  status: ERRORS[code].status,
  body: expect.objectContaining({ type: `/docs/errors/${code}`, code }),
});
const post = (key: string, body: unknown, { client = ada, path = '/v1/destinations' } = {}) =>
  client.call('POST', path, body, { 'idempotency-key': key });
const getId = ({ id, objectID }: Record<string, unknown>) => String(id ?? objectID);

describe('the same key', () => {
  test('and body have one effect and one answer, also when twenty come at once', async () => {
    const own = await started.api.client('twenty');
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('once', destination, { client: own })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    for (const { headers } of answers) expect(headers.get('location')).toBe(`/v1/destinations/${answers[0]?.body.id}`);
    expect((await own.call<{ data: [] }>('GET', '/v1/destinations')).body.data).toHaveLength(1);
  });

  test('with another body or path is refused, of another account is another key', async () => {
    await post('body', destination);
    const other = { ...destination, name: 'Other' };
    expect(await post('body', other)).toMatchObject(problem('idempotency_key_reused'));
    const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
    expect(await post('body', link, { path: '/v1/uploads/from-link' })).toMatchObject(
      problem('idempotency_key_reused'),
    );
    expect((await post('body', other, { client: started.eve })).status).toBe(201);
  });

  test('is free after a request that was refused, and must be text that can be seen', async () => {
    expect((await post('wrong', { name: 1 })).status).toBe(422);
    expect((await post('wrong', destination)).status).toBe(201);
    for (const key of ['', 'a b', 'x'.repeat(256), '\u00e9'])
      expect(await post(key, destination)).toMatchObject(problem('validation_failed'));
  });

  test('is free after 24 hours, when its stored answer is swept', async () => {
    const first = await post('old', destination);
    const age = () =>
      pool.query(`update loopstream.idempotency set created_at = now() - interval '25 hours' where key = 'old'`);
    await age();
    const second = await post('old', { ...destination, name: 'Another' });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    await age();
    await deleteOldKeys(createDb(pool));
    const left = await pool.query(`select key from loopstream.idempotency where key in ('old', 'body')`);
    expect(left.rows).toEqual(expect.arrayContaining([{ key: 'body' }]));
    expect(left.rows).not.toContainEqual({ key: 'old' });
  });
});

/** Starts an API server as a process, with a way to Kubernetes that can fail. */
async function apiOverProxy(more: Record<string, string> = {}) {
  const { api } = started;
  const proxy = await startFaultyProxy(api.kubernetes);
  const KUBECONFIG = await writeKubeconfig(join(tempDir(), 'kubeconfig'), proxy.url);
  const server = await startApiProcess({ ...api.environment, ...more, KUBECONFIG });
  onTestFinished(async () => {
    server.signal('SIGKILL');
    await server.ended;
    await proxy.close();
  });
  const { key } = ada;
  const ask = (path: string, body: unknown, idempotencyKey: string) =>
    call<Record<string, unknown>>(`${server.url}${path}`, 'POST', body, {
      'x-api-key': key,
      'idempotency-key': idempotencyKey,
    });
  return { server, proxy, ask };
}

test('a server is killed between the effect and the answer: the next one returns the same resource', async () => {
  const { videoList, videoUploadObjectID, wish } = started;
  const owner = ada;
  const list = async (noun: string) =>
    (await owner.call<{ data: Record<string, unknown>[] }>('GET', `/v1/${noun}?limit=100`)).body.data.map(getId);
  const version = async () => Number((await owner.call('GET', `/v1/playlists/${videoList}`)).body.version);
  const { server, proxy, ask } = await apiOverProxy();
  const inAMoment = new Date(Date.now() + 5_000).toISOString();
  const playlist = { kind: 'video', mode: 'shuffle', items: [{ uploadObjectID: videoUploadObjectID }] };
  // The last request has begun before the retry.
  const creations = {
    destinations: ['/v1/destinations', destination],
    uploads: ['/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/b.mp4' }],
    playlists: ['/v1/playlists', playlist],
    streams: ['/v1/streams', wish({ scheduleStartAt: inAMoment })],
  } as const;
  const nouns = Object.keys(creations) as (keyof typeof creations)[];
  const lists = async () => Object.fromEntries(await Promise.all(nouns.map(async (noun) => [noun, await list(noun)])));
  const added = (now: Record<string, string[]>, before: Record<string, string[]>, noun: string) =>
    (now[noun] ?? []).filter((id) => !before[noun]?.includes(id));
  await owner.call('PATCH', `/v1/playlists/${videoList}`, { version: await version(), mode: 'shuffle' });
  const versionBefore = await version();
  const before = await lists();

  const rollback = [`/v1/playlists/${videoList}/rollback`, { version: 1 }] as const;
  proxy.set('write held');
  const lost = nouns.map((noun) => {
    const [path, body] = creations[noun];
    return ask(path, body, `killed-${noun}`);
  });
  const lostRollback = ask(...rollback, 'killed-rollback');
  const unheard = Promise.allSettled([...lost, lostRollback]);
  await until('all of it is done', async () => {
    const now = await lists();
    return nouns.every((noun) => added(now, before, noun).length === 1) && (await version()) > versionBefore;
  });
  server.signal('SIGKILL');
  await server.ended;
  expect((await unheard).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  const made = await lists();

  for (const noun of nouns) {
    const [path, body] = creations[noun];
    const again = await post(`killed-${noun}`, body, { path });
    expect(again, noun).toMatchObject({ status: 201 });
    expect(added(made, before, noun), noun).toEqual([getId(again.body)]);
    expect((await post(`killed-${noun}`, body, { path })).body).toEqual(again.body);
  }
  expect(await lists()).toEqual(made);
  const secret = await started.api.kube.get(SECRETS, NAMESPACE, added(made, before, 'destinations')[0] ?? '');
  expect(Buffer.from(secret.data?.rtmpKey ?? '', 'base64').toString()).toBe(destination.rtmpKey);
  for (const _ of [1, 2]) {
    const again = await post('killed-rollback', rollback[1], { path: rollback[0] });
    expect(again).toMatchObject({ status: 200, body: { version: versionBefore + 1 } });
  }
});

test('an effect that Kubernetes did not confirm is found by the retry', async () => {
  const { videoList, videoUploadObjectID } = started;
  const { proxy, ask } = await apiOverProxy();
  const path = `/v1/playlists/${videoList}`;
  const version = async () => Number((await ada.call('GET', path)).body.version);
  const before = await version();
  const changes = [{ op: 'insert', index: 0, items: [{ uploadObjectID: videoUploadObjectID }] }];
  const requests = [
    [`${path}/changes`, { version: before, changes }, { version: before + 1 }],
    ['/v1/destinations', { ...destination, name: 'Unheard' }, { name: 'Unheard' }],
  ] as const;
  for (const [to, body, expected] of requests) {
    proxy.set('write lost');
    expect(await ask(to, body, `unheard-${to}`)).toMatchObject(problem('upstream_unavailable'));
    proxy.set('none');
    expect(await ask(to, body, `unheard-${to}`)).toMatchObject({ body: expected });
  }
  expect(await version()).toBe(before + 1);
  const { data } = (await ada.call<{ data: { name: string }[] }>('GET', '/v1/destinations?limit=100')).body;
  expect(data.filter(({ name }) => name === 'Unheard')).toHaveLength(1);
});

describe('a server that is to end', () => {
  test('first reports that it is not ready; then lets running requests finish, and refuses new ones with 503', async () => {
    const { server } = await apiOverProxy({ LOOPSTREAM_SHUTDOWN_DELAY_SECONDS: '1' });
    const port = Number(new URL(server.url).port);
    const slow = connect(port, '127.0.0.1');
    onTestFinished(() => void slow.destroy());
    let heard = '';
    slow.on('data', (chunk) => (heard += chunk)).on('error', () => undefined);
    const text = JSON.stringify({ ...destination, name: 'In flight' });
    const headers = [`X-API-Key: ${ada.key}`, 'Content-Type: application/json', `Content-Length: ${text.length}`];
    slow.write(`POST /v1/destinations HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n${text.slice(0, 9)}`);
    const ask = () => call<{ code?: string }>(`${server.url}/v1/status`, 'GET');
    // The server received it before the signal, since a later request has been answered.
    expect((await ask()).status).toBe(200);

    server.signal('SIGTERM');
    await until('it says that it is not ready', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    const leaving = await ask();
    expect(leaving.status).toBe(200);
    expect(leaving.headers.get('connection')).toBe('close');
    const refused = await until('it takes no more', async () => {
      const answer = await ask();
      return answer.status === 503 && answer;
    });
    expect(refused).toMatchObject(problem('shutting_down'));
    expect(refused.headers.get('connection')).toBe('close');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(503);
    slow.write(text.slice(9));
    await until('the request at work is answered', () => /^HTTP\/1.1 201 .*"In flight"/s.test(heard));
    expect(heard).toMatch(/^connection: close\r$/im);
    expect(await server.ended).toBe(0);
    const { LOOPSTREAM_DATABASE_URL: url = '', LOOPSTREAM_AUTH_SECRET: secret } = started.api.environment;
    for (const hidden of [ada.key, destination.rtmpKey, secret, new URL(url).password])
      expect(server.logs()).not.toContain(hidden);
    await expect(ask()).rejects.toThrow();
  });
});
