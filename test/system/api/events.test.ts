/** Tests events on real servers: each is recorded once, in order, for its account alone, and a reader who goes on misses none. */
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Transition } from '../../../src/core/resources/stream/transitions.ts';
import { type AccountEvent, createClient } from '../../../src/service/client/index.ts';
import { createDb, createPool, type Db } from '../../../src/service/db/pool.ts';
import { NO_DATA } from '../../../src/service/domain/events/record.ts';
import * as store from '../../../src/service/domain/events/store.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

let api: TestApi;
let db: Db;
let ada: Client;
let bob: Client;

beforeAll(async () => {
  api = await startTestApi();
  db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  [ada, bob] = await Promise.all([api.client('ada'), api.client('bob')]);
});
afterAll(async () => {
  await db?.destroy();
  await api?.stop();
});

const closing: AbortController[] = [];
afterEach(() => {
  for (const stop of closing.splice(0)) stop.abort();
});

const connect = (key: string, url = api.url) => createClient({ baseUrl: `${url}/v1`, apiKey: key });

async function makeStream(client: Client, name: string): Promise<string> {
  const target = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
  const { body: destination } = await client.call<{ id: string }>('POST', '/v1/destinations', target);
  const link = { type: 'VIDEO', url: 'https://media.example/film.mp4' };
  const { body: upload } = await client.call<{ objectID: string }>('POST', '/v1/uploads/from-link', link);
  const stream = { name, quality: 'q_720p', framerate: 'f_30', destinationID: destination.id };
  const body = { ...stream, videoUploadObjectID: upload.objectID };
  return (await client.call<{ id: string }>('POST', '/v1/streams', body)).body.id;
}

const transition = (number: number, kind: Transition['kind'], more: Partial<Transition> = {}): Transition => ({
  number,
  kind,
  at: new Date(Date.UTC(2027, 0, 31, 18, 0, number)).toISOString().replace('.000', ''),
  ...more,
});
const happen = (id: string, transitions: Transition[]) => api.observe(id, { transitions });
const list = async (client: Client, query = '') =>
  (await client.call<{ data: AccountEvent[] }>('GET', `/v1/events?limit=100&${query}`)).body.data;
/** Without the event of the client's own key. */
const LIVE = 'types=stream.live';
const listTypes = async (client: Client, id: string) =>
  (await list(client, `objectID=${id}`)).map(({ type, seq }) => `${seq} ${type}`);

describe('what happens to a stream', () => {
  test('is told in order with its cause and fix, however much happened between two looks', async () => {
    const id = await makeStream(ada, 'Lofi');
    const message = 'Destination "Home" does not accept the stream.';
    await happen(id, [
      transition(1, 'Live'),
      transition(2, 'Reconnecting'),
      transition(3, 'OffAir', { reason: 'DestinationReconnecting', message }),
      transition(4, 'Recovered', { offAirSeconds: 90 }),
    ]);
    await expect
      .poll(() => listTypes(ada, id))
      .toEqual(['1 stream.live', '2 stream.reconnecting', '3 stream.off_air', '4 stream.recovered']);
    const [, , offAir, recovered] = await list(ada, `objectID=${id}`);
    expect(offAir).toMatchObject({
      timestamp: '2027-01-31T18:00:03.000Z',
      object: 'stream',
      objectID: id,
      data: {
        name: 'Lofi',
        code: 'destination_reconnecting',
        message,
        fix: expect.stringContaining('test the destination'),
      },
    });
    expect(recovered?.data).toMatchObject({ code: null, fix: null, offAirSeconds: 90 });
    const { body: stream } = await ada.call('GET', `/v1/streams/${id}`);
    expect(recovered?.snapshot).toEqual(stream);
  });

  test('stands in an event as it was then, also after it was deleted', async () => {
    const id = await makeStream(ada, 'Gone');
    await happen(id, [transition(1, 'Live')]);
    await expect.poll(() => listTypes(ada, id)).toEqual(['1 stream.live']);
    await ada.call('PATCH', `/v1/streams/${id}`, { name: 'Other' });
    await ada.call('DELETE', `/v1/streams/${id}`);
    expect((await list(ada, `objectID=${id}`))[0]?.snapshot).toMatchObject({ id, name: 'Gone', quality: 'q_720p' });
  });

  test('has a number that is missing for each transition that was lost before it was told', async () => {
    const id = await makeStream(ada, 'Flapping');
    await happen(id, [transition(1, 'Live')]);
    await expect.poll(() => listTypes(ada, id)).toEqual(['1 stream.live']);
    await happen(id, [transition(8, 'Reconnecting'), transition(9, 'Recovered')]);
    await expect
      .poll(() => listTypes(ada, id))
      .toEqual(['1 stream.live', '8 stream.reconnecting', '9 stream.recovered']);
  });

  test('is told to its own account alone', async () => {
    const id = await makeStream(ada, 'Hers');
    await happen(id, [transition(1, 'Live')]);
    await expect.poll(() => listTypes(ada, id)).toHaveLength(1);
    expect(await list(bob, LIVE)).toEqual([]);
    const [first] = await list(ada);
    const { status, body } = await bob.call('GET', `/v1/events?after=${first?.id}`);
    expect([status, body.code]).toEqual([404, 'event_not_found']);
  });

  test('is told once by several servers', async () => {
    const other = await api.replica();
    const id = await makeStream(ada, 'Twice');
    await happen(id, [transition(1, 'Live'), transition(2, 'Stopped')]);
    await expect.poll(() => listTypes(ada, id)).toEqual(['1 stream.live', '2 stream.stopped']);
    await other.stop();
  });
});

