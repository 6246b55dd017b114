/**
 * Attacks through endpoints: our servers send nothing to those who have not agreed, whatever requests cross each other, an endpoint tells no
 * more than its owner's programs may see, and one account's receivers cost no other account a place.
 */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDb, createPool, type Db } from '../../src/service/db/pool.ts';
import type { Delivery, Endpoint } from '../../src/service/domain/endpoints/record.ts';
import { POSTS_PER_HOST_AND_MINUTE, POSTS_PER_MINUTE } from '../../src/service/domain/endpoints/service.ts';
import { type AccountEventType, type EventObject, NO_DATA } from '../../src/service/domain/events/record.ts';
import { tell } from '../../src/service/domain/events/store.ts';
import { startWebhookSink, type WebhookSink } from '../kit/fake/webhook-sink.ts';
import { makeEndpoint } from '../kit/make/endpoints.ts';
import { startTestSite, type TestSite } from '../kit/make/oauth.ts';
import { type Client, call } from '../kit/system/api.ts';

let site: TestSite;
let db: Db;
let mallory: Client;
/** A receiver that never agrees. */
let victim: WebhookSink;
let own: WebhookSink;
let made = 0;

beforeAll(async () => {
  site = await startTestSite({ allowPrivateLinks: true });
  db = createDb(createPool(site.databaseUrl, { searchPath: 'loopstream' }));
});
beforeEach(async () => {
  mallory = await site.client(`mallory-${++made}`);
  [victim, own] = await Promise.all([startWebhookSink(), startWebhookSink()]);
  victim.confirms = false;
});
afterEach(() => Promise.all([victim.close(), own.close()]));
afterAll(async () => {
  await db?.destroy();
  await site?.stop();
});

async function happen(account: Client, type: AccountEventType, object: EventObject = 'stream'): Promise<void> {
  const subject = { accountId: account.accountId, object, objectId: 'one', uid: `uid-${account.accountId}` } as const;
  await tell(db, subject, ({ seq }) => ({
    news: [
      {
        id: `evt_${account.accountId.replaceAll(/\W/g, '')}_${object}_${seq + 1}`,
        type,
        at: new Date(),
        data: { ...NO_DATA, name: 'one' },
      },
    ],
    mark: String(seq + 1),
  }));
}

const create = (url: string, more: object = {}) =>
  mallory.call<Endpoint>('POST', '/v1/endpoints', { kind: 'webhook', url, ...more });
const change = (id: string, body: object) => mallory.call<Endpoint>('PATCH', `/v1/endpoints/${id}`, body);
const getState = async (id: string) => (await mallory.call<Endpoint>('GET', `/v1/endpoints/${id}`)).body.state;
const listDeliveries = async (id: string) =>
  (await mallory.call<{ data: Delivery[] }>('GET', `/v1/endpoints/${id}/deliveries?limit=100`)).body.data;

/** Nothing that happens is queued for the victim: it got one code, and gets nothing more. */
async function expectNothingForVictim(id: string): Promise<void> {
  expect(await getState(id)).toBe('unverified');
  const before = (await listDeliveries(id)).length;
  await happen(mallory, 'stream.off_air');
  expect(await listDeliveries(id)).toHaveLength(before);
  expect(victim.verifications).toHaveLength(1);
  expect(victim.received).toEqual([]);
}

