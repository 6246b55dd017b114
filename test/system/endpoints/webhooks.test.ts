/** Tests webhooks on real servers: events reach a receiver once it has agreed, signed, in order, and nothing that fails blocks the rest. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import type { Delivery, Endpoint, EndpointSecret, EndpointTest } from '../../../src/service/domain/endpoints/record.ts';
import { type AccountEventType, NO_DATA } from '../../../src/service/domain/events/record.ts';
import { tell } from '../../../src/service/domain/events/store.ts';
import { startWebhookSink, type WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let db: Db;
let ada: Client;
let sink: WebhookSink;
let made = 0;

beforeAll(async () => {
  api = await startTestApi({ allowPrivateLinks: true });
  db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
});
beforeEach(async () => {
  // An account of its own for each test: no event of another one arrives.
  ada = await api.client(`ada-${++made}`);
  sink = await startWebhookSink();
});
afterEach(() => sink.close());
afterAll(async () => {
  await db?.destroy();
  await api?.stop();
});

const create = async (more: object = {}, path = '/hook'): Promise<Endpoint> => {
  const input = { kind: 'webhook', url: `${sink.url}${path}`, ...more };
  const { status, body } = await ada.call<Endpoint>('POST', '/v1/endpoints', input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const get = async (id: string) => (await ada.call<Endpoint>('GET', `/v1/endpoints/${id}`)).body;
const getSecret = async (id: string) =>
  (await ada.call<EndpointSecret>('GET', `/v1/endpoints/${id}/secret`)).body.secret;
const listDeliveries = async (id: string, query = '') =>
  (await ada.call<{ data: Delivery[] }>('GET', `/v1/endpoints/${id}/deliveries?limit=100&${query}`)).body.data;

const DATA = { ...NO_DATA, name: 'Lofi' };
/** Records events in the outbox, each in a transaction of its own, as the collector does. */
async function happen(object: string, ...types: AccountEventType[]): Promise<void> {
  const subject = { accountId: ada.accountId, object: 'stream', objectId: object, uid: `uid-${object}` } as const;
  for (const type of types)
    await tell(db, subject, ({ seq }) => ({
      news: [
        { id: `evt_${ada.accountId.replaceAll(/\W/g, '')}_${object}_${seq + 1}`, type, at: new Date(), data: DATA },
      ],
      mark: String(seq + 1),
    }));
}
const listArrived = () => sink.received.map(({ body }) => `${body.objectID} ${body.seq}`);

describe('an endpoint', () => {
  test('gets events, signed, once its receiver has answered with the code', async () => {
    const endpoint = await create();
    expect(endpoint).toMatchObject({ kind: 'webhook', state: 'active', types: [] });
    const secret = await getSecret(endpoint.id);
    await happen('one', 'stream.live', 'stream.off_air');
    await expect.poll(listArrived).toEqual(['one 1', 'one 2']);
    const [first] = sink.received;
    expect(first).toMatchObject({
      method: 'POST',
      path: '/hook',
      body: { type: 'stream.live', data: { name: 'Lofi' } },
    });
    expect(first?.id).toBe(first?.body.id);
    for (const webhook of [...sink.verifications, ...sink.received]) sink.check(webhook, secret);
    await expect
      .poll(() => listDeliveries(endpoint.id))
      .toMatchObject([
        {
          type: 'stream.off_air',
          state: 'delivered',
          attempts: 1,
          lastAnswer: { status: 200, body: 'ok', code: null },
        },
        { type: 'stream.live', state: 'delivered', attempts: 1 },
      ]);
  });

  test('gets nothing before a person has confirmed the code, and what happened before is not owed', async () => {
    sink.confirms = false;
    const { id, state } = await create();
    expect(state).toBe('unverified');
    await happen('one', 'stream.live');
    const wrong = await ada.call('POST', `/v1/endpoints/${id}/verify`, { code: '00000000x' });
    expect([wrong.status, wrong.body.code]).toEqual([409, 'endpoint_code_wrong']);
    const refused = await ada.call('POST', `/v1/endpoints/${id}/test`);
    expect([refused.status, refused.body.code]).toEqual([409, 'endpoint_not_active']);
    const code = String(sink.verifications[0]?.body.data?.code);
    const { body } = await ada.call<Endpoint>('POST', `/v1/endpoints/${id}/verify`, {
      code: ` ${code.slice(0, 4)}-${code.slice(4)} `,
    });
    expect(body.state).toBe('active');
    await happen('one', 'stream.off_air');
    await expect.poll(listArrived).toEqual(['one 2']);
  });

  test('is not confirmed by a server that returns what it was sent, nor by guesses', async () => {
    sink.confirms = false;
    const { id } = await create();
    for (let n = 0; n < 7; n++) await ada.call('POST', `/v1/endpoints/${id}/verify`, { code: String(n).repeat(8) });
    const code = String(sink.verifications[0]?.body.data?.code);
    const { status, body } = await ada.call('POST', `/v1/endpoints/${id}/verify`, { code });
    expect([status, body.code, (await get(id)).state]).toEqual([409, 'endpoint_code_wrong', 'unverified']);
  });

  test('of private networks is refused where those are not allowed, and a port of a mail server always', async () => {
    const other = await api.replica({ allowPrivateLinks: false });
    const make = (url: string) =>
      fetch(`${other.url}/v1/endpoints`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ada.key },
        body: JSON.stringify({ kind: 'webhook', url }),
      }).then(async (response) => [response.status, ((await response.json()) as { code?: string }).code]);
    for (const url of [
      sink.url,
      'http://10.0.0.1/',
      'http://[::1]:8080/',
      'http://metadata.internal/',
      'http://169.254.169.254/',
    ])
      expect(await make(url), url).toEqual([422, 'endpoint_forbidden']);
    expect(await make('http://mail.example.com:25/')).toEqual([422, 'endpoint_forbidden']);
    expect(await make('ftp://example.com/')).toEqual([422, 'validation_failed']);
    expect((await ada.call<{ data: unknown[] }>('GET', '/v1/endpoints')).body.data).toEqual([]);
    await other.stop();
  });

  test('gets only the types and the objects that it names', async () => {
    await create({ types: ['stream.off_air'], objectIDs: ['one'] });
    await happen('one', 'stream.live', 'stream.off_air');
    await happen('two', 'stream.off_air');
    await happen('one', 'stream.off_air');
    await expect.poll(listArrived).toEqual(['one 2', 'one 3']);
  });

  test('gets a test when it is asked for, and its owner the answer', async () => {
    const { id } = await create();
    sink.answer = () => ({ status: 500, body: 'no database' });
    const { body } = await ada.call<EndpointTest>('POST', `/v1/endpoints/${id}/test`);
    expect(body).toMatchObject({ ok: false, answer: { status: 500, body: 'no database', code: 'rejected' } });
    expect(sink.received).toMatchObject([{ body: { type: 'endpoint.test' } }]);
  });

  test('signs with both secrets after a rotation', async () => {
    const { id } = await create();
    const before = await getSecret(id);
    const { body } = await ada.call<Endpoint>('POST', `/v1/endpoints/${id}/rotate-secret`);
    expect(Date.parse(body.previousSecretUntil ?? '')).toBeGreaterThan(Date.now());
    const after = await getSecret(id);
    expect(after).not.toBe(before);
    await happen('one', 'stream.live');
    await expect.poll(() => sink.received.length).toBe(1);
    for (const webhook of sink.received) for (const secret of [before, after]) sink.check(webhook, secret);
  });
});