test('a destination that refuses streams has events of its own, numbered for it, with the stream in each', async () => {
  const [first, second] = [await makeStream(ada, 'One'), await makeStream(ada, 'Two')];
  const { body } = await ada.call<{ destinationID: string }>('GET', `/v1/streams/${first}`);
  const destination = body.destinationID;
  const rejected = (number: number) =>
    transition(number, 'Rejected', { destination, reason: 'PublishRejected', message: 'The key may be wrong.' });
  await happen(first, [transition(1, 'Live'), rejected(2), transition(3, 'Stopped')]);
  await expect.poll(() => listTypes(ada, first)).toEqual(['1 stream.live', '2 stream.stopped']);
  await happen(second, [rejected(1)]);
  await expect.poll(() => listTypes(ada, destination)).toEqual(['1 destination.rejected', '2 destination.rejected']);
  const events = await list(ada, `objectID=${destination}`);
  expect(events.map(({ data }) => data.streamID)).toEqual([first, second]);
  const { body: shown } = await ada.call('GET', `/v1/destinations/${destination}`);
  expect(events[0]).toMatchObject({
    object: 'destination',
    data: { name: 'Home', code: 'publish_rejected', fix: expect.stringContaining('Copy the key') },
    snapshot: shown,
  });
});

describe('the order of a list', () => {
  test('is newest first where that is asked for, page after page, without a gap', async () => {
    const id = await makeStream(ada, 'Ordered');
    await happen(
      id,
      [1, 2, 3, 4, 5].map((n) => transition(n, n % 2 === 1 ? 'Live' : 'Stopped')),
    );
    await expect.poll(() => listTypes(ada, id)).toHaveLength(5);
    // orderBy is the name that sort had here.
    for (const order of [{ sort: '-recorded' }, { orderBy: '-recorded' }] as const) {
      const read: number[] = [];
      for await (const { seq } of connect(ada.key).events.list({ objectID: id, ...order, limit: 2 })) read.push(seq);
      expect(read, Object.keys(order)[0]).toEqual([5, 4, 3, 2, 1]);
    }
    const ask = (order: string) =>
      ada.call('POST', '/graphql', {
        query: `{ events(${order}, where: { objectID: { eq: "${id}" } }) { edges { node { seq } } } }`,
      });
    const edges = [5, 4, 3, 2, 1].map((seq) => ({ node: { seq } }));
    expect((await ask('sort: "-recorded"')).body).toEqual({ data: { events: { edges } } });
    const twice = await ask('sort: "-recorded", orderBy: { field: RECORDED }');
    expect(twice.body).toMatchObject({ errors: [{ extensions: { code: 'validation_failed' } }] });
    for (const [query, path] of [
      ['sort=-recorded&orderBy=recorded', '/orderBy'],
      ['sort=createdAt', '/sort'],
      ['state=live', '/state'],
    ]) {
      const refused = await ada.call('GET', `/v1/events?${query}`);
      expect(refused, query).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ path }] } });
    }
  });
});