describe('a victim’s address', () => {
  test('is not confirmed by the late answer of the address before it', async () => {
    const held = Promise.withResolvers<{ response: ServerResponse; code: string }>();
    const slow = createServer(async (request, response) => {
      const { data } = JSON.parse((await request.toArray()).join('')) as { data: { code: string } };
      held.resolve({ response, code: data.code });
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const creating = create(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`);
    const { response, code } = await held.promise;
    const { body } = await mallory.call<{ data: Endpoint[] }>('GET', '/v1/endpoints');
    const id = String(body.data[0]?.id);
    await change(id, { url: victim.url });
    response.end(code);
    expect((await creating).body).toMatchObject({ id, state: 'unverified' });
    await expectNothingForVictim(id);
    slow.close();
  });

  test('is not confirmed by the code of the address before it', async () => {
    own.confirms = false;
    const { id } = (await create(own.url)).body;
    await change(id, { url: victim.url });
    const code = own.verifications[0]?.body.data?.code;
    const { status, body } = await mallory.call('POST', `/v1/endpoints/${id}/verify`, { code });
    expect([status, body.code]).toEqual([409, 'endpoint_code_wrong']);
    await expectNothingForVictim(id);
  });

  test('is not enabled after the address before it has answered 410', async () => {
    const { id } = (await create(own.url)).body;
    const held = Promise.withResolvers<ServerResponse>();
    own.answer = () => (response) => held.resolve(response);
    await happen(mallory, 'stream.live');
    const response = await held.promise;
    await change(id, { url: victim.url });
    response.writeHead(410).end();
    await expect.poll(() => listDeliveries(id)).toMatchObject([{ state: 'failed' }]);
    await change(id, { enabled: true });
    await expectNothingForVictim(id);
  });

  test('is not enabled by requests that cross the change of the address', async () => {
    for (let round = 0; round < 5; round++) {
      await sql`delete from loopstream.endpoints where account_id = ${mallory.accountId}`.execute(db);
      const { id } = (await create(own.url)).body;
      const crossing = Array.from({ length: 20 }, (_, n) => change(id, { enabled: n % 2 === 0, name: `n${n}` }));
      const moved = change(id, { url: victim.url });
      await Promise.all([...crossing, moved]);
      await change(id, { enabled: true });
      if ((await moved).status === 200) expect(await getState(id)).toBe('unverified');
    }
    expect(victim.received).toEqual([]);
  });

  test('is not confirmed by fifty guesses at once: five count', async () => {
    const { id } = (await create(victim.url)).body;
    const guess = (code: string) => mallory.call('POST', `/v1/endpoints/${id}/verify`, { code });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => guess(String(n).padStart(8, '0'))));
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['endpoint_code_wrong']));
    const { rows } = await sql<{ tries: number }>`select code_tries as tries from loopstream.endpoints
      where id = ${id}`.execute(db);
    expect(rows).toEqual([{ tries: 5 }]);
    expect((await guess(String(victim.verifications[0]?.body.data?.code))).status).toBe(409);
    await expectNothingForVictim(id);
  });

  test('gets a limited number of codes in a minute, however many accounts and ports ask', async () => {
    // A server with budgets of its own.
    const other = await site.replica();
    const accounts = Math.ceil(POSTS_PER_HOST_AND_MINUTE / POSTS_PER_MINUTE) + 2;
    const attackers = await Promise.all(Array.from({ length: accounts }, (_, n) => site.client(`flood-${n}`)));
    const since = performance.now();
    const answers = await Promise.all(
      attackers.flatMap(({ key }) =>
        Array.from({ length: POSTS_PER_MINUTE }, (_, n) =>
          call<{ code?: string }>(
            `${other.url}/v1/endpoints`,
            'POST',
            { kind: 'webhook', url: n % 2 ? victim.url : own.url },
            { 'x-api-key': key },
          ),
        ),
      ),
    );
    const minutes = (performance.now() - since) / 60_000;
    const sent = victim.verifications.length + own.verifications.length;
    expect(sent).toBeLessThanOrEqual(Math.ceil(POSTS_PER_HOST_AND_MINUTE * (1 + minutes)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length).toBe(answers.length - sent);
    for (const { status, body } of refused) expect([status, body.code]).toEqual([429, 'rate_limited']);
    await other.stop();
  });
});

describe('a program without the scope billing', () => {
  test('leads no events of billing elsewhere, whatever it changes and repeats', async () => {
    const ada = await site.person(`ada-${made}`);
    const token = await site.token(`ada-${made}`, 'service:read service:write service:destructive');
    const asProgram = (method: string, path: string, body?: unknown) =>
      call<Record<string, unknown>>(`${site.url}${path}`, method, body, { authorization: `Bearer ${token}` });
    const told = await startWebhookSink();
    const { body: endpoint } = await ada.call<Endpoint>('POST', '/v1/endpoints', { kind: 'webhook', url: told.url });
    await happen(ada, 'invoice.issued', 'invoice');
    await expect.poll(() => told.received.length).toBe(1);
    const path = `/v1/endpoints/${endpoint.id}`;
    // Also after types without money, the invoice could be sent again.
    for (const body of [{ types: ['stream.live'] }, { types: [] }, { types: ['stream.off_air'] }]) {
      expect((await asProgram('PATCH', path, body)).status).toBe(200);
      const moved = await asProgram('PATCH', path, { url: own.url });
      expect([moved.status, moved.body.code, moved.body.scope]).toEqual([403, 'insufficient_scope', 'billing']);
    }
    expect((await asProgram('GET', `${path}/deliveries`)).body.data).toEqual([]);
    const created = await asProgram('POST', '/v1/endpoints', { kind: 'webhook', url: own.url });
    expect(created.status).toBe(201);
    expect((await asProgram('PATCH', `/v1/endpoints/${created.body.id}`, { types: ['invoice.issued'] })).status).toBe(
      403,
    );
    await happen(ada, 'invoice.issued', 'invoice');
    const since = new Date(Date.now() - 60_000).toISOString();
    await asProgram('POST', `/v1/endpoints/${created.body.id}/recover`, { since });
    await happen(ada, 'stream.live');
    // An event of before would have arrived before this one.
    await expect.poll(() => own.received.map(({ body }) => body.type)).toEqual(['stream.live']);
    await told.close();
  });
});

test('an endpoint and a delivery of another account are not found in any operation', async () => {
  const ada = await site.client(`owner-${made}`);
  const { body: hers } = await ada.call<Endpoint>('POST', '/v1/endpoints', { kind: 'webhook', url: own.url });
  await happen(ada, 'stream.live');
  await expect.poll(() => own.received.length).toBe(1);
  const { body: list } = await ada.call<{ data: Delivery[] }>('GET', `/v1/endpoints/${hers.id}/deliveries`);
  const delivery = list.data[0]?.id;
  const mine = (await create(own.url)).body;
  const since = new Date(0).toISOString();
  for (const id of [hers.id, 'end-%00', '%00', 'end-x']) {
    const path = `/v1/endpoints/${id}`;
    const doors: [string, string, unknown?][] = [
      ['GET', path],
      ['PATCH', path, { name: 'mine' }],
      ['DELETE', path],
      ['POST', `${path}/verify`, {}],
      ['POST', `${path}/verify`, { code: '12345678' }],
      ['POST', `${path}/test`],
      ['GET', `${path}/secret`],
      ['POST', `${path}/rotate-secret`],
      ['POST', `${path}/recover`, { since }],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/deliveries/${delivery}/replay`],
    ];
    for (const [method, door, body] of doors) {
      const answer = await mallory.call(method, door, body);
      expect([404, id === hers.id ? 404 : 422], `${method} ${door}`).toContain(answer.status);
    }
  }
  for (const id of [delivery, '%00']) {
    const { status } = await mallory.call('POST', `/v1/endpoints/${mine.id}/deliveries/${id}/replay`);
    expect([404, id === delivery ? 404 : 422], id).toContain(status);
  }
  expect(own.received).toHaveLength(1);
});

test.each<[string, object]>([
  ['the address', { kind: 'webhook', url: 'http://127.0.0.1:9000/a\u0000b' }],
  [
    'the address of a template',
    { kind: 'template', url: 'http://127.0.0.1:9000/\u0000', template: { body: '{{text}}' } },
  ],
  ['the body of a template', { kind: 'template', url: 'http://127.0.0.1:9000/', template: { body: '{{text}}\u0000' } }],
  [
    'a header of a template',
    {
      kind: 'template',
      url: 'http://127.0.0.1:9000/',
      template: { body: '{{text}}', headers: [{ name: 'a', value: '\u0000' }] },
    },
  ],
  ['an object', { kind: 'webhook', url: 'http://127.0.0.1:9000/', objectIDs: ['str-\u0000'] }],
  ['the name', { kind: 'webhook', url: 'http://127.0.0.1:9000/', name: '\u0000' }],
])('the character U+0000 in %s is refused', async (_, body) => {
  const answer = await mallory.call('POST', '/v1/endpoints', body);
  expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
});

test('twenty receivers that hang hold a limited number of connections, and another account’s events arrive meanwhile', async () => {
  const open = new Map<string, number>();
  const hang = async (host: string): Promise<Server> => {
    const server = createServer((request) => {
      open.set(host, (open.get(host) ?? 0) + 1);
      request.once('close', () => open.set(host, (open.get(host) ?? 0) - 1));
    }).listen(0, host);
    await once(server, 'listening');
    return server;
  };
  const servers = await Promise.all(['127.0.0.2', '127.0.0.3', '127.0.0.4'].map(hang));
  const addresses = servers.map((server) => server.address() as AddressInfo);
  for (let n = 0; n < 20; n++) {
    const { address = '', port = 0 } = addresses[n % addresses.length] ?? {};
    const id = await makeEndpoint(db, mallory.accountId, `hang-${made}-${n}`);
    await sql`update loopstream.endpoints set state = 'active', target = ${`http://${address}:${port}/${n}`}
      where id = ${id}`.execute(db);
  }
  const ada = await site.client(`neighbour-${made}`);
  const receiver = await startWebhookSink();
  await ada.call('POST', '/v1/endpoints', { kind: 'webhook', url: receiver.url });
  for (let n = 0; n < 6; n++) await happen(mallory, 'stream.live');
  const count = () => [...open.values()].reduce((sum, each) => sum + each, 0);
  let most = 0;
  await expect
    .poll(
      () => {
        most = Math.max(most, count());
        return count();
      },
      { timeout: 25_000 },
    )
    .toBe(40);
  await happen(ada, 'stream.off_air');
  await expect.poll(() => receiver.received.length, { timeout: 2_000 }).toBe(1);
  expect(count(), 'all of the others hang still').toBe(40);
  expect(Math.max(...open.values())).toBeLessThanOrEqual(20);
  await sql`delete from loopstream.endpoints where account_id = ${mallory.accountId}`.execute(db);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await receiver.close();
});