describe('an event that is not accepted', () => {
  test('is sent again, with the same id, and nothing waits for it', async () => {
    const { id } = await create();
    sink.answer = ({ body }) => ({ status: body.seq === 1 ? 503 : 200 });
    await happen('one', 'stream.live', 'stream.off_air', 'stream.recovered');
    await expect.poll(listArrived).toEqual(['one 1', 'one 2', 'one 3']);
    await expect
      .poll(() => listDeliveries(id, 'state=waiting'))
      .toMatchObject([{ type: 'stream.live', attempts: 1, lastAnswer: { status: 503 } }]);
    sink.answer = () => ({ status: 200 });
    const [waiting] = await listDeliveries(id, 'state=waiting');
    await ada.call('POST', `/v1/endpoints/${id}/deliveries/${waiting?.id}/replay`);
    await expect.poll(listArrived).toEqual(['one 1', 'one 2', 'one 3', 'one 1']);
    expect(new Set(sink.received.filter(({ body }) => body.seq === 1).map(({ id }) => id)).size).toBe(1);
  });

  test('holds later ones back for two seconds at most, where the receiver hangs', async () => {
    await create();
    sink.answer = ({ body }) => (body.seq === 1 ? () => undefined : { status: 200 });
    await happen('one', 'stream.live', 'stream.off_air', 'stream.recovered');
    await expect.poll(listArrived).toEqual(['one 1', 'one 2', 'one 3']);
  });

  test('is given up where the receiver answers 410, which disables the endpoint; what it missed is sent when it is asked for', async () => {
    const { id } = await create();
    sink.answer = () => ({ status: 410 });
    await happen('one', 'stream.live');
    await expect.poll(() => get(id)).toMatchObject({ state: 'disabled', disabledCode: 'gone' });
    await happen('one', 'stream.off_air');
    sink.answer = () => ({ status: 200 });
    await ada.call('PATCH', `/v1/endpoints/${id}`, { enabled: true });
    sink.received.length = 0;
    const { body } = await ada.call('POST', `/v1/endpoints/${id}/recover`, {
      since: new Date(Date.now() - 60_000).toISOString(),
    });
    expect(body).toEqual({ count: 2 });
    await expect.poll(() => listArrived().sort()).toEqual(['one 1', 'one 2']);
  });

  test('by a redirect is not followed, and of a large answer only the beginning is kept', async () => {
    const { id } = await create();
    const other = await startWebhookSink();
    sink.answer = () => ({ status: 302, headers: { location: other.url }, body: 'x'.repeat(10_000_000) });
    await happen('one', 'stream.live');
    await expect
      .poll(() => listDeliveries(id))
      .toMatchObject([{ state: 'waiting', lastAnswer: { status: 302, code: 'redirected', body: 'x'.repeat(1000) } }]);
    expect(other.received).toEqual([]);
    await other.close();
  });
});

test('while the receiver is away nothing is lost, and a new event arrives at once although old ones wait', async () => {
  const { id } = await create();
  await sink.pause();
  for (let n = 0; n < 20; n++) await happen(`old-${n}`, ...Array.from({ length: 10 }, () => 'stream.live' as const));
  await expect
    .poll(() => listDeliveries(id, 'state=waiting').then((all) => all.filter(({ attempts }) => attempts > 0).length))
    .toBe(100);
  await sql`update loopstream.deliveries set next_at = now() + interval '1 hour' where endpoint_id = ${id}`.execute(db);
  await sink.resume();
  const since = Date.now();
  await happen('new', 'stream.off_air');
  await expect.poll(() => listArrived()[0]).toBe('new 1');
  expect((sink.received[0]?.at ?? 0) - since).toBeLessThan(2_000);
  await expect.poll(() => new Set(listArrived()).size, { timeout: 60_000 }).toBe(201);
});