describe('a window that is to begin', () => {
  test('is told to those who ask for it, and again where its start moves', async () => {
    const id = await makeStream(ada, 'Scheduled');
    const schedule = (minutes: number) => {
      const scheduleStartAt = new Date(Math.floor(Date.now() / 1000 + minutes * 60) * 1000).toISOString();
      return ada.call('POST', `/v1/streams/${id}/schedule`, { scheduleStartAt }).then(() => scheduleStartAt);
    };
    const listStarts = async () =>
      (await list(ada, `objectID=${id}&types=schedule.upcoming`)).map(({ data }) => data.startAt);
    const starts = [await schedule(5)];
    await expect.poll(listStarts).toEqual(starts);
    await schedule(600);
    starts.push(await schedule(10));
    await expect.poll(listStarts).toEqual(starts);
    expect(await list(ada, `objectID=${id}`)).toEqual([]);
  });
});

test('a new API key is told in the transaction that makes it, in whatever way', async () => {
  const { id } = await api.auth.createApiKey(bob.accountId, 'Playout');
  await expect.poll(() => listTypes(bob, id)).toEqual(['1 key.created']);
  const [event] = await list(bob, `objectID=${id}`);
  expect(event).toMatchObject({
    type: 'key.created',
    object: 'key',
    seq: 1,
    data: { name: 'Playout', code: null, credits: null },
    snapshot: { id, name: 'Playout', hint: expect.stringMatching(/^lsk_....$/), expiresAt: null, lastUsedAt: null },
  });
  expect(event?.snapshot?.createdAt).toBe(event?.timestamp);
});

test('an upload that fails and is then ready is told with cause and fix, and a published playlist with its version', async () => {
  const link = { type: 'VIDEO', url: 'https://media.example/gone.mp4', name: 'Gone' };
  const { body: upload } = await ada.call<{ objectID: string }>('POST', '/v1/uploads/from-link', link);
  const error = { code: 'link_unreachable', message: 'The server does not answer.' } as const;
  await api.observeUpload(upload.objectID, { phase: 'failed', error } as never);
  await expect.poll(() => listTypes(ada, upload.objectID)).toEqual(['1 upload.failed']);
  expect((await list(ada, `objectID=${upload.objectID}`))[0]?.data).toMatchObject({
    name: 'Gone',
    code: error.code,
    message: error.message,
    fix: expect.any(String),
  });
  await api.observeUpload(upload.objectID, { phase: 'ready', error: null } as never);
  await expect.poll(() => listTypes(ada, upload.objectID)).toEqual(['1 upload.failed', '2 upload.ready']);
});

