/** Tests reads after a write: on the same replica, on another one, and while Kubernetes does not answer. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { type List, type Stream, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { createRestarts } from '../../kit/real/restarts.ts';
import { type Client, call, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';

let api: TestApi;
let ada: Client;
let wish: StreamsApi['wish'];
let create: StreamsApi['create'];
let videoUploadObjectID: string;
let videoList: string;
let restarts: ReturnType<typeof createRestarts>;

beforeAll(async () => {
  ({ api, ada, wish, create, videoUploadObjectID, videoList } = await startStreamsApi());
  restarts = createRestarts(api.kubernetes);
});

afterAll(async () => {
  await restarts?.end();
  await api?.stop();
});

/** Sends the account's requests to another replica. */
const at =
  (url: string): Client['call'] =>
  (method, path, body, headers) =>
    call(`${url}${path}`, method, body, { 'x-api-key': ada.key, ...headers });

describe('replicas', () => {
  test('show another’s writes within a second', async () => {
    const other = await api.replica();
    const there = at(other.url);
    const took: number[] = [];
    const shows = async <T>(what: () => Promise<T>, wanted: T) => {
      const since = performance.now();
      await expect.poll(what, { interval: 20 }).toBe(wanted);
      took.push(performance.now() - since);
    };
    for (let i = 0; i < 5; i++) {
      const { id } = await create({ name: `Replica ${i}` });
      await shows(async () => (await there<List>('GET', '/v1/streams?limit=1')).body.data[0]?.id, id);
      await ada.call('PATCH', `/v1/streams/${id}`, { name: `Changed ${i}` });
      await shows(async () => (await there('GET', `/v1/streams/${id}`)).body.name, `Changed ${i}`);
      await ada.call('DELETE', `/v1/streams/${id}`);
      await shows(async () => (await there('GET', `/v1/streams/${id}`)).status, 404);
    }
    // The machine may be busy during one of them; during half of them it is not.
    expect(took.sort((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(1_000);
    await other.stop();
  });

  /** Starts a replica with a way to Kubernetes that can break. */
  async function startBehindProxy() {
    const proxy = await startFaultyProxy(api.kubernetes);
    const replica = await api.replica({ kubeconfig: await writeKubeconfig(join(tempDir(), 'config'), proxy.url) });
    const stop = async () => {
      await replica.stop();
      await proxy.close();
    };
    return { proxy, there: at(replica.url), stop };
  }

  test('see each of their own writes while their watches are dead, and heal', async () => {
    const { proxy, there, stop } = await startBehindProxy();
    proxy.set('half-open');
    const target = { name: 'One', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456' };
    const items = [{ uploadObjectID: videoUploadObjectID }];
    const nouns: [string, unknown, unknown?][] = [
      ['/v1/streams', wish({ name: 'One' }), { name: 'Two' }],
      ['/v1/destinations', target, { name: 'Two' }],
      ['/v1/playlists', { name: 'One', kind: 'video', mode: 'shuffle', items }, { name: 'Two', version: 1 }],
      ['/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/b.mp4', name: 'One' }],
    ];
    for (const [path, body, change] of nouns) {
      const made = await there('POST', path, body);
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      const list = path.replace('/from-link', '');
      const one = `${list}/${made.body.id ?? made.body.objectID}`;
      const listed = async () =>
        (await there<List>('GET', `${list}?limit=100`)).body.data.map((each) => `${list}/${each.id ?? each.objectID}`);
      expect(await listed()).toContain(one);
      if (change) expect((await there('PATCH', one, change)).status).toBe(200);
      expect((await there('GET', one)).body.name).toBe(change ? 'Two' : 'One');
      expect((await there('DELETE', one)).status).toBe(204);
      expect((await there('GET', one)).status).toBe(404);
      expect(await listed()).not.toContain(one);
    }
    const elsewhere = await create({ name: 'Elsewhere' });
    proxy.set('none');
    const listed = async () => (await there<List>('GET', '/v1/streams?limit=100')).body.data.map(({ id }) => id);
    await expect.poll(listed).toContain(elsewhere.id);
    await stop();
  });

  test('return another’s new object by its id, before its event arrives', async () => {
    const { proxy, there, stop } = await startBehindProxy();
    proxy.set('half-open');
    const [one, two, three] = await Promise.all([create(), create(), create()]);
    expect((await there('GET', `/v1/streams/${one.id}`)).body).toEqual(
      (await ada.call('GET', `/v1/streams/${one.id}`)).body,
    );
    const query = { query: `{ stream(id: "${two.id}") { id } }` };
    expect((await there('POST', '/graphql', query)).body).toEqual({ data: { stream: { id: two.id } } });
    expect((await there('PATCH', `/v1/streams/${three.id}`, { name: 'Renamed there' })).status).toBe(200);

    const destination = { name: 'New', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456' };
    const { id: destinationID } = (await ada.call('POST', '/v1/destinations', destination)).body;
    const made = await there('POST', '/v1/streams', wish({ destinationID }));
    expect([made.status, made.body.destinationID]).toEqual([201, destinationID]);

    const gone = await create();
    await ada.call('DELETE', `/v1/streams/${gone.id}`);
    const others = (await call<Stream>(`${api.url}/v1/streams`, 'GET')).status;
    const bob = await api.client('bob');
    const asBob = await call(`${api.url}/v1/streams/${one.id}`, 'GET', undefined, { 'x-api-key': bob.key });
    expect([(await there('GET', `/v1/streams/${gone.id}`)).status, asBob.status, others]).toEqual([404, 404, 401]);
    await stop();
  });

  test('report the age of their data while Kubernetes is silent, and refuse writes in time', async () => {
    const { proxy, there, stop } = await startBehindProxy();
    const { id } = await create();
    await expect.poll(async () => (await there('GET', `/v1/streams/${id}`)).status).toBe(200);
    proxy.set('silent');
    const refused = await there('PATCH', `/v1/streams/${id}`, { name: 'Lost' });
    expect([refused.status, refused.body.code]).toEqual([502, 'upstream_unavailable']);
    const age = Number((await there('GET', `/v1/streams/${id}`)).headers.get('age'));
    expect(age).toBeGreaterThanOrEqual(7);
    proxy.set('none');
    const { name } = (await ada.call('PATCH', `/v1/streams/${id}`, { name: 'Found' })).body;
    await expect.poll(async () => (await there('GET', `/v1/streams/${id}`)).body.name).toBe(name);
    await expect.poll(async () => (await there('GET', `/v1/streams/${id}`)).headers.get('age')).toBeNull();
    await stop();
  });
});

test('with the API server of Kubernetes down reads go on and say how old they are, writes are refused, and all heals', async () => {
  const { id } = await create({ name: 'Still there' });
  const readAge = async (path: string) => Number((await ada.call('GET', path)).headers.get('age') ?? Number.NaN);
  const key = { 'idempotency-key': 'once-it-is-back' };
  const createStream = () => ada.call<Stream>('POST', '/v1/streams', wish({ name: 'After' }), key);
  await restarts.kill('kube-apiserver');
  try {
    await expect.poll(() => readAge(`/v1/streams/${id}`)).toBeGreaterThan(0);
    const list = await ada.call<List>('GET', '/v1/streams?limit=1');
    expect([list.status, list.body.data[0]?.id]).toEqual([200, id]);
    const query = await ada.call('POST', '/graphql', { query: `{ stream(id: "${id}") { name } }` });
    expect([query.body, Number(query.headers.get('age'))]).toEqual([
      { data: { stream: { name: 'Still there' } } },
      expect.toSatisfy((age: number) => age > 0),
    ]);
    await expect.poll(() => readAge('/v1/uploads')).toBeGreaterThan(2);
    // Data from elsewhere than Kubernetes is current.
    expect(await readAge('/v1/me')).toBeNaN();

    const writes: [string, string, unknown?][] = [
      ['PATCH', `/v1/streams/${id}`, { name: 'Lost' }],
      ['DELETE', `/v1/streams/${id}`],
      ['POST', '/v1/destinations', { name: 'Lost', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456' }],
      ['PATCH', `/v1/playlists/${videoList}`, { name: 'Lost', version: 1 }],
    ];
    for (const [method, path, body] of writes) {
      const { status, body: problem, headers } = await ada.call(method, path, body);
      expect([method, path, status, problem.code]).toEqual([method, path, 502, 'upstream_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await createStream()).status).toBe(502);
    expect((await ada.call('GET', `/v1/streams/${id}`)).body.name).toBe('Still there');
  } finally {
    await restarts.start('kube-apiserver');
  }
  await expect.poll(async () => (await createStream()).status, { timeout: 60_000, interval: 200 }).toBe(201);
  const { data } = (await ada.call<List>('GET', '/v1/streams?q=After')).body;
  expect(data.map((stream) => stream.id)).toEqual([(await createStream()).body.id]);
  await expect.poll(() => readAge(`/v1/streams/${id}`), { timeout: 30_000 }).toBeNaN();
}, 180_000);