describe('a reader', () => {
  test('takes up where it was, by page and by Last-Event-ID', async () => {
    const id = await makeStream(ada, 'Resumed');
    await happen(id, [transition(1, 'Live'), transition(2, 'Reconnecting'), transition(3, 'Recovered')]);
    await expect.poll(() => listTypes(ada, id)).toHaveLength(3);
    const [first, ...rest] = await list(ada, `objectID=${id}`);
    expect(await list(ada, `objectID=${id}&after=${first?.id}`)).toEqual(rest);
    const paged: AccountEvent[] = [];
    for await (const event of connect(ada.key).events.list({ objectID: id, limit: 1 })) paged.push(event);
    expect(paged).toEqual([first, ...rest]);
    const stop = new AbortController();
    closing.push(stop);
    const response = await fetch(`${api.url}/v1/events?objectID=${id}`, {
      headers: { 'x-api-key': ada.key, accept: 'text/event-stream', 'last-event-id': first?.id ?? '' },
      signal: stop.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('stream.recovered')) text += (await reader?.read())?.value ?? '';
    expect(text).not.toContain(`id: ${first?.id}\n`);
    expect(text).toContain(`id: ${rest[0]?.id}\nevent: stream.reconnecting\ndata: {`);
  });

  test('receives what happens at once, filtered by type, and again after its server was away', async () => {
    let other = await api.replica();
    const port = Number(new URL(other.url).port);
    const id = await makeStream(ada, 'Followed');
    const stop = new AbortController();
    closing.push(stop);
    const heard: string[] = [];
    const read = async () => {
      const query = { objectID: id, types: ['stream.live', 'stream.off_air', 'stream.recovered'] as const };
      for await (const { type } of connect(ada.key, other.url).watchEvents(query, { signal: stop.signal }))
        heard.push(type);
    };
    const over = read().catch((error: unknown) => error);
    await happen(id, [transition(1, 'Live'), transition(2, 'Reconnecting')]);
    await expect.poll(() => heard).toEqual(['stream.live']);
    await other.stop();
    await happen(id, [transition(1, 'Live'), transition(2, 'Reconnecting'), transition(3, 'OffAir')]);
    await expect.poll(() => listTypes(ada, id), { timeout: 30_000 }).toHaveLength(3);
    other = await api.replica({ port });
    await expect.poll(() => heard, { timeout: 30_000 }).toEqual(['stream.live', 'stream.off_air']);
    stop.abort();
    await over;
    await other.stop();
  });

  test('that begins now hears nothing of before', async () => {
    const id = await makeStream(ada, 'Now');
    await happen(id, [transition(1, 'Live')]);
    await expect.poll(() => listTypes(ada, id)).toHaveLength(1);
    expect(await list(ada, 'after=now')).toEqual([]);
  });

  test('misses no event whose transaction began earlier and ended later', async () => {
    const subject = { accountId: bob.accountId, object: 'stream', objectId: 'str-late', uid: 'late' } as const;
    const news = (id: string) => ({
      news: [
        {
          id,
          type: 'stream.live' as const,
          at: new Date(),
          data: { ...NO_DATA, name: '' },
        },
      ],
      mark: id,
    });
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const early = db.transaction().execute(async (trx) => {
      await store.tell(trx, subject, () => news('evt_early'));
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await store.tell(db, { ...subject, objectId: 'str-soon', uid: 'soon' }, () => news('evt_soon'));
    expect((await list(bob, LIVE)).map(({ id }) => id)).toEqual([]);
    held.resolve();
    await early;
    await expect.poll(async () => (await list(bob, LIVE)).map(({ id }) => id)).toEqual(['evt_early', 'evt_soon']);
  });
});

test('events of a restored database stand before new ones, and a cursor of before still works', async () => {
  const carol = await api.client('carol');
  const id = await makeStream(carol, 'Restored');
  await happen(id, [transition(1, 'Live'), transition(2, 'Reconnecting')]);
  await expect.poll(() => listTypes(carol, id)).toHaveLength(2);
  const [, last] = await list(carol, `objectID=${id}`);
  // As in a cluster of Postgres whose transactions begin anew.
  await sql`update loopstream.events set xid = '900000000'::xid8 where account_id = ${carol.accountId}`.execute(db);
  await store.rebaseEvents(db);
  await happen(id, [transition(1, 'Live'), transition(2, 'Reconnecting'), transition(3, 'Recovered')]);
  await expect.poll(() => listTypes(carol, id)).toHaveLength(3);
  expect((await list(carol, `objectID=${id}&after=${last?.id}`)).map(({ seq }) => seq)).toEqual([3]);
});

test('a parameter that makes no sense is refused with its name', async () => {
  const { status, body } = await ada.call('GET', '/v1/events?types=stream.on_fire');
  expect([status, body.code]).toEqual([422, 'validation_failed']);
  expect(JSON.stringify(body)).toContain('/types');
});
